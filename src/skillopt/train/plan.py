"""What a run will do, settled before it starts: the seed skill, the tasks, the steps and their budgets.
Owns the order of steps and when to stop; refuses to know models, files and journals."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Literal

import msgspec

from skillopt.domain.batches import BatchSpec, epoch_batches, steps_per_epoch
from skillopt.domain.errors import OptimizerError, UnavailableError
from skillopt.domain.schedule import BudgetSchedule, ScheduleName
from skillopt.domain.skill import Skill
from skillopt.domain.state import Step, TrainState
from skillopt.domain.tasks import Task, TaskSet

_PATIENCE_WITH_SILENCE = 3
TestedSkill = Literal["initial", "best", "last"]


class TrainSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Config section `train`: how long a training is, and in what portions.

    epochs: How often the train tasks are gone through; 0 only measures the skill.
    batch_size: How many train tasks make a microbatch.
    accumulation: How many microbatches are rolled out and reflected on before one step changes the skill.
    seed: Which shuffles are used.
    """

    epochs: int = 4
    batch_size: int = 40
    accumulation: int = 1
    seed: int = 42

    def __post_init__(self) -> None:
        if self.epochs < 0 or self.batch_size < 1 or self.accumulation < 1:
            raise ValueError("train.epochs must be 0 or more, train.batch_size and train.accumulation at least 1")


class OptimizerSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Config section `optimizer`: how much a step may change.

    mode: How the skill is changed; `patch`, exact edits, is the only way yet.
    edit_budget: The most edits in a step, where the schedule starts.
    min_edit_budget: The most edits in a step, where a falling schedule ends.
    schedule: How the budget moves over the run.
    """

    mode: Literal["patch"] = "patch"
    edit_budget: int = 4
    min_edit_budget: int = 2
    schedule: Literal["constant", "linear", "cosine", "unlimited"] = "cosine"

    def __post_init__(self) -> None:
        self.budgets.at(1, 1)

    @property
    def budgets(self) -> BudgetSchedule:
        """The edit budget by step."""
        return BudgetSchedule(
            name=ScheduleName.parse(self.schedule),
            edit_budget=self.edit_budget,
            min_edit_budget=self.min_edit_budget,
        )


class StopSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Config section `stop`: what ends a run before its last step.

    when: `solved` ends it once all of val is right and a whole pass of train showed no failure; `never` does not.
    patience: How many steps without an accepted change end it; null means any number.
    target: The score on val that ends it; null means none.
    """

    when: Literal["solved", "never"] = "solved"
    patience: int | None = None
    target: float | None = None

    def __post_init__(self) -> None:
        if self.patience is not None and self.patience < 0:
            raise ValueError("stop.patience must be 0 or more, or null")
        if self.target is not None and not 0.0 <= self.target <= 1.0:
            raise ValueError("stop.target must be a score, from 0 to 1, or null")


class Plan(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """Everything that decides what a run asks, apart from the answers."""

    seed_skill: Skill
    tasks: TaskSet
    train: TrainSettings = TrainSettings()
    optimizer: OptimizerSettings = OptimizerSettings()
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
        for number in range(1, self.total_steps + 1):
            epoch, before = divmod(number - 1, self.steps_per_epoch)
            yield Step(
                number=number,
                epoch=epoch + 1,
                in_epoch=before + 1,
                total=self.total_steps,
                closes_epoch=before + 1 == self.steps_per_epoch,
            )

    def batches(self, step: Step) -> tuple[BatchSpec, ...]:
        """Return the microbatches of a step."""
        return tuple(batch for batch in self._epoch(step.epoch) if batch.step == step.in_epoch)

    def edit_budget(self, step: Step) -> int | None:
        """Return how many edits the step may apply; None means any number."""
        return self.optimizer.budgets.at(step.number, step.total)

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
            self._epochs[epoch] = epoch_batches(
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
