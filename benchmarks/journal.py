"""Bar 14: answers a second that the journal makes durable, and its share of the wall at an everyday pace.

The share counts the CPU of all threads beyond that of pacing alone, and the time a whole run stands still for it. It is
the median of rounds that each pace alone and then with a journal, because other programs make either dearer.
"""

from __future__ import annotations

import asyncio
import hashlib
import statistics
import time
from collections.abc import AsyncIterator
from pathlib import Path

import msgspec

from benchmarks.claims import Claim, Part, rounded, tell
from benchmarks.session import Meter
from benchmarks.workspace import folder
from skillopt.domain.chat import Reply
from skillopt.domain.usage import Usage
from skillopt.kernel.clock import SystemClock
from skillopt.kernel.journal import Intent, Result, RunHandle
from skillopt.store.sqlite import SqliteJournal

_CONCURRENCY = 64
_ANSWERS = 10_000
_SYNC_EVERY = 100
_PACE = 100
_PACED_SECONDS = 5
_IN_FLIGHT = 50
_ROUNDS = 3
_MUST_PER_SECOND = 2_000
_MUST_SHARE = 0.01
_WORST = Usage(calls=1, input_tokens=4_000, output_tokens=4_096, nano_usd=12_000)
_REPLY = Reply(
    text="The notes were read in order, and the later one was trusted. " * 10 + "<answer>amber anchor 1234</answer>",
    usage=Usage(calls=1, input_tokens=1_000, output_tokens=160, nano_usd=2_000),
    model="stub",
    request_id="stub",
    seconds=0.5,
)


class _Paced(msgspec.Struct, frozen=True, kw_only=True):
    """What the journal took of a run that makes calls at a fixed pace, in seconds."""

    wall: float
    cpu: float
    still: float
    median_intend: float
    longest_intend: float

    @property
    def share(self) -> float:
        """The part of the wall that the journal takes."""
        return (self.cpu + self.still) / self.wall


class _Book:
    """A journal on disk with one open run."""

    def __init__(self, path: Path) -> None:
        self._journal = SqliteJournal(path / "journal.db", clock=SystemClock())
        self._handle: RunHandle = self._journal.open_run("bench", b"")
        self.sync = self._journal.sync
        self.close = self._journal.close

    async def intend(self, number: int) -> None:
        """Record that call `number` is about to be made."""
        intent = Intent(attempt=number, key=_key(number), role="target", worst=_WORST)
        await self._journal.intend(self._handle, intent)

    def settle(self, number: int) -> None:
        """Record its answer."""
        result = Result(attempt=number, key=_key(number), charged=_REPLY.usage, value=_REPLY)
        self._journal.settle(self._handle, result)


def measure() -> Claim:
    """Measure durable answers a second with either way of syncing, then the share at an everyday pace."""
    at_end = [_rate(None) for _ in range(_ROUNDS)]
    often = [_rate(_SYNC_EVERY) for _ in range(_ROUNDS)]
    paced = [_pace() for _ in range(_ROUNDS)]
    share = statistics.median(each.share for each in paced)
    return Claim(
        name="journal",
        bar=14,
        unit="answers/s; share of wall",
        parts=(
            Part("synced_at_end", statistics.median(at_end), ">=", _MUST_PER_SECOND),
            Part(f"synced_every_{_SYNC_EVERY}", statistics.median(often), ">=", _MUST_PER_SECOND),
            Part(f"share_at_{_PACE}_calls_a_second", share, "<", _MUST_SHARE),
        ),
        detail={
            "answers": _ANSWERS,
            "concurrency": _CONCURRENCY,
            "synced_at_end": rounded(at_end),
            "synced_every": rounded(often),
            "shares": rounded(each.share for each in paced),
            "paced": paced,
        },
    )


def _rate(sync_every: int | None) -> float:
    with folder() as path:
        meter = Meter()
        asyncio.run(_fill(path, sync_every))
        return _ANSWERS / meter.read().wall


def _pace() -> _Paced:
    with folder() as path:
        return asyncio.run(_paced(path))


async def _fill(path: Path, sync_every: int | None) -> None:
    """Record all answers, many at once, until they are durable."""
    book = _Book(path)
    numbers = iter(range(1, _ANSWERS + 1))

    async def worker() -> None:
        for number in numbers:
            await book.intend(number)
            book.settle(number)
            if sync_every is not None and number % sync_every == 0:
                await book.sync()

    await asyncio.gather(*(worker() for _ in range(_CONCURRENCY)))
    await book.sync()
    await book.close()


async def _paced(path: Path) -> _Paced:
    """Make calls at a fixed pace, first without a journal and then with one; an answer is followed by the next call."""
    alone = Meter()
    async for _ in _ticks():
        pass
    base = alone.read()
    book = _Book(path)
    waits: list[float] = []
    meter = Meter()
    async for number in _ticks():
        if number > _IN_FLIGHT:
            book.settle(number - _IN_FLIGHT)
        began = time.perf_counter()
        await book.intend(number)
        waits.append(time.perf_counter() - began)
    began = time.perf_counter()
    await book.sync()
    still = time.perf_counter() - began
    took = meter.read()
    await book.close()
    return _Paced(
        wall=took.wall,
        cpu=took.cpu - base.cpu,
        still=still,
        median_intend=statistics.median(waits),
        longest_intend=max(waits),
    )


async def _ticks() -> AsyncIterator[int]:
    """Yield the numbers of calls at the pace."""
    began = time.perf_counter()
    for number in range(1, _PACE * _PACED_SECONDS + 1):
        await asyncio.sleep(began + number / _PACE - time.perf_counter())
        yield number


def _key(number: int) -> bytes:
    return hashlib.blake2b(number.to_bytes(8, "big"), digest_size=16).digest()


if __name__ == "__main__":
    tell(measure())
