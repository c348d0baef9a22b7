from __future__ import annotations

import pytest

from skillopt.domain.errors import UsageError
from skillopt.kernel.plugins.members import Members, members_of
from skillopt.testing.environments.office import Office


class Plain:
    """What every environment has does not make it bring anything."""

    version = "1"


def test_an_environment_that_brings_nothing_has_no_members() -> None:
    assert members_of(Plain()) == Members()


def test_one_that_brings_everything_has_all() -> None:
    office = Office(1)
    assert members_of(office) == Members(prompts=office, draws=office, feedback=office, reflects=office)


@pytest.mark.parametrize(
    ("has", "wants"),
    [
        ("draw", "train_size"),
        ("train_size", "draw"),
        ("feedback", "feedback_turns"),
        ("feedback_turns", "feedback"),
        ("errand", "grade_work"),
        ("grade_work", "errand"),
    ],
)
def test_half_of_a_contract_names_the_other_half(has: str, wants: str) -> None:
    half = type("Half", (), {has: 3})
    with pytest.raises(UsageError, match=f"Half has {has} and no {wants}"):
        members_of(half())


@pytest.mark.parametrize("count", [0, -1, 2.0, True, "2", None])
@pytest.mark.parametrize(("call", "counted"), [("draw", "train_size"), ("feedback", "feedback_turns")])
def test_a_count_is_a_whole_number(call: str, counted: str, count: object) -> None:
    odd = type("Odd", (), {call: len, counted: count})
    with pytest.raises(UsageError, match=f"Odd.{counted} is "):
        members_of(odd())


def test_one_that_sends_agents_is_told_by_both_its_members() -> None:
    sends = type("Sends", (), {"errand": len, "grade_work": len})()
    assert members_of(sends) == Members(errands=sends)
