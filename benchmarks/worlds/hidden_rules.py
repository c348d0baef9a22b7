"""The hidden-rules world over HTTP, under each rule of the gate: what the best skill scores on test."""

from __future__ import annotations

import msgspec

from benchmarks.claims import Claim, Part, tell
from benchmarks.workspace import folder, prepared, stub, write_project
from benchmarks.worlds.training import trained

_TRAIN, _VAL, _TEST = 80, 40, 40
_MORE = {"train": {"epochs": 4, "batch_size": 20}}
_SEEDS = (1, 2, 3)
_SLOTS = 24
_RULES = ("paired", "strict")


class _Row(msgspec.Struct, frozen=True, kw_only=True):
    """One run: scores on test, what was decided, and what it used."""

    seed: int
    initial: float | None
    best: float | None
    accepts: int
    rejects: int
    steps: int
    calls: dict[str, int]


def measure() -> Claim:
    """Train under each rule with a few seeds; the worst seed counts."""
    parts, detail = [], {}
    for rule in _RULES:
        rows = [_run(rule, seed) for seed in _SEEDS]
        worst = min((-1.0 if row.best is None else row.best) for row in rows)
        parts.append(Part(rule, worst, ">=", 1.0))
        detail[rule] = rows
    return Claim(name="hidden_rules", bar=None, unit="test score", parts=tuple(parts), detail=detail)


def _run(rule: str, seed: int) -> _Row:
    with folder() as path, stub() as server:
        config = write_project(path, server.base_url, train=_TRAIN, val=_VAL, test=_TEST, more=_MORE)
        sets = (f"gate.rule={rule}", f"train.seed={seed}")
        run = trained(prepared(config, workspace="run", concurrency=_SLOTS, sets=sets))
    scores, summary = run.summary.scores, run.summary
    return _Row(
        seed=seed,
        initial=None if scores.baseline.test is None else scores.baseline.test.hard,
        best=None if scores.best.test is None else scores.best.test.hard,
        accepts=summary.accepts,
        rejects=summary.rejects,
        steps=summary.steps,
        calls=run.calls,
    )


if __name__ == "__main__":
    tell(measure())
