"""A whole training as the application makes it, in this process, with its journal on disk.
Owns one run from opening to summary; refuses to know worlds and bars."""

from __future__ import annotations

import asyncio
import hashlib
import time

import msgspec

from skillopt.app.project.prepare import Prepared
from skillopt.app.session import Ended, Interrupt, train_session
from skillopt.app.workspace import opened_journal
from skillopt.kernel.clock import SystemClock
from skillopt.kernel.events import Event
from skillopt.train.summary import Summary

_NAME = "bench"


class Trained(msgspec.Struct, frozen=True, kw_only=True):
    """A training that reached its end."""

    summary: Summary
    events: tuple[Event, ...]
    seconds: float
    digest: str

    @property
    def calls(self) -> dict[str, int]:
        """How many answers of each role were used."""
        usage = self.summary.usage
        return {"target": usage.target.calls, "optimizer": usage.optimizer.calls}


def trained(ready: Prepared) -> Trained:
    """Train, and say what came of it; anything but a finished run is an error of the benchmark."""
    began = time.perf_counter()
    ended, events = asyncio.run(_train(ready))
    seconds = time.perf_counter() - began
    if ended.error is not None:
        raise RuntimeError(f"the run ended with {ended.error}")
    return Trained(summary=ended.summary, events=events, seconds=seconds, digest=_lasting(ready))


async def _train(ready: Prepared) -> tuple[Ended, tuple[Event, ...]]:
    clock = SystemClock()
    async with opened_journal(ready.workspace, clock) as journal:
        ended = await train_session(ready, journal, clock, name=_NAME, observers=(), started=_nobody_interrupts)
        return ended, journal.events(_NAME)


def _nobody_interrupts(_interrupt: Interrupt) -> None:
    """A benchmark is stopped from outside."""


def _lasting(ready: Prepared) -> str:
    """Return a digest of the bytes that must not depend on workers: the best skill and the history."""
    folder = ready.workspace / "runs" / _NAME
    digest = hashlib.sha256()
    for name in ("best_skill.md", "history.json"):
        digest.update((folder / name).read_bytes())
    return digest.hexdigest()[:16]
