"""Whole runs under the paired gate, in virtual time: the same whatever happens to them, and nothing gets in by luck."""

from __future__ import annotations

import pytest

from skillopt.domain.errors import StoreError
from skillopt.domain.seeds import dice
from skillopt.kernel.events import GateDecided
from skillopt.kernel.memory import MemoryShelf
from skillopt.phases.gate import GateSettings
from skillopt.testing.faults import FaultPlan
from tests.simulation.house import House, appends, house, live

GATES = (
    GateSettings(),
    GateSettings(metric="soft", control="run"),
    GateSettings(deterministic=True),
    GateSettings(known_trials=1, guard="block", control="fdr"),
)


def paired(seed: int) -> House:
    return house(seed, val=20).but(gate=GATES[seed % len(GATES)])


@pytest.mark.parametrize("seed", range(1, 33))
def test_a_crash_anywhere_changes_nothing(seed: int) -> None:
    draw = dice("crash", seed)
    home = paired(seed).faulty(FaultPlan.random(seed, 0.3) if seed % 2 else FaultPlan())
    whole, shelf = live(home), MemoryShelf()
    assert whole.error is None, f"seed {seed}"
    kill = draw.randrange(1, appends(home) + 1)
    killed, resumed = live(home, shelf, kill_at=kill), live(home, shelf)
    where = f"seed {seed}, killed after record {kill}"
    assert isinstance(killed.error, StoreError), where
    assert resumed.events == whole.events, where
    assert resumed.lasting == whole.lasting, where
    assert killed.served + resumed.served <= whole.served + killed.in_flight_at_kill, where


@pytest.mark.parametrize("seed", range(1, 17))
def test_the_number_of_workers_and_transient_faults_change_nothing(seed: int) -> None:
    whole = live(paired(seed))
    for width in (1, 2, 64):
        for faults in (FaultPlan(), FaultPlan.random(seed, 0.3)):
            again = live(paired(seed).faulty(faults).at_once(width))
            assert again.events == whole.events, f"seed {seed}, {width} workers, faults {faults.rate}"
            assert again.lasting == whole.lasting, f"seed {seed}, {width} workers, faults {faults.rate}"


def test_rules_that_help_get_in_and_the_one_that_hurts_does_not() -> None:
    accepts = 0
    for seed in range(1, 25):
        lived = live(house(seed, val=40, epochs=3).but(gate=GateSettings()))
        assert lived.error is None, f"seed {seed}"
        accepts += sum(1 for gate in lived.events_of(GateDecided) if gate.verdict == "accept")
        claimed, baseline = lived.summary.claimed_val, lived.summary.scores.baseline.val
        assert claimed is not None, f"seed {seed}"
        assert baseline is not None, f"seed {seed}"
        assert baseline.hard is not None, f"seed {seed}"
        assert claimed >= baseline.hard, f"seed {seed}"
    assert accepts >= 24
