"""Who may be wrong how often: one gate's alpha over its looks, and a run's alpha over its gates.
Owns both ways of spending; refuses to know what is tested."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal

import msgspec

Control = Literal["gate", "run", "fdr"]

LOOK_SHARES = (0.12, 0.2, 0.2, 0.4)
_FIRST_PEEK = 0.04  # of alpha, halved at each further peek inside the first look: 0.08 in all


def peek_alpha(alpha: float, peek: int) -> float:
    """Return what the peek of this number (from 0), inside the first look, may spend."""
    return alpha * _FIRST_PEEK / 2.0**peek


def look_alpha(alpha: float, look: int) -> float:
    """Return what the end of this look (from 1) may spend."""
    return alpha * LOOK_SHARES[look - 1]


class Spending(msgspec.Struct, frozen=True, kw_only=True):
    """How a run spends alpha over its gates: `horizon` is how many gates the plan has room for."""

    alpha: float = 0.05
    control: Control = "gate"
    horizon: int = 1

    def at(self, number: int, accepts: Sequence[int]) -> float:
        """Return the alpha of the gate of this number (from 1), given the numbers of the gates that accepted before.

        `gate`: each gate has all of it. `run`: an equal part for each gate of the plan, and beyond the plan a series
        whose sum is one more such part. `fdr`: LORD++, which starts with half and earns alpha back with each accept.
        """
        match self.control:
            case "gate":
                return self.alpha
            case "run":
                beyond = number - self.horizon
                part = self.alpha / (self.horizon + 1)
                return part if beyond <= 0 else part * 6 / (math.pi * beyond) ** 2
            case "fdr":
                return self._earned(number, accepts)

    def _earned(self, number: int, accepts: Sequence[int]) -> float:
        start = self.alpha / 2
        gained = start * _gamma(number)
        for place, accept in enumerate(accepts):
            gained += (self.alpha - start if place == 0 else self.alpha) * _gamma(number - accept)
        return gained


def _gamma(number: int) -> float:
    """Return the share of the test of this number: falling, and not more than one in all (LORD's usual series)."""
    return 0.07720838 * math.log(max(number, 2)) / (number * math.exp(math.sqrt(math.log(number))))
