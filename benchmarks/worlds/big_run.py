"""A run of four epochs over 400 train and 200 val tasks over HTTP: its wall against its longest chain of calls."""

from __future__ import annotations

from benchmarks.claims import Claim, Part, tell
from benchmarks.workspace import folder, prepared, stub, write_project
from benchmarks.worlds.chain import longest_chain
from benchmarks.worlds.training import trained

_TRAIN, _VAL, _TEST = 400, 200, 200
_MORE = {"train": {"epochs": 4, "batch_size": 40}, "stop": {"when": "never"}}
_LATENCY = {"target": 0.1, "optimizer": 0.4}
_SLOTS = 128
_MUST = 1.15


def measure() -> Claim:
    """Train once."""
    with folder() as path, stub(latency=_LATENCY["target"], optimizer_latency=_LATENCY["optimizer"]) as server:
        config = write_project(path, server.base_url, train=_TRAIN, val=_VAL, test=_TEST, more=_MORE)
        ready = prepared(config, workspace="run", concurrency=_SLOTS)
        run = trained(ready)
        report = (ready.workspace / "runs" / "bench" / "report.html").stat().st_size
    chain = longest_chain(run.events, _LATENCY)
    work = sum(_LATENCY[role] * calls for role, calls in run.calls.items())
    best = run.summary.scores.best.test
    return Claim(
        name="big_run",
        bar=None,
        unit=f"wall / longest chain at {_SLOTS} workers",
        parts=(Part("wall", run.seconds / chain.seconds, "<=", _MUST),),
        detail={
            "seconds": round(run.seconds, 2),
            "chain": chain,
            "latency": _LATENCY,
            "calls": run.calls,
            "utilisation": round(work / (run.seconds * _SLOTS), 4),
            "steps": run.summary.steps,
            "accepts": run.summary.accepts,
            "test": None if best is None else best.hard,
            "report_kb": round(report / 1000),
        },
    )


if __name__ == "__main__":
    tell(measure())
