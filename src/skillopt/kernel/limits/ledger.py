"""The reservation ledger: a unit reserves its worst case before it is sent and settles after, so no cap is overshot.
Owns the order in which units reserve and the moment a run must stop; refuses to know what a unit is."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager, nullcontext

import msgspec

from skillopt.domain.errors import BudgetReachedError
from skillopt.domain.usage import NOTHING, Caps, Usage
from skillopt.kernel.ports import Clock

Ticket = tuple[int, int]

_HINTS = {
    "calls": "Raise limits.calls and run the same command again: it goes on where it stopped.",
    "tokens": "Raise limits.tokens and run the same command again: it goes on where it stopped.",
    "usd": "Raise limits.usd and run the same command again: it goes on where it stopped.",
    "seconds": "Raise limits.seconds and run the same command again: it goes on where it stopped.",
}


class _Waiter(msgspec.Struct, kw_only=True):
    """A reservation that did not fit when it was asked for."""

    ticket: Ticket
    worst: Usage
    granted: asyncio.Future[None]


class Ledger:
    """Adds up what was settled and what is held, over all roles of a run.

    Tickets are program order. A reservation that does not fit waits until every unit before it has settled; if it
    still does not fit then, the run stops.
    """

    def __init__(self, *, caps: Caps, spent: Usage, spent_seconds: float, clock: Clock) -> None:
        self._caps = caps
        self._settled = spent
        self._held = NOTHING
        self._clock = clock
        self._capped = caps.calls is not None or caps.tokens is not None or caps.usd is not None
        self._ends_at = None if caps.seconds is None else clock.now() + caps.seconds - spent_seconds
        self._open: set[Ticket] = set()
        self._waiting: list[_Waiter] = []

    @property
    def settled(self) -> Usage:
        """What is charged for good so far; only kept when a cap needs it."""
        return self._settled

    def seconds_left(self) -> float | None:
        """Return how long the run may still go on, or None when there is no such cap."""
        return None if self._ends_at is None else self._ends_at - self._clock.now()

    def within_time(self) -> AbstractAsyncContextManager[None]:
        """Do something no longer than the run may go on; raises BudgetReachedError at the cap on seconds."""
        return nullcontext() if self._ends_at is None else self._until_the_end()

    @asynccontextmanager
    async def _until_the_end(self) -> AsyncIterator[None]:
        try:
            async with asyncio.timeout(self.seconds_left()) as limit:
                yield
        except TimeoutError:
            if not limit.expired():
                raise
            raise self._reached("seconds") from None

    @contextmanager
    def turn(self, ticket: Ticket) -> Iterator[None]:
        """Mark a unit as under way, from before its first reservation until it has its outcome."""
        self._open.add(ticket)
        try:
            yield
        finally:
            self._open.discard(ticket)
            self._serve()

    async def reserve(self, ticket: Ticket, worst: Usage) -> None:
        """Hold the worst case of one attempt; raises BudgetReachedError when it can never fit."""
        left = self.seconds_left()
        if left is not None and left <= 0:
            raise self._reached("seconds")
        if not self._capped:
            return
        if not self._waiting and self._fits(worst):
            self._held = self._held + worst
            return
        waiter = _Waiter(ticket=ticket, worst=worst, granted=asyncio.get_running_loop().create_future())
        self._waiting.append(waiter)
        self._waiting.sort(key=lambda each: each.ticket)
        self._serve()
        try:
            await waiter.granted
        except asyncio.CancelledError:
            if waiter in self._waiting:
                self._waiting.remove(waiter)
            elif not waiter.granted.cancelled() and waiter.granted.exception() is None:
                self.settle(worst, NOTHING)
            raise

    def settle(self, worst: Usage, charged: Usage) -> None:
        """Replace a held worst case by what the attempt really cost."""
        if not self._capped:
            return
        self._held = self._held - worst
        self._settled = self._settled + charged
        self._serve()

    def _fits(self, worst: Usage) -> bool:
        return self._caps.first_exceeded(self._settled + self._held + worst) is None

    def _serve(self) -> None:
        while self._waiting:
            head = self._waiting[0]
            if self._fits(head.worst):
                self._waiting.pop(0)
                if not head.granted.done():
                    self._held = self._held + head.worst
                    head.granted.set_result(None)
                continue
            if self._held == NOTHING and not any(ticket < head.ticket for ticket in self._open):
                cap = self._caps.first_exceeded(self._settled + head.worst)
                self._refuse_all(self._reached("calls" if cap is None else cap))
            return

    def _refuse_all(self, error: BudgetReachedError) -> None:
        waiting, self._waiting = self._waiting, []
        for waiter in waiting:
            if not waiter.granted.done():
                waiter.granted.set_exception(error)

    def _reached(self, cap: str) -> BudgetReachedError:
        limit = {"calls": self._caps.calls, "tokens": self._caps.tokens, "usd": self._caps.usd}.get(
            cap, self._caps.seconds
        )
        return BudgetReachedError(
            f"The run reached its cap limits.{cap} = {limit}: the next request might pass it.",
            cap=cap,
            hint=_HINTS[cap],
        )
