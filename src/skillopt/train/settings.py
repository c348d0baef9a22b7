"""The settings of a training: how long it is, how much a step may change, what ends it early.
Owns these config sections; refuses to know tasks and skills."""

from __future__ import annotations

from typing import Literal

import msgspec

from skillopt.domain.progress.schedule import BudgetSchedule, ScheduleName
from skillopt.phases.consolidate.notes import SkillAwareSettings
from skillopt.phases.consolidate.slow_update import SlowUpdateSettings
from skillopt.phases.proposals.modes import MODES, ModeName

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


BudgetControl = Literal["fixed", "autonomous", "none"]


class OptimizerSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Config section `optimizer`: how the skill is changed, and how much in a step.

    mode: Exact edits, a rewrite with the chosen suggestions worked in, or whole documents (no budget, no ranking).
    edit_budget: The most changes in a step, where the schedule starts.
    min_edit_budget: The most changes in a step, where a falling schedule ends.
    schedule: How the budget moves over the run.
    slow_update: Guidance for the target, drawn from comparing epochs.
    meta_skill: Whether the optimizer writes advice for itself at the end of an epoch, for the next one only.
    skill_aware: Reminders of rules that the skill has and the target overlooked.
    budget_control: Who sets a step's budget: the schedule (`fixed`), the optimizer (`autonomous`), or nobody (`none`).
    repair: Whether edits that could not be made are sent back once, all those of a step in one request.
    file_budgets: The most edits in a step to single files of a skill folder, by path, such as references/terms.md.
    edit_scripts: Whether programs in a skill folder may be edited too.
    edit_description: Whether the description in the front matter may be edited; all else in it stays as it is.
    """

    mode: ModeName = "patch"
    edit_budget: int = 4
    min_edit_budget: int = 2
    schedule: Literal["constant", "linear", "cosine", "unlimited"] = "cosine"
    slow_update: SlowUpdateSettings = SlowUpdateSettings()
    meta_skill: bool = True
    skill_aware: SkillAwareSettings = SkillAwareSettings()
    budget_control: BudgetControl = "fixed"
    repair: bool = True
    file_budgets: dict[str, int] = {}
    edit_scripts: bool = False
    edit_description: bool = False

    def __post_init__(self) -> None:
        self.budgets.at(1, 1)
        if min(self.file_budgets.values(), default=0) < 0:
            raise ValueError("optimizer.file_budgets are numbers of edits, 0 or more")
        if self.budget_control == "autonomous" and self.control == "none":
            raise ValueError(f"optimizer.budget_control has no say in mode {self.mode}: it changes the whole document")

    @property
    def control(self) -> BudgetControl:
        """Who limits the changes of a step; nobody does where there is nothing to count."""
        return self.budget_control if MODES[self.mode].counted else "none"

    @property
    def budgets(self) -> BudgetSchedule:
        """The edit budget by step."""
        return BudgetSchedule(
            name=ScheduleName.parse(self.schedule),
            edit_budget=self.edit_budget,
            min_edit_budget=self.min_edit_budget,
        )


class SearchSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Config section `search`: whether several skills are improved side by side.

    frontier: How many skills, each best on some val tasks, a step may start from; 1 is the last accepted one only.
    merge_every: After how many steps two of them are put together and gated; null: at an epoch's end, 0: never.
    """

    frontier: int = 1
    merge_every: int | None = None

    def __post_init__(self) -> None:
        if self.frontier < 1:
            raise ValueError("search.frontier must be at least 1")
        if self.merge_every is not None and self.merge_every < 0:
            raise ValueError("search.merge_every must be 0 or more, or null")

    @property
    def several(self) -> bool:
        """Whether there is a choice where a step starts."""
        return self.frontier > 1


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
