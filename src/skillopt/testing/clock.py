"""Virtual time: sleeps and timeouts pass at once, in order, whenever nothing else is left to do.
Owns the event loop on which that is true; refuses to wait in vain: when nothing can ever happen it says so.

Work in the loop's own executor holds time still; of other threads `run_virtual` must be told."""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Callable, Coroutine
from concurrent.futures import Executor
from typing import Any, TypeVar, TypeVarTuple

from skillopt.domain.errors import SkilloptError

Result = TypeVar("Result")
Arguments = TypeVarTuple("Arguments")
_GLANCE = 0.001


class DeadlockError(SkilloptError):
    """Every task waits for something that nobody will ever do."""


class VirtualClock:
    """A clock for `run_virtual`: it reads the time of the running loop, and starts at `wall`."""

    def __init__(self, *, wall: float = 1_900_000_000.0) -> None:
        self._wall = wall

    def now(self) -> float:
        """Return the virtual seconds since the loop began."""
        return asyncio.get_running_loop().time()

    def wall(self) -> float:
        """Return the virtual seconds since 1970."""
        return self._wall + self.now()

    async def sleep(self, seconds: float) -> None:
        """Let virtual time pass."""
        await asyncio.sleep(seconds)


def _nobody() -> bool:
    return False


def run_virtual(main: Coroutine[Any, Any, Result], *, outside: Callable[[], bool] = _nobody) -> Result:
    """Run a coroutine to its end in virtual time, and raise DeadlockError when it can never get there.

    `outside` says whether a thread that the loop did not start has work to do; time stands still while it has.
    It may say no only once the thread has woken the loop.
    """
    with asyncio.Runner(loop_factory=lambda: VirtualLoop(outside)) as runner:
        return runner.run(main)


class VirtualLoop(asyncio.SelectorEventLoop):
    """An event loop whose time moves only when it would otherwise wait for it."""

    def __init__(self, outside: Callable[[], bool] = _nobody) -> None:
        self._elapsed = 0.0
        self._working = 0
        self._outside = outside
        super().__init__(_TimeSkipper(self))
        # asyncio runs a timer once time has passed it by less than this; the default drowns in rounding after months
        self._clock_resolution = 1e-6

    def time(self) -> float:
        """Return the virtual seconds since the loop began."""
        return self._elapsed

    def run_in_executor(
        self, executor: Executor | None, func: Callable[[*Arguments], Result], *args: *Arguments
    ) -> asyncio.Future[Result]:
        """Run a function in a thread; virtual time stands still until it is done."""
        future = super().run_in_executor(executor, func, *args)
        self._working += 1
        future.add_done_callback(self._worked)
        return future

    async def shutdown_default_executor(self, limit: float | None = None) -> None:
        """Wait for the threads to end, in real time and without a limit."""
        del limit
        self._working += 1
        try:
            await super().shutdown_default_executor()
        finally:
            self._working -= 1

    def _worked(self, _future: asyncio.Future[Any]) -> None:
        self._working -= 1

    @property
    def is_awaited(self) -> bool:
        """Whether a thread is at work, so that time has to stand still."""
        return self._working > 0 or self._outside()

    def skip(self, timeout: float | None) -> None:
        """Let this much time pass; None means that nothing is scheduled at all."""
        if timeout is None:
            raise DeadlockError(
                f"Nothing is scheduled and nothing is ready, but {_waiting(self)}.",
                hint="Look for an event nobody sets, a queue nobody fills, or a reply that never comes.",
            )
        self._elapsed += timeout


def _waiting(loop: asyncio.AbstractEventLoop) -> str:
    names = sorted(f"{task.get_name()} in {_place(task)}" for task in asyncio.all_tasks(loop))
    return f"{len(names)} tasks wait: {', '.join(names)}"


def _place(task: asyncio.Task[Any]) -> str:
    stack = task.get_stack(limit=1)
    if not stack:
        return "an unknown place"
    return f"{stack[0].f_code.co_name} line {stack[0].f_lineno}"


class _TimeSkipper(selectors.DefaultSelector):
    """A selector that moves the loop's time on where a real one would wait."""

    def __init__(self, loop: VirtualLoop) -> None:
        super().__init__()
        self._loop = loop

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        """Return what is ready now; when nothing is, skip to the next timer."""
        awaited = self._loop.is_awaited  # asked first: who has finished since then has already woken the loop
        ready = super().select(0)
        if ready or (timeout is not None and timeout <= 0):
            return ready
        if awaited:
            return super().select(_GLANCE)
        self._loop.skip(timeout)
        return []
