from __future__ import annotations

from skillopt.domain.errors import TaskError
from skillopt.domain.rollouts import Answered, Failed, Failure
from skillopt.domain.scores import Score
from skillopt.domain.tasks import Task
from skillopt.environments.dataset import Dataset, DatasetSettings
from skillopt.kernel.events import TaskScore
from skillopt.phases.grade import facts_of, grade, mean_of, means_by_type
from tests.simulation.house import house

TASKS = tuple(
    Task(id=name, input=name, reference="yes", type=kind) for name, kind in (("a", "x"), ("b", "y"), ("c", "x"))
)


class Moody(Dataset):
    """Cannot grade one of the tasks."""

    def grade(self, task: Task, reply: str) -> Score:
        """Score an answer."""
        if reply == "?":
            raise TaskError("There is no telling.")
        return super().grade(task, reply)


def moody() -> Moody:
    return Moody(DatasetSettings(path="tasks"), house().environment.tasks)


def failed(name: str) -> Failed:
    return Failed(task_id=name, trial=0, failure=Failure(kind="UnavailableError", who="provider", message="m"))


def answered(name: str, text: str) -> Answered:
    return Answered(task_id=name, trial=0, text=text)


def test_a_wrong_answer_is_zero_and_a_failure_is_nothing() -> None:
    board = grade(moody(), TASKS, [answered("a", "no"), failed("b"), answered("c", "?")])
    assert [None if row.score is None else row.score.hard for row in board.rows] == [0.0, None, None]
    assert [row.cause for row in board.rows] == [None, "UnavailableError", "There is no telling."]
    mean = mean_of(board)
    assert (mean.hard, mean.n, mean.failed) == (0.0, 1, 2)


def test_nothing_measured_has_no_mean_and_no_interval() -> None:
    mean = mean_of(grade(moody(), TASKS[:1], [failed("a")]))
    assert (mean.hard, mean.soft, mean.low, mean.high, mean.n, mean.failed) == (None, None, None, None, 0, 1)


def test_facts_keep_zero_and_none_apart() -> None:
    facts = facts_of(grade(moody(), TASKS[:2], [answered("a", "no"), failed("b")]))
    assert (facts[0].hard, facts[0].cause) == (0.0, "")
    assert facts[1] == TaskScore("b", 0, None, None, "", "UnavailableError")


def test_means_by_type_leave_failures_out() -> None:
    board = grade(moody(), TASKS, [answered("a", "yes"), answered("b", "no"), failed("c")])
    means = means_by_type(board, {"a": "x", "b": "y", "c": "x"})
    assert {name: (mean.hard, mean.n, mean.failed) for name, mean in means.items()} == {
        "x": (1.0, 1, 1),
        "y": (0.0, 1, 0),
    }
