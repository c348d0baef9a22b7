"""Bar 7: edits that help, through `lab.gate`: how many are kept, at how many calls, beside those that should not be."""

from __future__ import annotations

import argparse
import statistics

from benchmarks.claims import Claim, Part, tell
from benchmarks.gates.lane import alone, decide
from benchmarks.gates.mixed import SHARES, Kind, Share, World, chances_of, changed
from skillopt.domain.evidence.terms import Terms
from skillopt.domain.seeds import dice
from skillopt.phases.gate import GateSettings

_FIRST_SEED = 40_000  # no seed from here on was looked at while the test was made
_ROWS: tuple[tuple[str, Kind, int, int, bool], ...] = (
    ("two known trials", "mixed", 40, 2, False),
    ("one known trial", "mixed", 40, 1, False),
    ("fixes over all tasks", "mixed", 40, 3, True),
    ("chances as Beta(.5, .5)", "beta", 40, 3, False),
    ("chances uniform", "uniform", 40, 3, False),
    ("all coins", "coins", 40, 3, False),
    ("all 0.8", "steady", 40, 3, False),
    ("10 tasks", "mixed", 10, 3, False),
    ("20 tasks", "mixed", 20, 3, False),
    ("100 tasks", "mixed", 100, 3, False),
    ("200 tasks", "mixed", 200, 3, False),
)


def measure(gates: int = 400, others: int = 1000) -> Claim:
    """Send edits of each kind through fresh gates; the other worlds follow the same course without a run."""
    through = {share: [_gate(share, _FIRST_SEED + seed) for seed in range(gates)] for share in SHARES}
    rates = {share: statistics.mean(accepted for accepted, _ in found) for share, found in through.items()}
    calls = {share: statistics.mean(asked for _, asked in found) for share, found in through.items()}
    return Claim(
        name="gate_power",
        bar=7,
        unit="share of edits kept; candidate calls a gate",
        parts=(
            Part("fix 20 %", rates["fix 20 %"], ">=", 0.95),
            Part("fix 10 %", rates["fix 10 %"], ">=", 0.55),
            Part("no-op", rates["no-op"], "<=", 0.05),
            Part("trade 10 %", rates["trade 10 %"], "<=", 0.05),
            Part("most calls", max(calls.values()), "<=", 64.0),
        ),
        detail={
            "gates_each": gates,
            "calls": {share: round(asked, 1) for share, asked in calls.items()},
            "others_without_a_run": {name: _row(place, others) for place, (name, *_) in enumerate(_ROWS)},
            "gates_each_without_a_run": others,
        },
    )


def _gate(share: Share, seed: int) -> tuple[bool, int]:
    draw = dice("power", seed, share)
    before = chances_of("mixed", 40, draw)
    world = World(seed=seed, before=before, after={1: changed(before, share, draw)})
    (decision,) = decide(world, GateSettings(), [1])
    return decision.accepted, decision.calls


def _row(place: int, gates: int) -> dict[str, list[float]]:
    """Return, for each kind of edit, the share that is kept and the mean number of calls."""
    _, kind, tasks, trials, anywhere = _ROWS[place]
    row: dict[str, list[float]] = {}
    for share in SHARES:
        kept = asked = 0
        for seed in range(_FIRST_SEED, _FIRST_SEED + gates):
            draw = dice("row", place, seed, share)
            before = chances_of(kind, tasks, draw)
            after = changed(before, share, draw, anywhere=anywhere)
            order = draw.sample(range(tasks), tasks)
            finding, calls = alone(before, after, Terms(order=tuple(order), trials=trials), place, seed, share)
            kept += finding.kind == "accept"
            asked += calls
        row[share] = [round(kept / gates, 3), round(asked / gates, 1)]
    return row


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m benchmarks.gate_power", description=__doc__)
    parser.add_argument("--gates", type=int, default=400)
    parser.add_argument("--others", type=int, default=1000)
    asked = parser.parse_args()
    tell(measure(asked.gates, asked.others))
