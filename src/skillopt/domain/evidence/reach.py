"""What a gate can show at all: the smallest p-value within reach, and how many tasks a verdict takes.
Owns these forecasts; refuses to know any answer."""

from __future__ import annotations

import itertools

from skillopt.domain.evidence.alpha import LOOK_SHARES, look_alpha
from skillopt.domain.evidence.convolution import p_value
from skillopt.domain.evidence.paths import Pattern, goes_on, piece_of


def smallest_p(tasks: int, trials: int) -> float:
    """Return the p-value if no known trial of any task was right, and every trial of the candidate is."""
    return p_value([piece_of(_from_never_to_always(trials))] * tasks)


def within_reach(tasks: int, trials: int, alpha: float) -> bool:
    """Say whether a gate at this alpha could accept anything on so many tasks."""
    return smallest_p(tasks, trials) <= look_alpha(alpha, len(LOOK_SHARES))


def tasks_needed(trials: int, alpha: float) -> int:
    """Return how many tasks, never right before and always right now, it takes to pass at alpha."""
    return next(tasks for tasks in itertools.count(1) if smallest_p(tasks, trials) <= alpha)


def _from_never_to_always(trials: int) -> Pattern:
    pattern = Pattern(trials, 0)
    while goes_on(pattern):
        pattern = pattern._replace(tries=pattern.tries + 1, wins=pattern.wins + 1)
    return pattern._replace(offers=len(LOOK_SHARES))
