"""Puts tasks to the target with a skill in front of it, and keeps what came back.
Owns the works of a rollout and the split into answered and failed; refuses to know grading."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import overload

from skillopt.domain.agency.conduct import conduct_of
from skillopt.domain.rollouts import Answered, Failed, Failure, Rollout
from skillopt.domain.skill import Skill
from skillopt.domain.tasks import Task
from skillopt.kernel.events import AgentsWorked, WorkFact
from skillopt.kernel.run import Run
from skillopt.kernel.work import Outcome, Work
from skillopt.phases.attempts import Attempts

See = Callable[[int, Task, Rollout], None]


class Rollouts(Sequence[Work]):
    """The works of putting tasks to the target, made when they are looked at: 100,000 of them cost no memory.

    All tasks for the first trial come first, then all for the next.
    """

    def __init__(
        self, *, attempts: Attempts, skill: Skill, tasks: Sequence[Task], trials: Sequence[int] = (0,)
    ) -> None:
        self._attempts = attempts
        self._skill = skill
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
        return self._attempts.attempt(self._tasks[place], self._skill, self._trials[round_])


async def rollout(
    run: Run, phase: str, works: Sequence[Work], whose: Sequence[tuple[Task, int]], see: See | None = None
) -> tuple[Rollout, ...]:
    """Return what became of each work, in order; `whose` says which task and which trial each is.

    `see` is shown some of it, with its place and task, while the rest is under way.
    """

    def became(place: int, outcome: Outcome) -> Rollout:
        """Say what became of one work."""
        task, trial = whose[place]
        if isinstance(outcome, Failure):
            return Failed(task_id=task.id, trial=trial, failure=outcome)
        return Answered(
            task_id=task.id, trial=trial, text=outcome.text, finish=outcome.finish, transcript=outcome.transcript
        )

    def show(place: int, outcome: Outcome) -> None:
        """Show what was read early."""
        if see is not None:
            see(place, whose[place][0], became(place, outcome))

    outcomes = await run.do(phase, "rollout", works, show)
    return tuple(became(place, outcome) for place, outcome in enumerate(outcomes))


def agents_worked(phase: str, rollouts: Sequence[Rollout], *, each: bool) -> AgentsWorked | None:
    """Return how agents went about these rollouts, and if wanted each of them; None where no agent was sent."""
    told = [(rollout, rollout.transcript) for rollout in rollouts if isinstance(rollout, Answered)]
    done = [(answered, transcript) for answered, transcript in told if transcript is not None]
    if not done:
        return None
    works = tuple(
        WorkFact(
            task_id=answered.task_id,
            trial=answered.trial,
            summary=transcript.summary(),
            steps=transcript.account(),
            files=tuple(file.told for file in transcript.files),
        )
        for answered, transcript in done
    )
    conduct = conduct_of(transcript for _, transcript in done)
    tasks = tuple(rollout.task_id for rollout in rollouts)
    return AgentsWorked(path=phase, conduct=conduct, tasks=tasks, works=works if each else ())
