"""`strict` against a reference that is written from the published facts alone, on random tables."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from skillopt.domain.scores import Metric, MetricName, Score, Scoreboard, Scored
from skillopt.domain.seeds import Dice, dice
from skillopt.domain.verdicts import Accept, Inconclusive, Reject, strict

Row = tuple[float, float] | None
TABLES = 10_000


def reference(candidate: Sequence[Row], current: Sequence[Row], best: Sequence[Row], metric: str, weight: float) -> str:
    """Strictly greater than the current score accepts, strictly greater than the best too is the new best; ties reject.

    A task counts in a comparison if it has a score on both sides.
    """

    def value(rows: Sequence[tuple[float, float]]) -> float:
        hard = sum(row[0] for row in rows) / len(rows)
        soft = sum(row[1] for row in rows) / len(rows)
        return {"hard": hard, "soft": soft, "mixed": (1 - weight) * hard + weight * soft}[metric]

    def greater(ours: Sequence[Row], theirs: Sequence[Row]) -> bool | None:
        both = [(one, other) for one, other in zip(ours, theirs, strict=True) if one is not None and other is not None]
        return value([one for one, _ in both]) > value([other for _, other in both]) if both else None

    beats, record = greater(candidate, current), greater(candidate, best)
    if beats is None or record is None:
        return "inconclusive"
    if not beats:
        return "reject"
    return "accept_new_best" if record else "accept"


def table(draw: Dice) -> list[list[Row]]:
    """Draw marks that add up without rounding, many of them equal, some missing; now and then whole columns repeat."""
    size = draw.randrange(1, 9)

    def column() -> list[Row]:
        missing = draw.choice((0.0, 0.0, 0.2, 0.6))
        return [
            None if draw.random() < missing else (float(draw.randrange(2)), draw.randrange(5) / 4) for _ in range(size)
        ]

    current = column()
    candidate = draw.sample(current, size) if draw.random() < 0.25 else column()
    best = list(current) if draw.random() < 0.3 else column()
    return [candidate, current, best]


def board(rows: Sequence[Row]) -> Scoreboard:
    return Scoreboard(
        tuple(
            Scored(task_id=f"t{place}", cause="down")
            if row is None
            else Scored(task_id=f"t{place}", score=Score(hard=row[0], soft=row[1]))
            for place, row in enumerate(rows)
        )
    )


def test_strict_is_the_published_rule() -> None:
    ties = missing = mixed = 0
    for seed in range(TABLES):
        draw = dice("table", seed)
        candidate, current, best = table(draw)
        name = draw.choice(("hard", "soft", "mixed"))
        weight = draw.choice((0.25, 0.5, 1.0))
        verdict = strict(
            board(candidate), board(current), board(best), Metric(name=MetricName.parse(name), weight=weight)
        )
        match verdict:
            case Accept(new_best=True):
                said = "accept_new_best"
            case Accept():
                said = "accept"
            case Reject():
                said = "reject"
            case Inconclusive():
                said = "inconclusive"
        expected = reference(candidate, current, best, name, weight)
        assert said == expected, f"seed {seed}: {candidate} against {current}, best {best}, {name} {weight}"
        ties += verdict.candidate is not None and verdict.candidate == verdict.incumbent
        missing += None in (*candidate, *current, *best)
        mixed += name == "mixed"
    assert min(ties, missing, mixed) >= 0.1 * TABLES, (ties, missing, mixed)


@pytest.mark.parametrize("metric", ["hard", "soft", "mixed"])
def test_a_tie_is_a_reject_in_every_metric(metric: str) -> None:
    same = board([(1.0, 0.5), (0.0, 0.25)])
    assert isinstance(strict(same, same, same, Metric(name=MetricName.parse(metric))), Reject)
