"""How many calls (bar 8) until an accepted skill has a perfect val score: hidden-rules, four edits a step, train shown.
Answers count where the run uses them, in program order; under a cap on calls nothing is asked before its turn."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Iterable

import msgspec

from benchmarks.claims import Claim, Part, tell
from benchmarks.workspace import SKILL, folder, prepared, stub, write_world
from benchmarks.worlds.training import trained
from skillopt.kernel.events import Event, GateDecided, PhaseEnded
from skillopt.testing.worlds import hidden_rules_world

_TRAIN, _VAL = 80, 40
_MORE = {
    "train": {"epochs": 4, "batch_size": 16},
    "optimizer": {"edit_budget": 4, "min_edit_budget": 4},
    "reflect": {"minibatch_size": 20, "failures_only": True},
    "gate": {"rule": "paired", "deterministic": True, "wave": 4},
    "limits": {"calls": 1000},
    "test": [],
}
_SEEDS = tuple(range(1, 26))
_SLOTS = 24
_MUST_TARGET, _MUST_OPTIMIZER = 120, 6


class Cost(msgspec.Struct, frozen=True):
    """Calls of a run up to a moment."""

    target: int
    optimizer: int


def cost_of_perfection(events: Iterable[Event]) -> Cost | None:
    """Return what was used until an accepted skill had a perfect val score; None if none ever had."""
    used: Counter[str] = Counter()
    for event in events:
        if isinstance(event, PhaseEnded):
            used[event.role] += event.usage.calls
        elif isinstance(event, GateDecided) and event.verdict == "accept" and event.candidate == 1.0:
            return Cost(used["target"], used["optimizer"])
    return None


def measure() -> Claim:
    """Train in a world of its own for each seed; the median counts, and a run that is never perfect is no figure."""
    with stub() as server:
        costs = [_run(server.base_url, seed) for seed in _SEEDS]
    perfect = sorted((cost for cost in costs if cost is not None), key=lambda cost: cost.target)
    middle = perfect[len(perfect) // 2] if len(perfect) == len(costs) else None
    return Claim(
        name="calls_to_perfect",
        bar=8,
        unit="calls",
        parts=(
            Part("target", None if middle is None else middle.target, "<=", _MUST_TARGET),
            Part("optimizer", None if middle is None else middle.optimizer, "<=", _MUST_OPTIMIZER),
        ),
        detail={
            "settings": _MORE,
            "shares": {f"at most {_MUST_TARGET}": sum(cost.target <= _MUST_TARGET for cost in perfect) / len(costs)},
            "mean": statistics.mean(cost.target for cost in perfect) if perfect else None,
            "seeds": dict(zip(map(str, _SEEDS), costs, strict=True)),
        },
    )


def _run(base_url: str, seed: int) -> Cost | None:
    world = hidden_rules_world(seed, _TRAIN, _VAL, 0)
    with folder() as path:
        config = write_world(path, base_url, world, skill=SKILL, more=_MORE)
        ready = prepared(config, workspace="run", concurrency=_SLOTS, sets=(f"train.seed={seed}",))
        return cost_of_perfection(trained(ready).events)


if __name__ == "__main__":
    tell(measure())
