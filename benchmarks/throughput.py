"""Bar 1: our client over the whole wall as a share of the raw client, both on the same stub, by turns."""

from __future__ import annotations

import asyncio
import statistics
import time
from pathlib import Path

import msgspec

from benchmarks import raw
from benchmarks.claims import Claim, Part, rounded, tell
from benchmarks.session import measure_val
from benchmarks.workspace import Stub, folder, prepared, request_body, stub, write_project


class _Case(msgspec.Struct, frozen=True, kw_only=True):
    concurrency: int
    latency: float
    calls: int
    rounds: int
    must: float


class _Found(msgspec.Struct, frozen=True, kw_only=True):
    """The rounds of one case: shares of raw, and calls a second of either."""

    latency_ms: float
    calls: int
    shares: list[float]
    raw_per_second: float
    ours_per_second: float
    max_in_flight: int


_CASES = (
    _Case(concurrency=8, latency=0.05, calls=240, rounds=3, must=0.95),
    _Case(concurrency=32, latency=0.05, calls=1_280, rounds=3, must=0.95),
    _Case(concurrency=128, latency=0.05, calls=5_120, rounds=5, must=0.95),
    _Case(concurrency=512, latency=0.25, calls=10_240, rounds=3, must=0.90),
)


def measure() -> Claim:
    """Measure every case."""
    parts, detail = [], {}
    for case in _CASES:
        with folder() as path, stub(latency=case.latency) as server:
            found = _measure(path, server, case)
        parts.append(Part(str(case.concurrency), statistics.median(found.shares), ">=", case.must))
        detail[str(case.concurrency)] = found
    return Claim(name="throughput", bar=1, unit="share of raw", parts=tuple(parts), detail=detail)


def _measure(path: Path, server: Stub, case: _Case) -> _Found:
    config = write_project(path, server.base_url, val=case.calls)
    body = request_body(prepared(config, workspace="none", concurrency=1))
    raws, ours = [], []
    for number in range(case.rounds):
        began = time.perf_counter()
        asyncio.run(raw.ask(server.port, body, calls=case.calls, concurrency=case.concurrency))
        raws.append(time.perf_counter() - began)
        ready = prepared(config, workspace=f"round-{number}", concurrency=case.concurrency)
        ours.append(measure_val(ready).wall)
    return _Found(
        latency_ms=case.latency * 1000,
        calls=case.calls,
        shares=rounded(first / second for first, second in zip(raws, ours, strict=True)),
        raw_per_second=round(case.calls / statistics.median(raws), 1),
        ours_per_second=round(case.calls / statistics.median(ours), 1),
        max_in_flight=server.stats()["target"].max_in_flight,
    )


if __name__ == "__main__":
    tell(measure())
