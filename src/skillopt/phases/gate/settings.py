"""The config section of the gate.
Owns its keys and their sentences; refuses to know how anything is decided."""

from __future__ import annotations

from typing import Literal

import msgspec

from skillopt.domain.evidence.alpha import Control
from skillopt.domain.evidence.reach import smallest_p
from skillopt.domain.evidence.signs import sign_p
from skillopt.domain.scores import Metric, MetricName


class GateSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Config section `gate`: when a change is kept.

    rule: `paired` keeps what a paired test shows to be better; `strict` what scores higher once; `force` everything.
    metric: What is compared: right or wrong, part marks, or a mixture of both.
    weight: The share of part marks in `mixed`, from 0 to 1.
    alpha: How often one gate of `paired` may keep a change that helps nowhere.
    control: What alpha bounds: each `gate`, any false accept in the whole `run`, or their share among accepts (`fdr`).
    known_trials: How often each val task is put to an accepted skill for later candidates to be compared with; 1 to 3.
    wave: How many val tasks a candidate is tried on before the first look at the evidence.
    deterministic: Your word that the target always answers the same; then a task is put once, when it is needed first.
    guard: Whether tasks that were solved before and now fail are told (`warn`), stop the change (`block`), or `off`.
    small_val: What decides where too few val tasks can be won for `paired`: nothing (`refuse`), `soft` marks, `strict`.
    bisect: Whether a rejected change is tried again in halves; the better half that is accepted is kept.
    bisect_levels: How often halves that were rejected are halved again; null goes on to single edits.
    max_failed: The share of val rollouts that may fail; with more of them the gate is inconclusive.
    """

    rule: Literal["paired", "strict", "force"] = "paired"
    metric: Literal["hard", "soft", "mixed"] = "hard"
    weight: float = 0.5
    alpha: float = 0.05
    control: Control = "gate"
    known_trials: int = 3
    wave: int = 8
    deterministic: bool = False
    guard: Literal["warn", "block", "off"] = "warn"
    small_val: Literal["refuse", "soft", "strict"] = "refuse"
    bisect: bool = False
    bisect_levels: int | None = 1
    max_failed: float = 0.1

    def __post_init__(self) -> None:
        if not (0.0 <= self.weight <= 1.0 and 0.0 <= self.max_failed <= 1.0):
            raise ValueError("gate.weight and gate.max_failed are shares: numbers from 0 to 1")
        if not 0.0 < self.alpha < 0.5:
            raise ValueError("gate.alpha must be more than 0 and less than 0.5")
        if not 1 <= self.known_trials <= 3:
            raise ValueError("gate.known_trials must be 1, 2 or 3")
        if self.wave < 1:
            raise ValueError("gate.wave must be at least 1")
        if self.bisect_levels is not None and self.bisect_levels < 1:
            raise ValueError("gate.bisect_levels must be at least 1, or null")

    @property
    def compared(self) -> Metric:
        """The number the gate compares."""
        return Metric(name=MetricName.parse(self.metric), weight=self.weight)

    def smallest_p(self, tasks: int) -> float | None:
        """Return the smallest p-value within reach on so many val tasks; None for a rule that tests nothing."""
        if self.rule != "paired":
            return None
        return sign_p(tasks, 0) if self.deterministic else smallest_p(tasks, self.trials)

    @property
    def trials(self) -> int:
        """How often each val task is put to the incumbent."""
        return self.known_trials if self.rule == "paired" and not self.deterministic else 1
