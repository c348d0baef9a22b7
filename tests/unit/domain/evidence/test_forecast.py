from __future__ import annotations

from skillopt.domain.evidence.forecast import SIZES, tasks_for
from skillopt.domain.evidence.terms import Terms

FORTY = [3] * 16 + [0] * 12 + [1] * 6 + [2] * 6


def test_a_larger_lift_takes_fewer_tasks() -> None:
    small, large = tasks_for(0.1, FORTY, Terms(order=())), tasks_for(0.4, FORTY, Terms(order=()))
    assert small is not None
    assert large is not None
    assert large < small
    assert {small, large} <= set(SIZES)


def test_where_nothing_can_be_won_no_number_of_tasks_helps() -> None:
    assert tasks_for(0.1, [3] * 20, Terms(order=())) is None
