"""Bar 6: edits that change nothing, through `lab.gate`: how many are kept, and how far the claimed scores are off."""

from __future__ import annotations

import argparse
import math
import statistics

from benchmarks.claims import Claim, Part, tell
from benchmarks.gates.lane import Decision, decide
from benchmarks.gates.mixed import World, chances_of
from skillopt.domain.scores import wilson
from skillopt.domain.seeds import dice
from skillopt.phases.gate import GateSettings

_TASKS = 40
_MANY_TASKS = 200
_FIRST_SEED = 20_000  # no seed from here on was looked at while the test was made


def measure(chains: int = 24, runs: int = 40) -> Claim:
    """Send no-ops through fresh gates, chains of 20 gates, and runs of 30 under control over the run."""
    chained = [_coins(_FIRST_SEED + chain, GateSettings(), 20, _TASKS) for chain in range(chains)]
    decisions = [decision for chain in chained for decision in chain]
    kept = sum(decision.accepted for decision in decisions)
    large = [_coins(_FIRST_SEED + 500 + chain, GateSettings(), 20, _MANY_TASKS) for chain in range(chains)]
    controlled = [_coins(_FIRST_SEED + 1000 + run, GateSettings(control="run"), 30, _TASKS) for run in range(runs)]
    shipped = sum(any(decision.accepted for decision in run) for run in controlled)
    low, high = wilson(kept / len(decisions), len(decisions))
    return Claim(
        name="gate_null",
        bar=6,
        unit="share of no-ops kept; share of runs of 30 that ship one; bias of the claimed score",
        parts=(
            Part("kept", kept / len(decisions), "<=", 0.05),
            Part("runs_that_ship", shipped / runs, "<=", 0.05),
            Part("bias", abs(_bias(chained)), "<=", 0.02),
            Part("bias_200_tasks", abs(_bias(large)), "<=", 0.02),
        ),
        detail={
            "proposals": len(decisions),
            "kept": kept,
            "interval": [round(low, 4), round(high, 4)],
            "runs": runs,
            "runs_that_ship": shipped,
            "runs_interval": [round(each, 4) for each in wilson(shipped / runs, runs)],
            "chains": chains,
            "mean_distance_40_tasks": round(_distance(chained), 4),
            "mean_distance_200_tasks": round(_distance(large), 4),
            "sampling_alone_40_tasks": round(_sampling_alone(_TASKS), 4),
            "sampling_alone_200_tasks": round(_sampling_alone(_MANY_TASKS), 4),
            "calls_a_gate": round(statistics.mean(decision.calls for decision in decisions), 1),
        },
    )


def _coins(seed: int, settings: GateSettings, gates: int, tasks: int) -> list[Decision]:
    world = World(seed=seed, before=chances_of("coins", tasks, dice("coins", seed)))
    return decide(world, settings, range(1, gates + 1))


def _bias(chains: list[list[Decision]]) -> float:
    return statistics.mean(each.claimed - each.true for chain in chains for each in chain)


def _distance(chains: list[list[Decision]]) -> float:
    return statistics.mean(abs(each.claimed - each.true) for chain in chains for each in chain)


def _sampling_alone(tasks: int) -> float:
    """Return the mean distance of the mean of fair coins, each thrown as often as a bar is, from one half."""
    throws = tasks * GateSettings().known_trials
    return math.sqrt(2 / math.pi) * 0.5 / math.sqrt(throws)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m benchmarks.gate_null", description=__doc__)
    parser.add_argument("--chains", type=int, default=24)
    parser.add_argument("--runs", type=int, default=40)
    asked = parser.parse_args()
    tell(measure(asked.chains, asked.runs))
