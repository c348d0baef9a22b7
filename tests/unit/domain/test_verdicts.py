from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillopt.domain.scores import Metric, MetricName, Score, Scoreboard, Scored
from skillopt.domain.verdicts import Accept, Inconclusive, Reject, Verdict, confirmed, force, strict

HARD = Metric(name=MetricName.HARD)
Cell = tuple[float, float] | None
Table = list[tuple[float, float]]


def board(*cells: Cell | float) -> Scoreboard:
    return Scoreboard(tuple(scored(str(place), cell) for place, cell in enumerate(cells)))


def scored(task: str, cell: Cell | float) -> Scored:
    if cell is None:
        return Scored(task_id=task, cause="the provider was down")
    hard, soft = cell if isinstance(cell, tuple) else (cell, cell)
    return Scored(task_id=task, score=Score(hard=hard, soft=soft))


@pytest.mark.parametrize(
    ("candidate", "current", "best", "kind", "new_best"),
    [
        (1.0, 0.5, 0.5, Accept, True),
        (0.75, 0.5, 1.0, Accept, False),
        (0.75, 0.5, 0.75, Accept, False),
        (0.5, 0.5, 0.5, Reject, False),
        (0.25, 0.5, 0.0, Reject, False),
        (0.0, 0.0, 0.0, Reject, False),
        (0.25, 0.0, 0.0, Accept, True),
    ],
)
def test_strictly_better_both_times(candidate: float, current: float, best: float, kind: type, new_best: bool) -> None:
    verdict = strict(board(candidate), board(current), board(best), HARD, calls=1)
    assert type(verdict) is kind
    assert (verdict.candidate, verdict.incumbent, verdict.best) == (candidate, current, best)
    assert (verdict.n, verdict.calls) == (1, 1)
    assert getattr(verdict, "new_best", False) is new_best


@pytest.mark.parametrize(
    ("candidate", "current", "best", "side"),
    [
        (board(None), board(1.0), board(1.0), "candidate"),
        (board(1.0), board(None), board(1.0), "incumbent"),
        (board(1.0), board(1.0), board(None), "best skill"),
    ],
)
def test_nothing_measured_is_inconclusive_with_the_cause(
    candidate: Scoreboard, current: Scoreboard, best: Scoreboard, side: str
) -> None:
    verdict = strict(candidate, current, best, HARD)
    assert isinstance(verdict, Inconclusive)
    assert verdict.reason == f"nothing was measured for the {side}: the provider was down"


def test_no_task_in_common_is_inconclusive() -> None:
    verdict = strict(board(1.0, None), board(None, 0.0), board(1.0, 1.0), HARD)
    assert isinstance(verdict, Inconclusive)
    assert verdict.reason == "no task was measured on both sides"


def test_an_empty_board_is_inconclusive() -> None:
    assert "no task was tried" in strict(board(), board(1.0), board(1.0), HARD).reason


def test_a_failure_of_the_candidate_is_no_point_against_it() -> None:
    current = board(1.0, 0.0, 0.0)
    assert isinstance(strict(board(None, 1.0, 0.0), current, current, HARD), Accept)


def test_a_failure_on_a_hard_task_is_no_point_for_it() -> None:
    current = board(1.0, 0.0)
    verdict = strict(board(1.0, None), current, current, HARD)
    assert isinstance(verdict, Reject)
    assert verdict.n == 1


def test_force_accepts_what_is_worse_and_keeps_the_best() -> None:
    verdict = force(board(0.0), board(1.0), board(1.0), HARD, calls=3)
    assert (verdict.candidate, verdict.incumbent, verdict.new_best, verdict.n, verdict.calls) == (0.0, 1.0, False, 1, 3)


def test_force_makes_a_better_candidate_the_best() -> None:
    assert force(board(1.0), board(0.0), board(0.5), HARD).new_best


def test_force_invents_no_score() -> None:
    verdict = force(board(None), board(1.0), board(1.0), HARD)
    assert (verdict.candidate, verdict.new_best, verdict.n) == (None, False, 0)
    assert not force(board(1.0), board(1.0), board(None), HARD).new_best


@pytest.mark.parametrize(
    ("new", "old", "neither", "kept"),
    [(0, 0, 9, True), (1, 0, 0, True), (5, 4, 0, True), (4, 4, 0, False), (4, 5, 9, False), (0, 1, 9, False)],
)
def test_side_by_side_a_tie_keeps_the_old_and_no_preference_leaves_it_to_the_scores(
    new: int, old: int, neither: int, *, kept: bool
) -> None:
    accept = Accept(reason="0.6 beats 0.5", candidate=0.6, incumbent=0.5, best=0.5, n=10, calls=12, new_best=True)
    verdict = confirmed(accept, new=new, old=old, neither=neither)
    assert isinstance(verdict, Accept if kept else Reject)
    assert not kept or msgspec.structs.replace(verdict, reason="0.6 beats 0.5") == accept
    assert (verdict.candidate, verdict.incumbent, verdict.best, verdict.n, verdict.calls) == (0.6, 0.5, 0.5, 10, 12)
    assert f"preferred on {new} tasks, the old on {old}, neither on {neither}" in verdict.reason


@pytest.mark.parametrize("verdict", [Accept(reason="r", new_best=True), Reject(reason="r"), Inconclusive(reason="r")])
def test_verdicts_read_back_as_they_were_written(verdict: Verdict) -> None:
    assert msgspec.json.decode(msgspec.json.encode(verdict), type=Accept | Reject | Inconclusive) == verdict


quarters = st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0])
columns = st.lists(st.tuples(quarters, quarters), min_size=1, max_size=12)


@given(st.tuples(columns, columns, columns), st.sampled_from(["hard", "soft", "mixed"]), quarters)
def test_strict_is_the_published_arithmetic(tables: tuple[Table, Table, Table], name: str, weight: float) -> None:
    n = min(map(len, tables))

    def score(table: Table) -> float:
        hard, soft = (sum(column) / n for column in zip(*table[:n], strict=True))
        values: dict[str, float] = {"hard": hard, "soft": soft, "mixed": (1 - weight) * hard + weight * soft}
        return values[name]

    candidate, current, best = map(score, tables)
    ours, theirs, record = (board(*table[:n]) for table in tables)
    verdict = strict(ours, theirs, record, Metric(name=MetricName.parse(name), weight=weight))
    if candidate > current:
        assert isinstance(verdict, Accept)
        assert verdict.new_best is (candidate > best)
    else:
        assert isinstance(verdict, Reject)
