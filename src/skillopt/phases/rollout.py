"""Puts tasks to the target with a skill in front of it, and keeps what came back.
Owns the works of a rollout and the split into answered and failed; refuses to know grading."""

from __future__ import annotations

from collections.abc import Sequence
from typing import overload

from skillopt.domain.rollouts import Answered, Failed, Failure, Rollout
from skillopt.domain.skill import Skill
from skillopt.domain.tasks import Task
from skillopt.kernel.ports import Environment
from skillopt.kernel.run import Run
from skillopt.kernel.work import Asker, Work


class Rollouts(Sequence[Work]):
    """The works of putting tasks to the target, made when they are looked at: 100,000 of them cost no memory."""

    def __init__(
        self, *, asker: Asker, environment: Environment, skill: Skill, tasks: Sequence[Task], trial: int = 0
    ) -> None:
        self._asker = asker
        self._environment = environment
        self._rendered = skill.rendered
        self._tasks = tasks
        self._trial = trial

    def __len__(self) -> int:
        """Return how many tasks there are."""
        return len(self._tasks)

    @overload
    def __getitem__(self, index: int) -> Work: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[Work]: ...

    def __getitem__(self, index: int | slice) -> Work | Sequence[Work]:
        """Make one work, or those of a slice."""
        if isinstance(index, slice):
            return [self._work(task) for task in self._tasks[index]]
        return self._work(self._tasks[index])

    def _work(self, task: Task) -> Work:
        return self._asker.ask(self._environment.messages(task, self._rendered), trial=self._trial)


async def rollout(
    run: Run, phase: str, works: Sequence[Work], tasks: Sequence[Task], trial: int = 0
) -> tuple[Rollout, ...]:
    """Return what became of each task, in order."""
    outcomes = await run.do(phase, "rollout", works)
    return tuple(
        Failed(task_id=task.id, trial=trial, failure=outcome)
        if isinstance(outcome, Failure)
        else Answered(task_id=task.id, trial=trial, text=outcome.text, finish=outcome.finish)
        for task, outcome in zip(tasks, outcomes, strict=True)
    )
