from __future__ import annotations

from typing import Any

import msgspec
import pytest

from skillopt.domain.errors import TaskError
from skillopt.domain.judging import Unassessed, Unexamined, Unjudged
from skillopt.domain.scores import Score
from skillopt.domain.tasks import Check, Task, TaskSet
from skillopt.environments.dataset import Dataset, DatasetSettings
from skillopt.environments.function import Called

TASK = Task(id="one", input="2+2", reference="4", checks=(Check(op="max_chars", arg=3),), rubric="Be right.")
DATASET = Dataset(DatasetSettings(path="."), TaskSet(train=(TASK,)))


def graded(said: object) -> Score | Unjudged | Unassessed | Unexamined:
    verdict: Any = said
    return Called(DATASET, attempted=True, grade=lambda _task, _answer: verdict).grade(TASK, "4")


def test_a_function_gets_the_skill_and_the_task_without_what_measures_it() -> None:
    environment = Called(DATASET, attempted=True, grade=None)
    system, user = environment.messages(TASK, "# Sums")
    assert system.content == "# Sums"
    assert msgspec.json.decode(user.content, type=Task) == TASK.public == Task(id="one", input="2+2")


def test_a_model_gets_what_the_dataset_says() -> None:
    environment = Called(DATASET, attempted=False, grade=None)
    assert environment.messages(TASK, "# Sums") == DATASET.messages(TASK, "# Sums")
    assert environment.version == DATASET.version != Called(DATASET, attempted=True, grade=None).version
    assert environment.tasks == DATASET.tasks


@pytest.mark.parametrize(
    ("said", "score"),
    [
        (True, Score(hard=1.0, soft=1.0)),
        (False, Score(hard=0.0, soft=0.0)),
        (0.6, Score(hard=0.0, soft=0.6)),
        (1, Score(hard=1.0, soft=1.0)),
        (Score(hard=0.0, soft=0.9, feedback="nearly"), Score(hard=0.0, soft=0.9, feedback="nearly")),
    ],
)
def test_a_verdict_is_a_score(said: object, score: Score) -> None:
    assert graded(said) == score


@pytest.mark.parametrize("said", [None, "good", 1.5, -1, float("nan")])
def test_anything_else_is_no_score(said: object) -> None:
    with pytest.raises(TaskError, match="task 'one' returned"):
        graded(said)


def test_what_has_to_be_asked_is_left_to_be_asked() -> None:
    environment = Called(DATASET, attempted=True, grade=None, examined=True)
    assert environment.grade(TASK, "4") == Unexamined(answer="4")


def test_who_grades_decides_whether_a_judge_is_needed() -> None:
    def grade(task: Task, answer: str) -> bool:
        return answer == task.reference

    assert isinstance(Called(DATASET, attempted=True, grade=None).grade(TASK, "4"), Unjudged)
    assert Called(DATASET, attempted=True, grade=grade).grade(TASK, "4") == Score(hard=1.0, soft=1.0)
