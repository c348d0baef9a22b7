"""How many requests may be under way at once for one account, growing and shrinking with what the provider says.
Owns the adaptive number and its queue; refuses to know requests, retries or budgets."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Literal

from skillopt.kernel.ports import Clock

_AUTO_START = 4
_AUTO_CEILING = 512
_COOLDOWN = 15.0
_SHRINK = 0.8
_GROW = 1.05
_BUSY_SHARE = 0.8

Turn = Literal["now", "soon", "later"]


class Slots:
    """Slots of one account.

    A fixed number stays as it is until the first rate limit; from then on, and from the start with `auto`, the number
    adapts: it doubles with each clean round until the first rate limit, then grows by a twentieth, and falls by a fifth
    at most once in a cooldown. It grows only when the slots were really used.
    """

    def __init__(
        self,
        *,
        concurrency: int | None,
        clock: Clock,
        changed: Callable[[int, str], None],
        rest: Callable[[Clock, float], Awaitable[None]],
    ) -> None:
        self._clock = clock
        self._rest = rest
        self._changed = changed
        self._adapting = concurrency is None
        self._doubling = concurrency is None
        self._limit = float(_AUTO_START if concurrency is None else concurrency)
        self._ceiling = _AUTO_CEILING if concurrency is None else concurrency
        self._busy = 0
        self._peak = 0
        self._done_in_round = 0
        self._cooled_at = 0.0
        self._resume_at = clock.now()
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._early: dict[Turn, deque[asyncio.Future[None]]] = {"soon": deque(), "later": deque()}
        self._places: dict[bytes, asyncio.Future[None]] = {}
        self._serving_early = False

    @property
    def limit(self) -> int:
        """How many requests may be under way now."""
        return int(self._limit)

    @property
    def ceiling(self) -> int:
        """The most there can ever be; more workers than this are useless."""
        return self._ceiling

    async def acquire(self, key: bytes = b"", turn: Turn = "now") -> None:
        """Take a slot, and with it wait as long as the provider asked; what is early comes after all real work."""
        await self._place(key, turn)
        try:
            while (pause := self._resume_at - self._clock.now()) > 0:
                await self._rest(self._clock, pause)
        except BaseException:
            self._give_back()
            raise

    def hurry(self, key: bytes) -> None:
        """Let what was asked early wait with the real work from now on, because real work waits for it."""
        place = self._places.get(key)
        if place is not None and not place.done():
            self._waiting.append(place)

    async def _place(self, key: bytes, turn: Turn) -> None:
        if self._busy < int(self._limit) and not self._waiting:
            self._take()
            return
        place = asyncio.get_running_loop().create_future()
        if turn == "now":
            self._waiting.append(place)
        else:
            self._early[turn].append(place)
            self._places[key] = place
        try:
            await place
        except asyncio.CancelledError:
            if place.done() and not place.cancelled():
                self._give_back()
            raise
        finally:
            self._places.pop(key, None)

    def release_after_answer(self) -> None:
        """Give a slot back after an answer; a round of answers may let the number grow."""
        if self._adapting:
            self._done_in_round += 1
            if self._done_in_round >= int(self._limit):
                self._round_ended()
        self._give_back()

    def release_after_failure(self, *, rate_limited: bool, overloaded: bool, retry_after: float | None) -> None:
        """Give a slot back after a failure; a rate limit lets the number fall, an overload stops it growing."""
        if rate_limited:
            self._shrink(retry_after)
        elif overloaded:
            self._start_round()
        self._give_back()

    def release(self) -> None:
        """Give a slot back when nothing is known about the request."""
        self._give_back()

    def _take(self) -> None:
        self._busy += 1
        self._peak = max(self._peak, self._busy)

    def _give_back(self) -> None:
        self._busy -= 1
        self._serve()

    def _serve(self) -> None:
        self._give_to(self._waiting)
        if self._busy < int(self._limit) and any(self._early.values()) and not self._serving_early:
            # a moment later: who has just given a slot back may take it again for its next unit
            self._serving_early = True
            asyncio.get_running_loop().call_soon(self._serve_early)

    def _serve_early(self) -> None:
        self._serving_early = False
        self._give_to(self._waiting)
        for queue in self._early.values():
            self._give_to(queue)

    def _give_to(self, queue: deque[asyncio.Future[None]]) -> None:
        """Give free slots to the first in a queue; who was cancelled or hurried may still stand in it."""
        while queue and self._busy < int(self._limit):
            place = queue.popleft()
            if not place.done():
                self._take()
                place.set_result(None)

    def _start_round(self) -> None:
        self._done_in_round = 0
        self._peak = self._busy

    def _round_ended(self) -> None:
        used = self._peak >= _BUSY_SHARE * int(self._limit)
        self._start_round()
        if not used or self._limit >= self._ceiling:
            return
        before = int(self._limit)
        grown = self._limit * 2 if self._doubling else max(self._limit * _GROW, self._limit + 0.25)
        self._limit = min(grown, float(self._ceiling))
        if int(self._limit) != before:
            self._changed(int(self._limit), "a clean round")
            self._serve()

    def _shrink(self, retry_after: float | None) -> None:
        now = self._clock.now()
        self._adapting = True
        if retry_after is not None:
            self._resume_at = max(self._resume_at, now + retry_after)
        if now < self._cooled_at:
            return
        self._doubling = False
        self._cooled_at = now + (retry_after if retry_after else _COOLDOWN)
        self._limit = max(1.0, self._limit * _SHRINK)
        self._start_round()
        self._changed(int(self._limit), "rate limited")
