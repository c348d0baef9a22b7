"""Tasks that are put to a function of the caller's, or graded by one, or both.
Owns what such a function is given and how its verdict is read; refuses to know how functions are called and paid."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from skillopt.domain.chat import Message
from skillopt.domain.judging import Unassessed, Unexamined, Unjudged, score_said
from skillopt.domain.scores import Score
from skillopt.domain.tasks import Task, TaskSet
from skillopt.environments.dataset import Dataset

Grade = Callable[[Task, str], Score | bool | float]
_VERSION = "function-1"  # raise it when the same task would be put to a function differently


class Called:
    """A dataset in which a function attempts the tasks, or grades the answers; what no function does, the dataset does.

    A plain grading function is part of no key and is called again when a run is replayed: it must be a pure function.
    One that asks somebody (`examined`) is not called here: its marks are asked for as those of a judge are.
    """

    def __init__(self, dataset: Dataset, *, attempted: bool, grade: Grade | None, examined: bool = False) -> None:
        self._dataset = dataset
        self._attempted = attempted
        self._grade = grade
        self._examined = examined

    @property
    def version(self) -> str:
        """Changes when the same task would be put differently."""
        return _VERSION if self._attempted else self._dataset.version

    @property
    def tasks(self) -> TaskSet:
        """All tasks, by split."""
        return self._dataset.tasks

    def messages(self, task: Task, rendered_skill: str) -> tuple[Message, ...]:
        """Return the skill, and the task without what its answer is measured by: all that a function is given."""
        if not self._attempted:
            return self._dataset.messages(task, rendered_skill)
        return (Message("system", rendered_skill), Message("user", msgspec.json.encode(task.public).decode()))

    def grade(self, task: Task, reply: str) -> Score | Unjudged | Unassessed | Unexamined:
        """Score an answer by the function; what it raises is the reason why this answer has no score."""
        if self._examined:
            return Unexamined(answer=reply)
        if self._grade is None:
            return self._dataset.grade(task, reply)
        return score_said(task, self._grade(task, reply))
