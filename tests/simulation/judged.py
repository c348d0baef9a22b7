"""Whole runs whose answers a judge marks: the small world with rubrics in its tasks.
Owns which tasks have one; refuses to know what a test wants to see."""

from __future__ import annotations

import msgspec

from skillopt.domain.tasks import Task, TaskSet
from skillopt.environments.dataset import Dataset, DatasetSettings
from skillopt.phases.judging.settings import JudgeSettings
from tests.simulation.house import House, house

RUBRIC = "The case is settled, and the answer confesses no flaw."


def judged_house(seed: int, *, repeats: int = 1, small: bool = False) -> House:
    """Return a house whose tasks are marked by a judge, all but some; a few have a reference besides."""
    home = house(seed, train_size=8, val=4, test=3, epochs=1) if small else house(seed)
    return marked_by_a_judge(home).but(judge=JudgeSettings(repeats=repeats))


def marked_by_a_judge(home: House) -> House:
    """Return the house with rubrics in three tasks of four; every fourth has a reference besides."""

    def taken(tasks: tuple[Task, ...]) -> tuple[Task, ...]:
        return tuple(judged(task, place % 4) for place, task in enumerate(tasks))

    def judged(task: Task, kind: int) -> Task:
        if kind == 0:
            return task
        return msgspec.structs.replace(task, rubric=RUBRIC, reference=task.reference if kind == 1 else None)

    tasks = home.environment.tasks
    split = TaskSet.checked(train=taken(tasks.train), val=taken(tasks.val), test=taken(tasks.test))
    environment = Dataset(DatasetSettings(path="tasks", grader="contains", answer="full"), split)
    return home.but(environment=environment, plan=msgspec.structs.replace(home.plan, tasks=split))
