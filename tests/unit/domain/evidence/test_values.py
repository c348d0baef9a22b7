from __future__ import annotations

import itertools

import pytest

from skillopt.domain.evidence.convolution import p_value
from skillopt.domain.evidence.terms import Terms
from skillopt.domain.evidence.values import piece_of, values
from skillopt.domain.seeds import Dice, dice
from tests.unit.domain.evidence.flow import Answer, followed


def test_any_of_the_marks_may_be_the_candidate_s() -> None:
    piece = piece_of((0.0, 0.2, 0.4), (1.0,))
    assert sum(side.weight for side in piece.sides) == 4
    assert p_value([piece]) == 0.25
    assert p_value([piece_of((0.5, 0.5, 0.5), (0.5,))]) == 1.0


def test_the_null_is_rejected_no_more_often_than_stated() -> None:
    """Two tasks whose marks are given: over all ways to deal them, p ≤ x happens for a share of at most x."""
    for seed in range(20):
        draw = dice("marks", seed)
        marks = [[draw.choice((0.0, 0.3, 0.5, 1.0)) for _ in range(4)] for _ in range(2)]
        dealt = itertools.product(*(itertools.permutations(each) for each in marks))
        found = [p_value([piece_of(one[:3], one[3:]) for one in both]) for both in dealt]
        for p in found:
            assert sum(other <= p for other in found) / len(found) <= p + 1e-9, f"seed {seed}"


def mark(level: float, draw: Dice) -> float:
    return round(min(1.0, max(0.0, level + draw.uniform(-0.2, 0.2))), 1)


def marking(levels: list[float], draw: Dice) -> Answer:
    return lambda place, wave: mark(levels[place], draw)


def rate(lift: float, gates: int = 200, size: int = 40) -> float:
    accepted = 0
    for seed in range(gates):
        draw = dice("values", seed)
        levels = [draw.random() * 0.6 for _ in range(size)]
        known = [(mark(level, draw), mark(level, draw), mark(level, draw)) for level in levels]
        course = values(Terms(order=tuple(range(size))), known)
        finding, _ = followed(course, marking([level + lift for level in levels], draw))
        accepted += finding.kind == "accept"
    return accepted / gates


def test_part_marks_that_rise_are_seen_and_those_that_do_not_are_rarely_taken_for_better() -> None:
    assert rate(0.0) <= 0.05
    assert rate(0.15) >= 0.9


@pytest.mark.parametrize("lift", [-0.3])
def test_what_is_worse_is_given_up_early(lift: float) -> None:
    known = [(0.5, 0.6, 0.4)] * 40
    finding, waves = followed(values(Terms(order=tuple(range(40))), known), lambda place, wave: 0.5 + lift)
    assert finding.kind == "reject"
    assert len(waves) == 1


def test_a_failed_trial_takes_its_task_out() -> None:
    known = [(0.5, 0.6, 0.4)] * 40
    course = values(Terms(order=tuple(range(40))), known)
    finding, _ = followed(course, lambda place, wave: None if place < 30 else 1.0)
    assert finding.effect is not None
    assert finding.effect.tasks == 10
