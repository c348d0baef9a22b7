"""Works through units in program order with a bounded number at once, and stops cleanly when it must.
Owns the workers and the halt; refuses to know what a unit is."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from typing import TypeVar

from skillopt.domain.errors import SkilloptError
from skillopt.kernel.ports import Clock

Unit = TypeVar("Unit")


class HaltedError(SkilloptError):
    """Nothing new is asked any more; what the run ends with is the reason of the halt, not this."""


class Halt:
    """Asks everyone to stop asking for new work; what is under way may finish."""

    def __init__(self) -> None:
        self._reason: Exception | None = None
        self._resting: set[asyncio.Future[None]] = set()

    @property
    def reason(self) -> Exception | None:
        """Why the work stops, or None."""
        return self._reason

    def stop(self, reason: Exception) -> None:
        """Stop; the first reason stays, and everyone who rests is woken."""
        if self._reason is None:
            self._reason = reason
        for resting in self._resting:
            if not resting.done():
                resting.set_result(None)

    def check(self) -> None:
        """Raise HaltedError if the work stops."""
        if self._reason is not None:
            raise HaltedError("The work stops.")

    async def rest(self, clock: Clock, seconds: float) -> None:
        """Wait, but no longer than until the work stops; then raise HaltedError."""
        if self._reason is None:
            woken = asyncio.get_running_loop().create_future()
            self._resting.add(woken)
            sleeping = asyncio.ensure_future(clock.sleep(seconds))
            try:
                await asyncio.wait((woken, sleeping), return_when=asyncio.FIRST_COMPLETED)
            finally:
                sleeping.cancel()
                self._resting.discard(woken)
        self.check()


async def work_through(
    units: Iterator[Unit], handle: Callable[[Unit], Awaitable[None]], *, width: int, halt: Halt
) -> None:
    """Handle each unit, at most `width` at once, taken in order.

    The first error stops the taking; what is under way finishes, because it is paid for, and then the error is raised.
    """

    async def worker() -> None:
        try:
            for unit in units:
                await handle(unit)
                if halt.reason is not None:
                    return
        except Exception as error:
            halt.stop(error)  # at once, before whoever waits for this one's slot may ask
            raise

    workers = [asyncio.ensure_future(worker()) for _ in range(width if halt.reason is None else 0)]
    try:
        if workers:
            await asyncio.wait(workers)
    finally:
        for each in workers:
            each.cancel()
        await asyncio.gather(*workers, return_exceptions=True)
    if halt.reason is not None:
        raise halt.reason
