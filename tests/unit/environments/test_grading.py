from __future__ import annotations

import msgspec
import pytest

import skillopt
from skillopt.domain.errors import TaskError, UsageError
from skillopt.domain.scores import Score
from skillopt.domain.tasks import Check, Task
from skillopt.environments.answers import RegexAnswer
from skillopt.environments.dataset import Dataset, DatasetSettings
from skillopt.environments.grading import grade
from tests.simulation.house import house

LONG, TWO = Check("min_chars", 20), Check("contains", "42")


def task(**parts: object) -> Task:
    return msgspec.convert({"id": "t", "input": "q", **parts}, Task)


@pytest.mark.parametrize(
    ("asked", "reply", "hard", "soft"),
    [
        (task(reference="42"), "<answer>42</answer>", 1, 1),
        (task(reference="42"), "41", 0, 0),
        (task(checks=(LONG, TWO)), "42", 0, 0.5),
        (task(reference="42", checks=(LONG, TWO)), "42", 0, 2 / 3),
        (task(reference="42", checks=(TWO,)), "<answer>42</answer>", 1, 1),
        (task(reference=("41", "42")), "42", 1, 1),
        (task(reference="42"), "", 0, 0),
    ],
)
def test_a_reply_has_the_score_that_a_run_gives_it(asked: Task, reply: str, hard: float, soft: float) -> None:
    score = grade(reply, asked)
    assert score.hard == hard
    assert score.soft == pytest.approx(soft)
    assert Dataset(DatasetSettings(path="tasks"), house().environment.tasks).grade(asked, reply) == score


def test_grader_and_answer_mode_are_named_as_in_a_config() -> None:
    reply = "So:\n```json\n[1, 2.0]\n```"
    assert grade(reply, task(reference="[1, 2]"), grader="json", answer="code") == Score(hard=1.0, soft=1.0)
    assert grade("x=5;", task(reference="5"), answer=RegexAnswer(regex=r"x=(\d)")).hard == 1.0


def test_what_cannot_be_graded_here_is_an_error_and_no_score() -> None:
    with pytest.raises(UsageError, match="takes a judge"):
        grade("a", task(rubric="Is it kind?"))
    with pytest.raises(UsageError, match="Did you mean 'exact'"):
        grade("a", task(reference="a"), grader="exakt")
    with pytest.raises(UsageError, match="only during a run"):
        grade("a", task(reference="a"), grader="command")
    with pytest.raises(UsageError, match="answer mode 'tags'"):
        grade("a", task(reference="a"), answer="tags")
    with pytest.raises(TaskError, match="json_path"):
        grade("a", task(checks=(Check("json_paht", "a"),)))
    with pytest.raises(TaskError, match="no check"):
        grade("a", task())


def test_the_public_name_is_this_function() -> None:
    assert skillopt.grade is grade
