"""What a run will do, settled before it starts: the seed skill, the tasks, the steps and their budgets.
Owns the order of steps and when to stop; refuses to know models, files and journals."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

import msgspec

from skillopt.domain.errors import OptimizerError, UnavailableError
from skillopt.domain.progress.batches import BatchSpec, epoch_batches, seeded_batches, steps_per_epoch
from skillopt.domain.progress.state import Step, TrainState
from skillopt.domain.skill import Skill
from skillopt.domain.tasks import Task, TaskSet
from skillopt.train.settings import OptimizerSettings, SearchSettings, StopSettings, TestedSkill, TrainSettings

_PATIENCE_WITH_SILENCE = 3


class Plan(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """Everything that decides what a run asks, apart from the answers.

    `drawn` says that the train tasks came from seeds, a whole microbatch from each, and stay together.
    """

    seed_skill: Skill
    tasks: TaskSet
    drawn: bool = False
    train: TrainSettings = TrainSettings()
    optimizer: OptimizerSettings = OptimizerSettings()
    search: SearchSettings = SearchSettings()
    stop: StopSettings = StopSettings()
    test: tuple[TestedSkill, ...] = ("initial", "best", "last")

    @property
    def val(self) -> tuple[Task, ...]:
        """The tasks that decide."""
        return self.tasks.val

    @property
    def steps_per_epoch(self) -> int:
        """How many steps one epoch takes."""
        return steps_per_epoch(len(self.tasks.train), self.train.batch_size, self.train.accumulation)

    @property
    def total_steps(self) -> int:
        """How many steps the run takes if nothing ends it early."""
        return self.train.epochs * self.steps_per_epoch

    def steps(self) -> Iterator[Step]:
        """Yield the steps in order."""
        return (self.step(number) for number in range(1, self.total_steps + 1))

    def step(self, number: int) -> Step:
        """Return the step with this number."""
        epoch, before = divmod(number - 1, self.steps_per_epoch)
        return Step(
            number=number,
            epoch=epoch + 1,
            in_epoch=before + 1,
            total=self.total_steps,
            closes_epoch=before + 1 == self.steps_per_epoch,
        )

    @property
    def surely_steps(self) -> bool:
        """Whether there is a first step however well the seed skill does on val."""
        return self.total_steps > 0 and self.stop.target is None and self.stop.patience != 0

    def batches(self, step: Step) -> tuple[BatchSpec, ...]:
        """Return the microbatches of a step."""
        return tuple(batch for batch in self._epoch(step.epoch) if batch.step == step.in_epoch)

    def tasks_of(self, step: Step) -> tuple[Task, ...]:
        """Return the train tasks of a step, one microbatch after the other."""
        return tuple(task for batch in self.batches(step) for task in batch.tasks)

    def edit_budget(self, step: Step) -> int | None:
        """Return how many changes the step may make; None means any number."""
        if self.optimizer.control == "none":
            return None
        return self.optimizer.budgets.at(step.number, step.total)

    def reflects(self, step: Step) -> bool:
        """Whether a step can come to anything: it may change the skill, or remind of what the skill has."""
        return self.edit_budget(step) != 0 or bool(self.optimizer.skill_aware.kinds)

    def merges_after(self, step: Step) -> bool:
        """Say whether two skills of the frontier are put together after this step."""
        every = self.search.merge_every
        due = step.closes_epoch if every is None else every > 0 and step.number % every == 0
        return self.search.several and due

    def stop_reason(self, state: TrainState) -> str | None:
        """Return why the run should end now, or None; raises when it makes no sense to go on."""
        _refuse_silence(state)
        value = state.best.board.value(state.metric)
        if self.stop.target is not None and value is not None and value >= self.stop.target:
            return "target"
        if self.stop.patience is not None and state.since_accept >= self.stop.patience:
            return "patience"
        if self.stop.when == "solved" and self._solved(state):
            return "solved"
        return None

    def _solved(self, state: TrainState) -> bool:
        """Every val task is solved by the incumbent, and a full pass of train showed no failure since the accept."""
        board = state.incumbent.board
        solved = board.failed == 0 and board.n > 0 and all(score.hard >= 1.0 for score in board.scores)
        return solved and len(state.passed) == len(self.tasks.train)

    def _epoch(self, epoch: int) -> tuple[BatchSpec, ...]:
        if epoch not in self._epochs:
            self._epochs.clear()
            batches = seeded_batches if self.drawn else epoch_batches
            self._epochs[epoch] = batches(
                self.tasks.train, epoch, self.train.batch_size, self.train.accumulation, self.train.seed
            )
        return self._epochs[epoch]

    @cached_property
    def _epochs(self) -> dict[int, tuple[BatchSpec, ...]]:
        """The microbatches of the epoch at hand; only ever one, since they are cheap to draw again."""
        return {}


def _refuse_silence(state: TrainState) -> None:
    """A run whose optimizer or target never answers must not end as a success."""
    if state.mute >= _PATIENCE_WITH_SILENCE or (state.mute == 1 and state.steps_done == 1):
        raise OptimizerError(
            f"The optimizer gave no usable reply in {state.mute} step(s) running, after step {state.steps_done}.",
            hint="Look at the warnings above and at models.optimizer, then run it with --fresh: answers are kept.",
        )
    if state.silent >= _PATIENCE_WITH_SILENCE:
        raise UnavailableError(
            f"The target answered none of its tasks in {state.silent} steps running, up to step {state.steps_done}.",
            hint="Look at models.target (skillopt doctor), then run it with --fresh: answers are kept.",
        )
