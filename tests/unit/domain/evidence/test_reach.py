from __future__ import annotations

import pytest

from skillopt.domain.evidence.reach import smallest_p, tasks_needed, within_reach


@pytest.mark.parametrize(("trials", "needed"), [(1, 6), (2, 2), (3, 2)])
def test_how_many_tasks_a_verdict_takes(trials: int, needed: int) -> None:
    found = tasks_needed(trials, 0.02)
    assert smallest_p(found, trials) <= 0.02 < smallest_p(found - 1, trials)
    assert found <= needed


def test_no_task_shows_nothing() -> None:
    assert smallest_p(0, 3) == 1.0
    assert not within_reach(1, 3, 0.05)
    assert within_reach(2, 3, 0.05)
    assert not within_reach(2, 3, 0.05 / 30)
