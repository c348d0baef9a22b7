"""The longest chain of dependent calls of a run: how long it would take if there were any number of slots.
Owns which phase needs which other's answers; refuses to know how long the run took."""

from __future__ import annotations

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
    Three phases wait for less. The first step's rollouts need no baseline: only its gate does. The test of the seed
    skill needs nothing, and that of the last skill does not need the test of the best.
    """
    baseline = trunk = longest = _NONE
    for event in events:
        if not isinstance(event, PhaseEnded) or not event.usage.calls:
            continue
        took = latency[event.role]
        part, _, phase = event.path.partition("/")
        if part == "start":
            baseline = baseline.plus(took)
        elif part == "end":
            longest = _longer(longest, (_NONE if phase == "baseline/test" else trunk).plus(took))
        else:
            needed = _longer(trunk, baseline) if phase.endswith("/val") else trunk
            trunk = needed.plus(took)
    return _longer(longest, _longer(trunk, baseline))


def _longer(one: Chain, other: Chain) -> Chain:
    return one if one.seconds >= other.seconds else other
