"""How long a run will take: the phases it goes through, in rounds of as many calls as there are slots.
Owns how calls and the seconds of one become a time; refuses to know where the seconds come from."""

from __future__ import annotations

import math
from collections.abc import Mapping

import msgspec

from skillopt.train.forecast.walk import Walked

_SPREAD = 2.0  # how much faster or slower than seen the calls of a whole run may be on average


class Pace(msgspec.Struct, frozen=True, kw_only=True):
    """The seconds of a call by verb, as an earlier run had them, and how many calls may be under way at once.

    Where the number of slots adapts, nobody knows it before: `slots` are the fewest, the likely number and the most.
    """

    seconds: Mapping[str, float]
    slots: tuple[int, int, int]

    def knows(self, walked: Walked) -> bool:
        """Say whether the seconds of every verb are known."""
        return walked.calls.keys() <= self.seconds.keys()

    def least(self, walked: Walked) -> float:
        """Return the seconds of these calls if no slot is ever idle."""
        _, _, slots = self.slots
        return sum(count * self.seconds[verb] for verb, count in walked.calls.items()) / slots / _SPREAD

    def likely(self, walked: Walked) -> float:
        """Return the seconds of these phases, one after the other."""
        _, slots, _ = self.slots
        return self._in_turn(walked, slots)

    def most(self, walked: Walked) -> float:
        """Return the seconds of these phases in the fewest slots, on a slow day."""
        slots, _, _ = self.slots
        return self._in_turn(walked, slots) * _SPREAD

    def _in_turn(self, walked: Walked, slots: int) -> float:
        """What is answered already is left out of every phase alike."""
        whole = 0.0
        for verb, count in walked.calls.items():
            phases = walked.phases[verb]
            rounds = sum(math.ceil(round(size, 6) / slots) for size in phases)
            left = min(1.0, count / sum(phases)) if phases else 0.0
            whole += rounds * self.seconds[verb] * left
        return whole
