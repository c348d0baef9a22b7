"""The longest chain of dependent calls of a run: how long it takes with any number of slots; and all phases in turn.
Owns which phase needs which other's answers; refuses to know how long the run took."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

import msgspec

from skillopt.kernel.events import Event, PhaseEnded


class Chain(msgspec.Struct, frozen=True, kw_only=True):
    """The chain: its calls, one after the other, and the seconds they take."""

    calls: int = 0
    seconds: float = 0.0

    def plus(self, seconds: float) -> Chain:
        """Return this chain with one more call."""
        return Chain(calls=self.calls + 1, seconds=self.seconds + seconds)


_NONE = Chain()


def longest_chain(events: Iterable[Event], latency: Mapping[str, float]) -> Chain:
    """Return the longest chain of a run whose models take these seconds, by role, for every answer.

    The calls of a phase wait for nothing but the phases before it; a phase whose answers were all known adds nothing.
    A wave of a gate waits for the evidence of the one before it: that is the gate's nature, so they are links of the
    chain. Some phases wait for less, and less waits for them. The seed skill's scores need nothing, an accepted skill's
    fresh trials need the verdict, and only gates need either. What is drawn from an epoch for the optimizer does not
    need the guidance for the target; the test of the last skill does not need that of the best.
    """
    bar = trunk = longest = _NONE
    before_guidance: dict[str, Chain] = {}
    waves: set[str] = set()
    for event in events:
        if not isinstance(event, PhaseEnded) or not event.usage.calls:
            continue
        took = latency[event.role]
        part, _, phase = event.path.partition("/")
        origin, _, last = event.path.rpartition("/")
        if phase == "baseline/val":
            bar = bar.plus(took)
        elif part == "end":
            longest = _longer(longest, (_NONE if phase == "baseline/test" else trunk).plus(took))
        elif last == "val" and origin in waves:
            bar = _longer(bar, trunk.plus(took))
        elif phase == "meta_skill":
            trunk = _longer(trunk, before_guidance.get(part, trunk).plus(took))
        else:
            if phase == "slow_update":
                before_guidance[part] = trunk
            waves |= {origin} if last.startswith("wave_") else set()
            trunk = (_longer(trunk, bar) if _decides(phase) else trunk).plus(took)
    return _longer(longest, _longer(trunk, bar))


def in_turn(events: Iterable[Event], latency: Mapping[str, float], slots: int) -> float:
    """Return the seconds of all phases, one after the other, each in as many rounds as so many slots need for it."""
    phases = [event for event in events if isinstance(event, PhaseEnded) and event.usage.calls]
    return sum(latency[phase.role] * math.ceil(phase.usage.calls / slots) for phase in phases)


def _decides(phase: str) -> bool:
    """Say whether a phase is a gate's: it compares with the baseline."""
    return phase.endswith("/val") or "/wave_" in phase


def _longer(one: Chain, other: Chain) -> Chain:
    return one if one.seconds >= other.seconds else other
