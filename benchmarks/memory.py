"""Bar 12: the resident memory of a process that measures a skill on 100,000 tasks, 128 at once.
"Flat" means that the second half of the calls adds little beyond the answers' own need; the detail explains it."""

from __future__ import annotations

import argparse
import resource
import sys
from pathlib import Path

import msgspec

from benchmarks.claims import Claim, Part, tell
from benchmarks.fresh import python, run_well
from benchmarks.session import measure_val
from benchmarks.workspace import folder, prepared, stub, write_project
from skillopt.kernel.events import Event, Signal, UnitSettled

_TASKS = 100_000
_CONCURRENCY = 128
_MUST_MB = 400.0
_MUST_GROWTH = 0.15
_PAGE = resource.getpagesize()


class _Peak(msgspec.Struct, frozen=True, kw_only=True):
    """What a fresh process says of itself: megabytes."""

    ready: float
    halfway: float
    answered: float
    peak: float
    seconds: float


class _Sampler:
    """Watches the run from inside, and reads the resident memory halfway through the calls and after the last."""

    def __init__(self, calls: int) -> None:
        self._calls = calls
        self._settled = 0
        self.samples: list[float] = []

    def see(self, fact: Event | Signal) -> None:
        """Count the answers."""
        if isinstance(fact, UnitSettled):
            self._settled += 1
            if self._settled in {self._calls // 2, self._calls}:
                self.samples.append(_resident())


def measure() -> Claim:
    """Run the measured process and read what it says of itself."""
    with folder() as path, stub() as server:
        config = write_project(path, server.base_url, val=_TASKS)
        ran = run_well(python("-m", "benchmarks.memory", "--inside", str(config)), timeout=300)
    peak = msgspec.json.decode(ran.output, type=_Peak)
    return Claim(
        name="memory",
        bar=12,
        unit="MB; growth",
        parts=(
            Part("peak_mb", peak.peak, "<", _MUST_MB),
            Part("growth_in_second_half", peak.answered / peak.halfway - 1, "<=", _MUST_GROWTH),
        ),
        detail={
            "tasks": _TASKS,
            "concurrency": _CONCURRENCY,
            "mb": peak,
            "meaning": "ready: tasks read, nothing asked. halfway, answered: after half of the calls and all; a "
            "call leaves behind its key and the number of its answer. peak: answers, scores and the event that holds "
            "them, read back once at the end of the phase; they are the result itself.",
        },
    )


def _inside(config: Path) -> _Peak:
    ready = prepared(config, workspace="memory", concurrency=_CONCURRENCY)
    before = _resident()
    sampler = _Sampler(_TASKS)
    cost = measure_val(ready, (sampler,))
    halfway, answered = sampler.samples
    return _Peak(
        ready=before,
        halfway=halfway,
        answered=answered,
        peak=round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, 1),
        seconds=round(cost.wall, 1),
    )


def _resident() -> float:
    """Return what this process has in memory now, in megabytes."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return round(pages * _PAGE / 2**20, 1)


def main() -> None:
    """Measure; with --inside, be the process that is measured."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.memory", description=__doc__)
    parser.add_argument("--inside", type=Path, metavar="CONFIG", help="be the process that is measured")
    flags = parser.parse_args()
    if flags.inside is None:
        tell(measure())
    else:
        sys.stdout.write(msgspec.json.encode(_inside(flags.inside)).decode())


if __name__ == "__main__":
    main()
