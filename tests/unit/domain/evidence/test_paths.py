"""The null by enumeration: given the totals, how the known trials fell owes nothing to the task's chance."""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from collections.abc import Iterator

import pytest

from skillopt.domain.evidence.convolution import p_value
from skillopt.domain.evidence.paths import Pattern, goes_on, piece_of
from skillopt.domain.seeds import dice

TRIALS = (1, 2, 3)
OFFERS = (1, 2, 3, 4)


def followed(trials: int, known: int, answers: tuple[int, ...]) -> Pattern:
    """Let a task have as many of these answers as the rule allows."""
    pattern = Pattern(trials, known, offers=len(answers))
    for answer in answers:
        if not goes_on(pattern):
            break
        pattern = pattern._replace(tries=pattern.tries + 1, wins=pattern.wins + answer)
    return pattern


def chances(trials: int, offers: int, before: float, after: float) -> Iterator[tuple[Pattern, float]]:
    """Yield every pattern with its chance, by going through all answers one by one."""
    for known in range(trials + 1):
        of_known = math.comb(trials, known) * before**known * (1 - before) ** (trials - known)
        for answers in itertools.product((0, 1), repeat=offers):
            right = sum(answers)
            yield followed(trials, known, answers), of_known * after**right * (1 - after) ** (offers - right)


@pytest.mark.parametrize("trials", TRIALS)
@pytest.mark.parametrize("offers", OFFERS)
def test_given_the_totals_the_weights_are_the_chances_whatever_the_task_s_chance_is(trials: int, offers: int) -> None:
    for chance in (0.03, 0.3, 0.5, 0.81):
        found: dict[tuple[int, int], dict[int, float]] = defaultdict(lambda: defaultdict(float))
        patterns: dict[tuple[int, int, int], Pattern] = {}
        for pattern, weight in chances(trials, offers, chance, chance):
            total = (pattern.tries, pattern.known + pattern.wins)
            found[total][pattern.known] += weight
            patterns[*total, pattern.known] = pattern
        for total, by_known in found.items():
            pieces = {known: piece_of(patterns[*total, known]) for known in by_known}
            (sides,) = {piece.sides for piece in pieces.values()}
            ways = sum(side.weight for side in sides)
            assert len(sides) == len(by_known)
            for side, known in zip(sides, sorted(by_known), strict=True):
                assert side.weight / ways == pytest.approx(by_known[known] / sum(by_known.values()))
                assert pieces[known].observed == side.score


@pytest.mark.parametrize("trials", TRIALS)
@pytest.mark.parametrize("offers", OFFERS)
def test_a_better_answer_never_lowers_the_score(trials: int, offers: int) -> None:
    for known in range(trials + 1):
        for worse, better in itertools.product(itertools.product((0, 1), repeat=offers), repeat=2):
            if all(low <= high for low, high in zip(worse, better, strict=True)):
                weak, strong = (piece_of(followed(trials, known, answers)) for answers in (worse, better))
                assert min(side.score for side in (*weak.sides, *strong.sides)) == 0
                assert weak.observed <= strong.observed, (known, worse, better)


def test_the_null_is_rejected_no_more_often_than_stated() -> None:
    """Three tasks, every outcome: p ≤ x has a chance of at most x where chances are equal, and where some are worse."""
    cache: dict[tuple[Pattern, ...], float] = {}
    grid = [(before, after) for before in (0.05, 0.3, 0.5, 0.8, 0.95) for after in (0.0, 0.05, 0.3, 0.5, 0.8, 0.95)]
    nulls = [(before, after) for before, after in grid if after <= before]
    for seed in range(60):
        draw = dice("nulls", seed)
        trials, offers = draw.choice(((2, 2), (2, 4), (3, 1), (3, 2), (3, 3)))
        three = [by_pattern(trials, offers, *draw.choice(nulls)) for _ in range(3)]
        found: dict[float, float] = defaultdict(float)
        for outcome in itertools.product(*(each.items() for each in three)):
            patterns = tuple(sorted(pattern for pattern, _ in outcome))
            if patterns not in cache:
                cache[patterns] = p_value(piece_of(pattern) for pattern in patterns if pattern.tries)
            found[cache[patterns]] += math.prod(chance for _, chance in outcome)
        so_far = 0.0
        for p in sorted(found):
            so_far += found[p]
            assert so_far <= p + 1e-9, f"seed {seed}: p ≤ {p}"
        assert so_far == pytest.approx(1.0)


def by_pattern(trials: int, offers: int, before: float, after: float) -> dict[Pattern, float]:
    found: dict[Pattern, float] = defaultdict(float)
    for pattern, chance in chances(trials, offers, before, after):
        found[pattern] += chance
    return found


def test_solved_tasks_are_left_alone_unless_one_trial_is_all_there_is() -> None:
    assert not goes_on(Pattern(3, 3))
    assert goes_on(Pattern(3, 2))
    assert goes_on(Pattern(1, 1))


def test_a_task_that_cannot_have_come_about_is_refused() -> None:
    with pytest.raises(ValueError, match="No path"):
        piece_of(Pattern(3, 3, 2, 1, 2))
