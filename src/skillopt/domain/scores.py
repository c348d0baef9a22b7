"""What grading found, per trial and over many: measured scores, and how sure they are.
Owns means, intervals and metrics; refuses to turn a failure into a number. An unmeasured score is None."""

from __future__ import annotations

import enum
import math
from collections import defaultdict
from collections.abc import Collection, Mapping
from functools import cached_property
from typing import NamedTuple

import msgspec

from skillopt.domain.errors import UsageError, named

_Z = 1.959963984540054  # the normal quantile of a 95 % interval
_NO_SPREAD = 1e-9  # a standard error below this is rounding


class Score(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """How good one answer is: `hard` is right or wrong, `soft` gives part marks, `feedback` is for the optimizer."""

    hard: float
    soft: float
    feedback: str = ""

    def __post_init__(self) -> None:
        if not (0.0 <= self.hard <= 1.0 and 0.0 <= self.soft <= 1.0):
            raise ValueError(f"A score lies between 0 and 1, but this one is hard {self.hard}, soft {self.soft}.")
        # an int or bool would be written differently from the float that is read back
        if type(self.hard) is not float:
            msgspec.structs.force_setattr(self, "hard", float(self.hard))
        if type(self.soft) is not float:
            msgspec.structs.force_setattr(self, "soft", float(self.soft))


def together(held: Score, parts: int, one_more: Score) -> Score:
    """Return the score of so many parts and one more: right if all are, the part marks their mean."""
    return Score(
        hard=min(held.hard, one_more.hard),
        soft=(held.soft * parts + one_more.soft) / (parts + 1),
        feedback="\n".join(part for part in (one_more.feedback, held.feedback) if part),
    )


class MetricName(enum.Enum):
    """Which number of a score decides."""

    HARD = "hard"
    SOFT = "soft"
    MIXED = "mixed"

    @classmethod
    def parse(cls, text: str) -> MetricName:
        """Return the metric of this name."""
        return named("metric", text, {metric.value: metric for metric in cls})


class Metric(msgspec.Struct, frozen=True, kw_only=True):
    """The one number a gate compares; `weight` is the share of soft in a mixed metric."""

    name: MetricName = MetricName.HARD
    weight: float = 0.5

    def __post_init__(self) -> None:
        if not 0.0 <= self.weight <= 1.0:
            raise UsageError(f"The weight of a mixed metric is {self.weight}.", hint="Give a number from 0 to 1.")

    def of(self, score: Score) -> float:
        """Return the number of this score."""
        return self.mix(score.hard, score.soft)

    def mix(self, hard: float, soft: float) -> float:
        """Return the number of a hard and a soft value."""
        match self.name:
            case MetricName.HARD:
                return hard
            case MetricName.SOFT:
                return soft
            case MetricName.MIXED:
                return (1 - self.weight) * hard + self.weight * soft


class Scored(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One trial of one task: either a score, or the cause why there is none."""

    task_id: str
    trial: int = 0
    score: Score | None = None
    cause: str | None = None

    def __post_init__(self) -> None:
        if (self.score is None) == (self.cause is None):
            raise ValueError(f"Trial {self.trial} of task {self.task_id!r} needs a score or a cause, and not both.")


class Interval(NamedTuple):
    """Where the true mean lies, at 95 %."""

    low: float
    high: float


class TypeScores(NamedTuple):
    """The scoreboard of the tasks of one type."""

    type: str
    board: Scoreboard


class Scoreboard(msgspec.Struct, frozen=True, dict=True):
    """Many scored trials. Means are over measured rows; failed rows are counted and otherwise left out."""

    rows: tuple[Scored, ...]

    @cached_property
    def scores(self) -> tuple[Score, ...]:
        """The scores that were measured."""
        return tuple(row.score for row in self.rows if row.score is not None)

    @property
    def n(self) -> int:
        """How many rows were measured."""
        return len(self.scores)

    @property
    def failed(self) -> int:
        """How many rows have no score."""
        return len(self.rows) - self.n

    @property
    def cause(self) -> str | None:
        """Why the first failed row failed; None when none did."""
        return next((row.cause for row in self.rows if row.score is None), None)

    @property
    def hard(self) -> float | None:
        """The mean of the hard scores; None when nothing was measured."""
        return _mean([score.hard for score in self.scores])

    @property
    def soft(self) -> float | None:
        """The mean of the soft scores; None when nothing was measured."""
        return _mean([score.soft for score in self.scores])

    def value(self, metric: Metric) -> float | None:
        """Return the metric of the means, as a gate compares it; None when nothing was measured."""
        hard, soft = self.hard, self.soft
        return None if hard is None or soft is None else metric.mix(hard, soft)

    @property
    def measured_tasks(self) -> frozenset[str]:
        """The ids of the tasks with at least one measured trial."""
        return frozenset(row.task_id for row in self.rows if row.score is not None)

    def only(self, task_ids: Collection[str]) -> Scoreboard:
        """Return the rows of these tasks."""
        return Scoreboard(tuple(row for row in self.rows if row.task_id in task_ids))

    def interval(self, metric: Metric) -> Interval | None:
        """Return the 95 % interval of the mean; None when nothing was measured.

        One trial a task and only 0 and 1: Wilson. Otherwise Student's t over tasks, so that trials of one task do not
        pass for independent evidence. Where t sees no spread at all, Wilson again: too wide rather than too narrow.
        """
        mean = self.value(metric)
        if mean is None:
            return None
        values = [metric.of(score) for score in self.scores]
        if len(values) == len(self.measured_tasks) and all(value in {0.0, 1.0} for value in values):
            return wilson(mean, len(values))
        by_task: dict[str, list[float]] = defaultdict(list)
        for row in self.rows:
            if row.score is not None:
                by_task[row.task_id].append(metric.of(row.score))
        spread = _standard_error(mean, list(by_task.values()), len(values))
        if spread is None or spread < _NO_SPREAD:
            return wilson(mean, len(by_task))
        half = _student_quantile(len(by_task) - 1) * spread
        return Interval(max(0.0, mean - half), min(1.0, mean + half))

    def by_type(self, types: Mapping[str, str]) -> tuple[TypeScores, ...]:
        """Return a scoreboard for each type, in order of name; `types` gives the type of a task id, if it has one."""
        rows: dict[str, list[Scored]] = defaultdict(list)
        for row in self.rows:
            if row.task_id in types:
                rows[types[row.task_id]].append(row)
        return tuple(TypeScores(name, Scoreboard(tuple(rows[name]))) for name in sorted(rows))


def _mean(values: list[float]) -> float | None:
    """Return the mean, the same in whatever order the values come."""
    return math.fsum(values) / len(values) if values else None


def _standard_error(mean: float, tasks: list[list[float]], n: int) -> float | None:
    """Return the standard error of a mean over n trials in clusters by task; None for a single task."""
    count = len(tasks)
    if count < 2:
        return None
    squares = math.fsum(math.fsum(value - mean for value in trials) ** 2 for trials in tasks)
    return math.sqrt(squares * count / (count - 1)) / n


def wilson(mean: float, n: int) -> Interval:
    """Return Wilson's interval; exact ends where all or none succeeded."""
    scale = 1 + _Z**2 / n
    centre = (mean + _Z**2 / (2 * n)) / scale
    half = _Z / scale * math.sqrt(mean * (1 - mean) / n + _Z**2 / (4 * n * n))
    return Interval(
        0.0 if mean == 0.0 else max(0.0, centre - half),
        1.0 if mean == 1.0 else min(1.0, centre + half),
    )


def _student_quantile(freedom: int) -> float:
    """Return the 97.5 % quantile of Student's t: exact for 1 and 2, by series (within 1 %) above."""
    if freedom == 1:
        return 12.706204736174698
    if freedom == 2:
        return 4.302652729749464
    z, v = _Z, freedom
    return (
        z
        + (z**3 + z) / (4 * v)
        + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * v**2)
        + (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / (384 * v**3)
    )
