"""Puts tasks to the target with a skill in front of it, and keeps what came back.
Owns the works of a rollout and the split into answered and failed; refuses to know grading."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import overload

from skillopt.domain.errors import UsageError
from skillopt.domain.rollouts import Answered, Failed, Failure, Rollout
from skillopt.domain.skill import Skill
from skillopt.domain.tasks import Task
from skillopt.kernel.boundary import Attributed
from skillopt.kernel.ports import Environment
from skillopt.kernel.run import Run
from skillopt.kernel.work import Asker, Work
from skillopt.phases.variants import variant


class Rollouts(Sequence[Work]):
    """The works of putting tasks to the target, made when they are looked at: 100,000 of them cost no memory.

    All tasks for the first trial come first, then all for the next. If `varied`, a trial above 0 is sent with a neutral
    variant of the skill, so that a target that does not sample gives more than copies of one answer.
    """

    def __init__(
        self,
        *,
        asker: Asker,
        environment: Environment,
        skill: Skill,
        tasks: Sequence[Task],
        trials: Sequence[int] = (0,),
        varied: bool = False,
    ) -> None:
        self._asker = asker
        self._environment = environment
        self._texts = {trial: variant(skill.rendered, trial if varied else 0) for trial in trials}
        self._tasks = tasks
        self._trials = trials

    def __len__(self) -> int:
        """Return how many works there are."""
        return len(self._tasks) * len(self._trials)

    @overload
    def __getitem__(self, index: int) -> Work: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[Work]: ...

    def __getitem__(self, index: int | slice) -> Work | Sequence[Work]:
        """Make one work, or those of a slice."""
        if isinstance(index, slice):
            return [self._work(each) for each in range(*index.indices(len(self)))]
        return self._work(range(len(self))[index])

    def whose(self) -> Iterator[tuple[Task, int]]:
        """Yield the task and the trial of each work, in order."""
        return ((task, trial) for trial in self._trials for task in self._tasks)

    def _work(self, index: int) -> Work:
        round_, place = divmod(index, len(self._tasks))
        trial = self._trials[round_]
        task = self._tasks[place]
        with Attributed(UsageError, f"Putting task {task.id!r}"):
            messages = tuple(self._environment.messages(task, self._texts[trial]))
        return self._asker.ask(messages, trial=trial)


async def rollout(
    run: Run, phase: str, works: Sequence[Work], whose: Iterable[tuple[Task, int]]
) -> tuple[Rollout, ...]:
    """Return what became of each work, in order; `whose` says which task and which trial each is."""
    outcomes = await run.do(phase, "rollout", works)
    return tuple(
        Failed(task_id=task.id, trial=trial, failure=outcome)
        if isinstance(outcome, Failure)
        else Answered(task_id=task.id, trial=trial, text=outcome.text, finish=outcome.finish)
        for (task, trial), outcome in zip(whose, outcomes, strict=True)
    )
