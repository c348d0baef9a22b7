"""Bar 11: a finished training of 10,000 calls, started again by the same command: nothing is paid twice."""

from __future__ import annotations

import json
import statistics
from pathlib import Path

from benchmarks.claims import Claim, Part, rounded, tell
from benchmarks.fresh import run_well, skillopt
from benchmarks.workspace import Stub, folder, stub, write_project

_TRAIN, _VAL, _TEST = 200, 700, 1_400
_MORE = {
    "train": {"epochs": 1, "batch_size": 20},
    "reflect": {"minibatch_size": 20},
    "stop": {"when": "never"},
    "limits": {"concurrency": 64},
}
_AGAIN = 3
_CALLS = 10_000
_MUST_SECONDS = 2.0


def measure() -> Claim:
    """Train once, then run the same command again a few times."""
    with folder() as path, stub() as server:
        config = write_project(path, server.base_url, train=_TRAIN, val=_VAL, test=_TEST, more=_MORE)
        command = skillopt("train", str(config), "--json")
        first = run_well(command)
        paid = _calls(server)
        if paid < _CALLS:
            raise RuntimeError(f"the run was meant to make {_CALLS} calls, but made {paid}")
        again = [run_well(command) for _ in range(_AGAIN)]
        repaid = _calls(server) - paid
        size = sum(file.stat().st_size for file in Path(path).rglob("*") if file.is_file())
    return Claim(
        name="resume",
        bar=11,
        unit="s; calls paid again",
        parts=(
            Part("wall", statistics.median(ran.wall for ran in again), "<", _MUST_SECONDS),
            Part("paid_again", float(repaid), "<=", 0.0),
        ),
        detail={
            "calls": paid,
            "first_run_seconds": round(first.wall, 2),
            "rounds": rounded(ran.wall for ran in again),
            "same_summary": len({_told(ran.output) for ran in (first, *again)}) == 1,
            "folder_mb": round(size / 1e6, 1),
        },
    )


def _calls(server: Stub) -> int:
    return sum(role.calls for role in server.stats().values())


def _told(output: str) -> str:
    """Return the summary without what a run took: all else is the same however often it is run."""
    summary = json.loads(output.splitlines()[0])
    del summary["wall_seconds"], summary["usage"]["overhead"]
    return json.dumps(summary)


if __name__ == "__main__":
    tell(measure())
