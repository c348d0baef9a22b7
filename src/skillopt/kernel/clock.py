"""The door to time. Owns the real clock; the virtual one is in the test kit. Knows nothing of who waits or why."""

from __future__ import annotations

import asyncio
import time


class SystemClock:
    """The machine's own time."""

    def now(self) -> float:
        """Return seconds that only grow."""
        return time.monotonic()

    def wall(self) -> float:
        """Return seconds since 1970."""
        return time.time()

    async def sleep(self, seconds: float) -> None:
        """Wait."""
        await asyncio.sleep(seconds)
