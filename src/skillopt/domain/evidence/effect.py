"""How much better a candidate is over all val tasks, and how sure that is.
Owns the net effect, its interval and the rule that holds trades; refuses to know how trials were chosen."""

from __future__ import annotations

import math
from collections.abc import Sequence

import msgspec

_Z = 1.959963984540054  # the normal quantile of a 95 % interval


class Effect(msgspec.Struct, frozen=True, kw_only=True):
    """The mean difference of candidate and incumbent over tasks, its standard error and its 95 % interval."""

    mean: float
    error: float
    tasks: int

    @property
    def low(self) -> float:
        """The lower end."""
        return max(-1.0, self.mean - _Z * self.error)

    @property
    def high(self) -> float:
        """The upper end."""
        return min(1.0, self.mean + _Z * self.error)

    @property
    def gained(self) -> bool:
        """Say whether more was won than lost, by more than one standard error: the net rule."""
        return self.mean > self.error and self.mean > 0


def effect_of(differences: Sequence[float]) -> Effect | None:
    """Return the effect over tasks, each difference a task's; None for fewer than two tasks."""
    tasks = len(differences)
    if tasks < 2:
        return None
    mean = math.fsum(differences) / tasks
    squares = math.fsum((difference - mean) ** 2 for difference in differences)
    return Effect(mean=mean, error=math.sqrt(squares / (tasks - 1) / tasks), tasks=tasks)


def clearly_worse(strata: Sequence[tuple[int, Sequence[float]]]) -> bool:
    """Say whether a sample by strata (all tasks of the stratum, the differences seen) lies two errors below zero.

    Each stratum is given one more task without a difference, so that a few equal answers do not look like certainty.
    """
    everything = sum(size for size, _ in strata)
    mean = variance = 0.0
    for size, seen in strata:
        shrunk = effect_of((*seen, 0.0))
        if shrunk is not None:
            mean += size / everything * shrunk.mean
            variance += (size / everything * shrunk.error) ** 2
    return mean < 0 and mean + 2 * math.sqrt(variance) < 0
