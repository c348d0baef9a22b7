"""Our client as a person meets it: a skill measured on val by the application's own wiring.
Owns one timed session, journal on disk, scoring and events included; refuses to know bars."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence

import msgspec

from skillopt.app.project.prepare import Prepared
from skillopt.app.session import opened
from skillopt.app.workspace import opened_journal
from skillopt.kernel.clock import SystemClock
from skillopt.kernel.ports import Observer


class Cost(msgspec.Struct, frozen=True):
    """What some calls took: seconds on the wall, and of the processor over all threads of this process."""

    wall: float
    cpu: float


class Meter:
    """Starts when it is made."""

    def __init__(self) -> None:
        self._wall = time.perf_counter()
        self._cpu = time.process_time()

    def read(self) -> Cost:
        """Return what was taken since."""
        return Cost(time.perf_counter() - self._wall, time.process_time() - self._cpu)


def measure_val(prepared: Prepared, observers: Sequence[Observer] = ()) -> Cost:
    """Measure the seed skill on val, from opening the journal until it is closed; every answer must be there."""
    meter = Meter()
    asyncio.run(_measure(prepared, observers))
    return meter.read()


async def _measure(prepared: Prepared, observers: Sequence[Observer]) -> None:
    clock = SystemClock()
    tasks = prepared.plan.val
    async with (
        opened_journal(prepared.workspace, clock) as journal,
        opened(prepared, journal, clock, "bench", observers) as session,
    ):
        board = await session.lab.measuring.measure(prepared.plan.seed_skill, tasks, label="bench", split="val")
        await session.run.close()
        journal.end_session(session.handle, "finished", "")
        await journal.sync()
    if board.n != len(tasks):
        raise RuntimeError(f"only {board.n} of {len(tasks)} tasks were answered: {board.cause}")
