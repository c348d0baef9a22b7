"""What the gate keeps, through `lab.gate` itself; `python -m benchmarks gate_null gate_power` prints more of it."""

from __future__ import annotations

import statistics

from benchmarks.gates.lane import decide
from benchmarks.gates.mixed import Share, World, chances_of, changed
from skillopt.domain.seeds import dice
from skillopt.phases.gate import GateSettings


def rate(share: Share, gates: int) -> tuple[float, float]:
    """Return which share of such edits is kept in the mixed world, and the mean number of candidate calls."""
    kept, calls = [], []
    for seed in range(gates):
        draw = dice("rate", seed, share)
        before = chances_of("mixed", 40, draw)
        (decision,) = decide(
            World(seed=seed, before=before, after={1: changed(before, share, draw)}), GateSettings(), [1]
        )
        kept.append(decision.accepted)
        calls.append(decision.calls)
    return statistics.mean(kept), statistics.mean(calls)


def test_a_chain_of_no_ops_keeps_few_and_claims_what_is_true() -> None:
    chains = [decide(World(seed=seed, before=(0.5,) * 40), GateSettings(), range(1, 21)) for seed in range(10)]
    decisions = [decision for chain in chains for decision in chain]
    assert sum(decision.accepted for decision in decisions) <= 0.05 * len(decisions)
    assert abs(statistics.mean(each.claimed - each.true for each in decisions)) <= 0.03


def test_a_fix_of_a_fifth_is_kept_and_a_trade_or_nothing_is_not() -> None:
    fix, calls = rate("fix 20 %", 60)
    assert fix >= 0.95
    assert calls <= 64
    nothing, calls = rate("no-op", 60)
    assert nothing <= 0.05
    assert calls <= 64
    assert rate("trade 10 %", 60)[0] <= 0.05
