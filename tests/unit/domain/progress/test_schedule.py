from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillopt.domain.errors import UsageError
from skillopt.domain.progress.schedule import BudgetSchedule, ScheduleName


def budgets(name: str, most: int, least: int, total: int) -> list[int | None]:
    schedule = BudgetSchedule(name=ScheduleName.parse(name), edit_budget=most, min_edit_budget=least)
    return [schedule.at(step, total) for step in range(1, total + 1)]


def test_published_table_cosine() -> None:
    assert budgets("cosine", 4, 2, 40) == [4] * 13 + [3] * 13 + [2] * 14


def test_published_table_linear() -> None:
    assert budgets("linear", 4, 2, 40) == [4] * 10 + [3] * 19 + [2] * 11


def test_the_first_step_has_already_moved() -> None:
    assert budgets("cosine", 16, 2, 8)[0] == 15
    assert budgets("linear", 16, 2, 8)[0] == 14


def test_halves_round_to_even() -> None:
    assert budgets("linear", 4, 2, 4) == [4, 3, 2, 2]


@pytest.mark.parametrize(("name", "expected"), [("constant", {4: 40}), ("unlimited", {None: 40})])
def test_schedules_that_do_not_move(name: str, expected: dict[int | None, int]) -> None:
    assert Counter(budgets(name, 4, 2, 40)) == expected


@pytest.mark.parametrize("name", ["constant", "linear", "cosine"])
@pytest.mark.parametrize("total", [0, 1])
def test_a_single_step_has_the_whole_budget(name: str, total: int) -> None:
    schedule = BudgetSchedule(name=ScheduleName.parse(name), edit_budget=4, min_edit_budget=2)
    assert schedule.at(1, total) == 4


@pytest.mark.parametrize("name", ["linear", "cosine"])
def test_steps_past_the_end_stay_at_the_end(name: str) -> None:
    schedule = BudgetSchedule(name=ScheduleName.parse(name), edit_budget=9, min_edit_budget=2)
    assert schedule.at(99, 10) == schedule.at(10, 10) == 2


@pytest.mark.parametrize("name", ["constant", "linear", "cosine"])
@pytest.mark.parametrize("least", [0, 2])
def test_a_budget_of_zero_is_zero(name: str, least: int) -> None:
    assert set(budgets(name, 0, least, 10)) == {0}


@pytest.mark.parametrize("name", ["linear", "cosine"])
def test_a_falling_schedule_cannot_rise(name: str) -> None:
    with pytest.raises(UsageError, match="min_edit_budget 5 is larger than edit_budget 4"):
        BudgetSchedule(name=ScheduleName.parse(name), edit_budget=4, min_edit_budget=5)


def test_the_minimum_does_not_matter_to_a_constant_schedule() -> None:
    assert budgets("constant", 1, 2, 3) == [1, 1, 1]


@pytest.mark.parametrize(("most", "least"), [(-1, 0), (4, -1)])
def test_negative_budgets_are_refused(most: int, least: int) -> None:
    with pytest.raises(UsageError, match="cannot be negative"):
        BudgetSchedule(edit_budget=most, min_edit_budget=least)


def test_an_unknown_schedule_names_the_nearest() -> None:
    with pytest.raises(UsageError, match=r"Did you mean 'cosine'.*Valid: constant, cosine, linear, unlimited\."):
        ScheduleName.parse("cosin")


@given(st.sampled_from(["linear", "cosine"]), st.integers(1, 50), st.integers(0, 50), st.integers(1, 200))
def test_falling_budgets_never_rise_and_stay_in_range(name: str, least: int, more: int, total: int) -> None:
    values = [value for value in budgets(name, least + more, least, total) if value is not None]
    assert values == sorted(values, reverse=True)
    assert all(least <= value <= least + more for value in values)
    assert total == 1 or values[-1] == least
