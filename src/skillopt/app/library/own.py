"""Takes an environment of the caller's as it is: tells it from tasks, has it draw, and names it in the plan.
Owns what such an environment must have; refuses to know how it puts tasks and grades answers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import cast

import msgspec

from skillopt.domain.errors import UsageError
from skillopt.domain.progress.batches import base_seeds
from skillopt.domain.tasks import SplitName, Task, TaskSet
from skillopt.kernel.boundary import Attributed
from skillopt.kernel.plugins.members import DrawsTasks, members_of
from skillopt.kernel.ports import Environment
from skillopt.train.settings import TrainSettings

_MEMBERS = ("version", "tasks", "messages", "grade")


def own_environment(given: object) -> Environment | None:
    """Return the environment that was given in the place of tasks; None where these are tasks."""
    if isinstance(given, Sequence | Mapping | Path):
        return None
    missing = [name for name in _MEMBERS if not hasattr(given, name)]
    if missing:
        raise UsageError(
            f"The tasks are a {type(given).__name__} without {', '.join(missing)}.",
            hint=f"Give tasks, the Path of their files, or an environment with {', '.join(_MEMBERS)}.",
        )
    return cast("Environment", given)


def own_tasks(environment: Environment, draws: DrawsTasks | None, train: TrainSettings, *, trains: bool) -> TaskSet:
    """Return the tasks of an environment, those of train drawn if it draws; without training all are one split."""
    tasks = environment.tasks
    if not trains:
        return TaskSet(test=tuple(task for split in SplitName for task in tasks.of(split)))
    drawn = tasks.train if draws is None else tuple(_drawn(draws, train))
    whole = TaskSet.checked(train=drawn, val=tasks.val, test=tasks.test)
    return msgspec.structs.replace(whole, warnings=(*tasks.warnings, *whole.warnings))


def named_in(plan: bytes, environment: Environment) -> bytes:
    """Return what names a run with this environment in it, in the place of settings of one that is not used."""
    settings = msgspec.json.decode(plan)
    kind = type(environment)
    name = f"{kind.__module__}.{kind.__qualname__} {environment.version}"
    coach = members_of(environment).feedback
    settings["environment"] = {
        "own": name,
        "path": settings["environment"]["path"],
        "feedback_turns": 0 if coach is None else coach.feedback_turns,
    }
    return bytes(msgspec.json.encode(settings, order="sorted"))


def _drawn(draws: DrawsTasks, train: TrainSettings) -> Iterator[Task]:
    """Yield the microbatches of all base seeds, one after the other."""
    for seed in base_seeds(draws.train_size, train.batch_size, train.accumulation, train.seed):
        with Attributed(UsageError, f"Drawing tasks from the seed {seed}"):
            tasks = tuple(draws.draw(seed, train.batch_size))
        if len(tasks) != train.batch_size or not all(isinstance(task, Task) for task in tasks):
            raise UsageError(
                f"Drawing from the seed {seed} gave {len(tasks)} things.",
                hint=f"It must return {train.batch_size} Tasks, as many as were asked for.",
            )
        yield from tasks
