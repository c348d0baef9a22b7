"""Questions under way in this run: who asks the same one meanwhile shares the answer instead of paying twice.
Owns the answers of this session by key; refuses to know how an answer is paid for."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from skillopt.domain.rollouts import Failure
from skillopt.kernel.journal import Key, Ref


class Flights:
    """At most one flight for a key at any time; a failure is nobody's answer but the asker's own."""

    def __init__(self) -> None:
        self._answered: dict[Key, Ref] = {}
        self._flying: dict[Key, asyncio.Event | None] = {}  # hardly any flight is waited for: the event comes then

    def answer(self, key: Key) -> Ref | None:
        """Return the answer that this run has used or paid for, if there is one."""
        return self._answered.get(key)

    def remember(self, key: Key, answer: Ref) -> None:
        """Keep the answer that the run uses for a key, so that it never uses another one later."""
        self._answered.setdefault(key, answer)

    def knows(self, key: Key) -> bool:
        """Say whether the question was answered or is being asked."""
        return key in self._answered or key in self._flying

    def flying(self, key: Key) -> bool:
        """Say whether the question is being asked."""
        return key in self._flying

    async def shared(self, key: Key) -> Ref | None:
        """Wait for a flight of this key, if there is one, and return the answer if there is one then."""
        while key in self._flying:
            landed = self._flying[key]
            if landed is None:
                landed = self._flying[key] = asyncio.Event()
            await landed.wait()
        return self._answered.get(key)

    async def fly(self, key: Key, pay: Callable[[], Awaitable[Ref | Failure]]) -> Ref | Failure:
        """Ask, and let others share the answer; nobody else may be asking the same."""
        self._flying[key] = None
        try:
            outcome = await pay()
            if isinstance(outcome, Ref):
                self._answered[key] = outcome
            return outcome
        finally:
            landed = self._flying.pop(key)
            if landed is not None:
                landed.set()
