"""How many calls (bar 8) until an accepted skill has a perfect val score: hidden-rules, four edits a step, train shown.
Answers count where the run uses them, in program order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import msgspec

from benchmarks.claims import Claim, Part, tell
from benchmarks.workspace import folder, prepared, stub, write_project
from benchmarks.worlds.training import trained
from skillopt.kernel.events import Event, GateDecided, PhaseEnded
from skillopt.phases.gate import GateSettings

_TRAIN, _VAL = 80, 40
_MORE = {
    "train": {"epochs": 4, "batch_size": 10},
    "optimizer": {"edit_budget": 4, "min_edit_budget": 4},
    "reflect": {"minibatch_size": 20, "failures_only": True},
    "test": [],
}
_SEEDS = (1, 2, 3, 4, 5)
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
    """Train with a few seeds; the median by target calls counts, and a run that is never perfect is no figure."""
    gates = ("deterministic",) if "deterministic" in GateSettings.__struct_fields__ else ()
    sets = tuple(f"gate.{name}=true" for name in gates)
    costs = [_run(seed, sets) for seed in _SEEDS]
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
        detail={"seeds": dict(zip(map(str, _SEEDS), costs, strict=True)), "gate": GateSettings().rule, "set": sets},
    )


def _run(seed: int, sets: tuple[str, ...]) -> Cost | None:
    with folder() as path, stub() as server:
        config = write_project(path, server.base_url, train=_TRAIN, val=_VAL, more=_MORE)
        ready = prepared(config, workspace="run", concurrency=_SLOTS, sets=(f"train.seed={seed}", *sets))
        return cost_of_perfection(trained(ready).events)


if __name__ == "__main__":
    tell(measure())
