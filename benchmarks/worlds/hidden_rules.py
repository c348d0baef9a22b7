"""The hidden-rules world over HTTP, under each rule of the gate: what the best skill scores on test."""

from __future__ import annotations

import msgspec

from benchmarks.claims import Claim, Part, tell
from benchmarks.workspace import SKILL, folder, prepared, stub, write_world
from benchmarks.worlds.training import trained
from skillopt.testing.worlds import hidden_rules_world

_TRAIN, _VAL, _TEST = 80, 40, 40
_MORE = {"train": {"epochs": 4, "batch_size": 20}}
_SEEDS = (1, 2, 3, 4, 5)
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
    """Train under each rule in a few worlds; the worst counts."""
    parts, detail = [], {}
    for rule in _RULES:
        rows = [_run(rule, seed) for seed in _SEEDS]
        worst = min((-1.0 if row.best is None else row.best) for row in rows)
        parts.append(Part(rule, worst, ">=", 1.0))
        detail[rule] = rows
    return Claim(name="hidden_rules", bar=None, unit="test score", parts=tuple(parts), detail=detail)


def _run(rule: str, seed: int) -> _Row:
    world = hidden_rules_world(seed, _TRAIN, _VAL, _TEST)
    with folder() as path, stub() as server:
        config = write_world(path, server.base_url, world, skill=SKILL, more=_MORE)
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
