"""The settings of a training: how long it is, how much a step may change, what ends it early.
Owns these config sections; refuses to know tasks and skills."""

from __future__ import annotations

from typing import Literal

import msgspec

from skillopt.domain.progress.schedule import BudgetSchedule, ScheduleName
from skillopt.phases.consolidate.notes import SkillAwareSettings
from skillopt.phases.consolidate.slow_update import SlowUpdateSettings

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
    slow_update: Guidance for the target, drawn from comparing epochs.
    meta_skill: Whether the optimizer writes advice for itself at the end of an epoch, for the next one only.
    skill_aware: Reminders of rules that the skill has and the target overlooked.
    """

    mode: Literal["patch"] = "patch"
    edit_budget: int = 4
    min_edit_budget: int = 2
    schedule: Literal["constant", "linear", "cosine", "unlimited"] = "cosine"
    slow_update: SlowUpdateSettings = SlowUpdateSettings()
    meta_skill: bool = True
    skill_aware: SkillAwareSettings = SkillAwareSettings()

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
