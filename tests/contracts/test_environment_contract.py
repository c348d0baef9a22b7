from __future__ import annotations

import pytest

from skillopt.domain.tasks import Task
from skillopt.environments.dataset import Dataset
from skillopt.environments.function import Called
from skillopt.kernel.ports import Environment
from skillopt.testing.chat_contract import broken_promises
from skillopt.testing.environments.broken import BROKEN_ENVIRONMENTS
from skillopt.testing.environments.contract import EnvironmentContract
from skillopt.testing.environments.office import Office
from skillopt.testing.worlds import rules_world
from tests.simulation.house import dataset

BREAKS = {
    "LeaksTheReference": "test_messages_hold_nothing_an_answer_is_measured_by",
    "ForgetsTheSkill": "test_messages_are_a_function_of_skill_and_task",
    "NumbersItsMessages": "test_messages_are_a_function_of_skill_and_task",
    "GradesByMood": "test_grading_is_a_pure_function",
    "StumblesOverSilence": "test_any_reply_is_graded",
    "TellsTheAnswer": "test_what_is_said_of_an_answer_does_not_give_it_away",
    "CoachesTheAnswer": "test_what_is_said_of_an_answer_does_not_give_it_away",
    "DrawsByTheClock": "test_drawing_depends_on_the_seed_alone",
    "DrawsTooFew": "test_drawing_depends_on_the_seed_alone",
    "TeachesWhatItTests": "test_splits_are_clean",
    "ShufflesItsTasks": "test_version_and_tasks_do_not_change",
    "ForgetsWhatItKnew": "test_reflection_is_a_pure_function",
}


def tagged(task: Task) -> str:
    return f"<answer>{task.references[0]}</answer>"


class TestOffice(EnvironmentContract):
    def make(self) -> Environment:
        return Office(4)

    def right(self, task: Task) -> str:
        return tagged(task)


class TestDataset(EnvironmentContract):
    def make(self) -> Dataset:
        return dataset(rules_world(4, 8, 6, 5))

    def right(self, task: Task) -> str:
        return tagged(task)


class TestCalled(EnvironmentContract):
    def make(self) -> Environment:
        return Called(dataset(rules_world(4, 8, 6, 5)), attempted=True, grade=lambda task, reply: reply == tagged(task))

    def right(self, task: Task) -> str:
        return tagged(task)


@pytest.mark.parametrize("name", sorted(BROKEN_ENVIRONMENTS))
def test_a_broken_promise_is_noticed(name: str) -> None:
    class Suite(TestOffice):
        def make(self) -> Environment:
            return BROKEN_ENVIRONMENTS[name](4)

    assert BREAKS[name] in broken_promises(Suite())


def test_every_mistake_has_its_promise() -> None:
    assert set(BREAKS) == set(BROKEN_ENVIRONMENTS)
