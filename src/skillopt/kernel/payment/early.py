"""What is asked before its turn: guesses and certain work, with slots that are free; and parts of the program that are
gone through beside the phase before them. Owns what became of it all; refuses to know why anything will be asked."""

from __future__ import annotations

import asyncio
import sys
from collections import deque
from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import suppress
from functools import partial

from skillopt.domain.errors import SkilloptError
from skillopt.domain.rollouts import Failure
from skillopt.domain.usage import Caps
from skillopt.kernel.journal import Key, Ref
from skillopt.kernel.limits.slots import Turn
from skillopt.kernel.limits.terms import Terms
from skillopt.kernel.payment.flights import Flights
from skillopt.kernel.payment.payments import Payments
from skillopt.kernel.payment.pool import Halt, HaltedError
from skillopt.kernel.work import Work

_CHUNK = 100
_AFTER_EVERYTHING = (sys.maxsize, 0)
_PATH = "ahead"


class Early:
    """Asks early beside real work: it comes first, and a run that is only replayed asks nothing.

    A guess is asked once, from what was set aside, and its failure is nobody's answer. Certain work is the later
    phase's own, begun early: it is paid and retried as it would be then, and its failure is the outcome of the unit
    that asks first.
    """

    def __init__(self, terms: Terms, *, flights: Flights, payments: Payments, halt: Halt, guessed: int) -> None:
        self._journal = terms.journal
        self._limits = terms.limits
        self._flights = flights
        self._payments = payments
        self._halt = halt
        self._allowed = terms.limits.speculation - guessed
        self._guesses: deque[Sequence[Work]] = deque()
        self._guessed: set[Key] = set()
        self._certain: deque[Iterator[Work]] = deque()
        self._width = 0
        self._workers = 0
        self._taken: set[Key] = set()
        self._failed: dict[Key, Failure] = {}
        self._scenes: list[Callable[[], Coroutine[object, object, object]]] = []
        self._rehearsing = 0
        self._tasks: set[asyncio.Task[None]] = set()

    def guess(self, works: Sequence[Work]) -> None:
        """Ask what may be asked soon, as far as `limits.speculation` goes, beside the phase that comes next.

        Only a cap on calls leaves room for this, since only calls can be set aside for it without knowing the price.
        """
        if works and len(self._guessed) < self._allowed and not self._limits.caps.measures_more_than_calls:
            self._guesses.append(works)

    def forget(self) -> None:
        """Drop what was not begun, because the phase it was to go beside cost nothing."""
        self._guesses.clear()
        self._scenes.clear()

    def rehearse(self, scene: Callable[[], Coroutine[object, object, object]]) -> None:
        """Go through a part of the program beside the phase that comes next, since it is certain to follow.

        Under a cap nothing is begun, because it would take from what comes before it.
        """
        if self._limits.caps == Caps():
            self._scenes.append(scene)

    def begin(self, works: Sequence[Work]) -> None:
        """Ask what is certain to be asked, whenever a slot is free beside real work and guesses.

        Under a cap nothing is begun, because it would take from what comes before it.
        """
        if works and self._limits.caps == Caps():
            self._certain.append(self._unasked(works))
            self._width = max(self._width, self._slots(works))

    async def raise_the_curtain(self) -> None:
        """Begin what is rehearsed beside a phase before the phase itself asks: more depends on it."""
        if self._scenes:
            for scene in self._scenes:
                self._start(self._play(scene()))
            self._scenes.clear()
            await asyncio.sleep(0)

    def wake(self) -> None:
        """Take note that real work is being paid for, and begin what may go beside it."""
        while self._guesses:
            self._begin_guesses(self._guesses.popleft())
        while self._certain and self._workers < self._width:
            self._workers += 1
            self._start(self._work())

    def failure(self, key: Key) -> Failure | None:
        """Return, once, what certain work with this key failed with; from now on the key is real work's."""
        if self._certain or self._rehearsing:
            self._taken.add(key)
        return self._failed.pop(key, None)

    async def ask(self, work: Work, turn: Turn) -> Ref | Failure:
        """Ask certain work before its phase; a failure is kept for the unit that asks first.

        What ends the run when real work meets it ends it here, too.
        """

        async def pay() -> Ref | Failure:
            """Pay for it, and keep what failed."""
            outcome = await self._payments.pay(_PATH, _AFTER_EVERYTHING, work, turn=turn)
            if isinstance(outcome, Failure):
                self._failed[work.key] = outcome
            return outcome

        if work.key in self._taken:
            raise HaltedError("Real work was here first.")
        try:
            return await self._flights.fly(work.key, pay)
        except SkilloptError as error:
            self._halt.stop(error)
            raise

    async def land(self) -> None:
        """Wait for what is under way when the work stops: it is paid for."""
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def close(self) -> None:
        """End what nobody waited for."""
        self._certain.clear()
        tasks = tuple(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _start(self, asking: Coroutine[object, object, None]) -> None:
        task = asyncio.ensure_future(asking)
        self._tasks.add(task)
        task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        """Let go of a task; what it failed with, if real work will meet it too, is real work's to say."""
        self._tasks.discard(task)
        if not task.cancelled():
            task.exception()

    async def _play(self, scene: Coroutine[object, object, object]) -> None:
        self._rehearsing += 1
        try:
            await scene
        finally:
            self._rehearsing -= 1

    def _begin_guesses(self, works: Sequence[Work]) -> None:
        units = self._unasked(works)
        left = self._allowed - len(self._guessed)
        for _ in range(min(left, self._slots(works))):
            self._start(self._guess(units))

    async def _guess(self, units: Iterator[Work]) -> None:
        """Ask one guess after the other, each once; whatever ends the run is real work's to say."""
        with suppress(SkilloptError):
            for work in units:
                if len(self._guessed) >= self._allowed or self._halt.reason is not None:
                    return
                self._guessed.add(work.key)
                await self._flights.fly(work.key, partial(self._payments.try_early, work))

    def _slots(self, works: Sequence[Work]) -> int:
        """Return how many of these works can be under way at once."""
        return min(len(works), self._payments.slots(works[0].account).ceiling)

    async def _work(self) -> None:
        """Ask one unit after the other; what ends the run when real work meets it ends it here, too."""
        try:
            while self._halt.reason is None and (work := self._next()) is not None:
                await self.ask(work, "later")
        except SkilloptError as error:
            self._halt.stop(error)
        finally:
            self._workers -= 1

    def _next(self) -> Work | None:
        while self._certain:
            work = next(self._certain[0], None)
            if work is not None:
                return work
            self._certain.popleft()
        return None

    def _unasked(self, works: Sequence[Work]) -> Iterator[Work]:
        """Yield what neither the journal nor anyone in this run has asked by the time it is looked at."""
        for start in range(0, len(works), _CHUNK):
            chunk = works[start : start + _CHUNK]
            found = self._journal.find([work.key for work in chunk])
            for work in chunk:
                tried = work.key in self._taken or work.key in self._guessed
                if not (tried or work.key in found or self._flights.knows(work.key)):
                    yield work
