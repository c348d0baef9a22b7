"""How many edits a step may make: the edit budget, by step number.
Owns the published formulas; refuses to know which edits exist and which steps were skipped."""

from __future__ import annotations

import enum
import math

import msgspec

from skillopt.domain.errors import UsageError, named


class ScheduleName(enum.Enum):
    """How the edit budget moves over a run."""

    CONSTANT = "constant"
    LINEAR = "linear"
    COSINE = "cosine"
    UNLIMITED = "unlimited"

    @classmethod
    def parse(cls, text: str) -> ScheduleName:
        """Return the schedule of this name."""
        return named("schedule", text, {schedule.value: schedule for schedule in cls})


class BudgetSchedule(msgspec.Struct, frozen=True, kw_only=True):
    """An edit budget that starts at `edit_budget` and, where the schedule falls, ends at `min_edit_budget`."""

    name: ScheduleName = ScheduleName.COSINE
    edit_budget: int = 4
    min_edit_budget: int = 2

    def __post_init__(self) -> None:
        if self.edit_budget < 0 or self.min_edit_budget < 0:
            raise UsageError(
                f"An edit budget cannot be negative: edit_budget is {self.edit_budget}, "
                f"min_edit_budget is {self.min_edit_budget}.",
                hint="Use 0 to apply nothing, or the schedule 'unlimited'.",
            )
        if self._falls and self.min_edit_budget > self.edit_budget:
            raise UsageError(
                f"min_edit_budget {self.min_edit_budget} is larger than edit_budget {self.edit_budget}, "
                f"but a {self.name.value} schedule only falls.",
                hint="Lower min_edit_budget or raise edit_budget.",
            )

    @property
    def _falls(self) -> bool:
        """A budget of 0 is 0 from the first step to the last, whatever the schedule."""
        return self.edit_budget > 0 and self.name in {ScheduleName.LINEAR, ScheduleName.COSINE}

    def at(self, step: int, total: int) -> int | None:
        """Return the budget of a step (from 1) of a run of `total` steps; None means no limit."""
        if self.name is ScheduleName.UNLIMITED:
            return None
        if not self._falls or total <= 1:
            return self.edit_budget
        most, least = self.edit_budget, self.min_edit_budget
        passed = min(step, total) / total
        if self.name is ScheduleName.LINEAR:
            return max(least, round(most + (least - most) * passed))
        return max(least, round(least + 0.5 * (most - least) * (1 + math.cos(math.pi * passed))))
