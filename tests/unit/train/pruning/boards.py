"""A stand-in for measuring: skills are right on the tasks that a table says, and every measurement is noted."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec

from skillopt.domain.scores import Score, Scoreboard, Scored
from skillopt.domain.skill import Skill
from skillopt.domain.tasks import Task

Marks = Callable[[Skill, Task, int], str]


class Asked(msgspec.Struct, frozen=True):
    """One measurement that was asked for."""

    label: str
    tasks: tuple[str, ...]
    trial: int


class Bench:
    """Measures by a function that gives a mark: 1 right, 0 wrong, x no answer."""

    def __init__(self, marks: Marks) -> None:
        self._marks = marks
        self.asked: list[Asked] = []

    async def measure(self, skill: Skill, tasks: Sequence[Task], *, label: str, split: str, trial: int) -> Scoreboard:
        """Return the scoreboard that the marks say."""
        assert split == "val"
        self.asked.append(Asked(label, tuple(task.id for task in tasks), trial))
        return Scoreboard(tuple(_scored(task, trial, self._marks(skill, task, trial)) for task in tasks))


def tasks(count: int) -> tuple[Task, ...]:
    """Return so many tasks, v0, v1, …"""
    return tuple(Task(id=f"v{number}", input=f"Case {number}", reference="x") for number in range(count))


def _scored(task: Task, trial: int, mark: str) -> Scored:
    if mark == "x":
        return Scored(task_id=task.id, trial=trial, cause="UnavailableError")
    return Scored(task_id=task.id, trial=trial, score=Score(hard=float(mark), soft=float(mark)))
