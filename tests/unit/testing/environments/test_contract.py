from __future__ import annotations

import pytest

from skillopt.domain.tasks import Task
from skillopt.kernel.ports import Environment
from skillopt.testing.chat_contract import broken_promises
from skillopt.testing.environments.contract import EnvironmentContract
from skillopt.testing.environments.office import Office


class HalfACoach(Office):
    feedback_turns = 1

    def __getattribute__(self, name: str) -> object:
        if name == "feedback":
            raise AttributeError(name)
        return super().__getattribute__(name)


class Suite(EnvironmentContract):
    def __init__(self, environment: type[Office], right: str | None = None) -> None:
        self._environment = environment
        self._right = right

    def make(self) -> Environment:
        return self._environment(1)

    def right(self, task: Task) -> str | None:
        return self._right


def test_without_a_right_answer_the_rest_is_tested() -> None:
    assert broken_promises(Suite(Office)) == ()


def test_a_right_answer_that_is_not_right_is_noticed() -> None:
    assert broken_promises(Suite(Office, "?")) == ("test_a_right_answer_is_right",)


def test_half_of_a_member_is_noticed() -> None:
    assert "test_feedback_is_a_pure_function" in broken_promises(Suite(HalfACoach))


def test_a_suite_without_an_environment_cannot_run() -> None:
    with pytest.raises(NotImplementedError):
        EnvironmentContract().test_splits_are_clean()
