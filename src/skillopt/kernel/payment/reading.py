"""Reads a phase back from the journal, in program order: what the loop sees, live and replayed, is what it holds.
Owns what was read while the rest is under way, all of it durable; refuses to know what an answer is for."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

from skillopt.domain.errors import StoreError
from skillopt.domain.rollouts import Failure
from skillopt.kernel.journal import Journal, Key, Ref
from skillopt.kernel.payment.flights import Flights
from skillopt.kernel.work import Outcome

See = Callable[[int, Outcome], None]
_BATCH = 250
_MOST_AHEAD = 8_192  # beyond that, waiting for the end costs a long phase little, and memory stays flat until then
_SEEN_AT_ONCE = 25  # between these, replies that came in meanwhile are answered


class Reading:
    """The outcomes of one phase. `see` is shown those that are read early, with their places, in order."""

    def __init__(self, journal: Journal, flights: Flights, *, run: str, path: str, see: See | None) -> None:
        self._journal = journal
        self._flights = flights
        self._run = run
        self._path = path
        self._see = see
        self._read: list[Outcome] = []
        self._ready = 0
        self._early: asyncio.Task[None] | None = None

    def landed(self, outcomes: Sequence[Ref | Failure | None], keys: Sequence[Key]) -> None:
        """Take note that a unit has its outcome; when many in a row have theirs, they are read."""
        while self._ready < len(keys) and outcomes[self._ready] is not None:
            self._ready += 1
        start = len(self._read)
        if self._ready - start < _BATCH or start >= _MOST_AHEAD or self._busy():
            return
        row = [outcome for outcome in outcomes[start : self._ready] if outcome is not None]
        self._early = asyncio.ensure_future(self._read_early(row, keys[start : self._ready]))

    async def rest(self, outcomes: Sequence[Ref | Failure], keys: Sequence[Key]) -> tuple[Outcome, ...]:
        """Read what is left of a finished phase, and return all of it."""
        if len(outcomes) != len(keys):
            raise self._diverged()
        if self._early is not None:
            await self._early
        start = len(self._read)
        self._read += await self._durable(outcomes[start:], keys[start:])
        return tuple(self._read)

    async def stop(self) -> None:
        """Read nothing more."""
        if self._early is not None:
            self._early.cancel()
            await asyncio.gather(self._early, return_exceptions=True)

    def _busy(self) -> bool:
        """Say whether something is being read, or went wrong, which is for the end to say."""
        early = self._early
        return early is not None and not (early.done() and not early.cancelled() and early.exception() is None)

    async def _read_early(self, outcomes: Sequence[Ref | Failure], keys: Sequence[Key]) -> None:
        start = len(self._read)
        found = await self._durable(outcomes, keys)
        self._read += found
        if self._see is not None:
            for place, outcome in enumerate(found, start):
                self._see(place, outcome)
                if place % _SEEN_AT_ONCE == 0:
                    await asyncio.sleep(0)

    async def _durable(self, outcomes: Sequence[Ref | Failure], keys: Sequence[Key]) -> list[Outcome]:
        # nobody sees an answer that is not durable, but they may be read back while the disk is busy
        _, found = await asyncio.gather(self._journal.sync(), self._fetched(outcomes, keys))
        return found

    async def _fetched(self, outcomes: Sequence[Ref | Failure], keys: Sequence[Key]) -> list[Outcome]:
        stored = self._journal.fetch([outcome for outcome in outcomes if isinstance(outcome, Ref)])
        found: list[Outcome] = []
        for outcome, key in zip(outcomes, keys, strict=True):
            if isinstance(outcome, Failure):
                found.append(outcome)
                continue
            if stored[outcome].key != key:
                raise self._diverged()
            self._flights.remember(key, outcome)
            found.append(stored[outcome].answer)
        return found

    def _diverged(self) -> StoreError:
        return StoreError(
            f"Run {self._run!r} cannot go on: its journal holds other questions for phase {self._path!r} than this "
            "version asks.",
            hint="It was made by another version of skillopt; start again with --fresh.",
        )
