"""How long whole runs take in virtual time, against the longest chain of calls that wait for each other.

Nothing is measured here: with fixed latencies and virtual time these are exact numbers.
"""

from __future__ import annotations

import itertools
import sys

import msgspec
import pytest

from benchmarks.worlds.chain import in_turn, longest_chain
from skillopt.domain.skill import Skill
from skillopt.kernel.limits.terms import LimitSettings
from skillopt.kernel.memory import MemoryShelf
from skillopt.phases.gate import GateSettings
from skillopt.testing.faults import FaultPlan
from skillopt.testing.worlds import hidden_rules_world
from skillopt.train.plan import Plan
from skillopt.train.settings import OptimizerSettings, StopSettings, TrainSettings
from tests.simulation.house import SEED_SKILL, House, Lived, dataset, house, live
from tests.simulation.test_invariants import check_ledger, lived_through

TARGET_SECONDS = 1.0
SEEDS = (1, 2, 3)


def hidden_rules(seed: int, *, optimizer_seconds: float, slots: int, speculation: int = 0) -> House:
    """Return the hidden-rules house of the numbers to beat: batch 20, 2 epochs."""
    environment = dataset(hidden_rules_world(seed))
    plan = Plan(
        seed_skill=Skill.from_text(SEED_SKILL),
        tasks=environment.tasks,
        train=TrainSettings(epochs=2, batch_size=20, seed=seed),
        optimizer=OptimizerSettings(),
        stop=StopSettings(when="never"),
    )
    return House(
        environment=environment,
        plan=plan,
        target_brain="hidden-rules",
        optimizer_brain="hidden-rules",
        latency=TARGET_SECONDS,
        optimizer_latency=optimizer_seconds,
        limits=LimitSettings(concurrency=slots, speculation=speculation),
    )


def over_the_chain(lived: Lived, optimizer_seconds: float) -> float:
    """Return how many times as long as its longest chain a run took."""
    return lived.summary.wall_seconds / longest_chain(lived.events, latencies(optimizer_seconds)).seconds


def latencies(optimizer_seconds: float) -> dict[str, float]:
    return {"target": TARGET_SECONDS, "optimizer": optimizer_seconds}


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("gate", [GateSettings(), GateSettings(rule="strict")], ids=lambda gate: gate.rule)
def test_no_run_takes_longer_than_its_phases_one_after_the_other(gate: GateSettings, seed: int) -> None:
    for slots, speculation in itertools.product((8, 24, 128), (0, 200)):
        home = hidden_rules(seed, optimizer_seconds=4.0, slots=slots, speculation=speculation).but(gate=gate)
        lived = live(home)
        assert lived.error is None, f"seed {seed}"
        wall, usage = lived.summary.wall_seconds, lived.summary.usage
        work = TARGET_SECONDS * usage.target.calls + 4.0 * usage.optimizer.calls
        chain = longest_chain(lived.events, latencies(4.0)).seconds
        phases = in_turn(lived.events, latencies(4.0), slots)
        said = f"{gate.rule}, seed {seed}, {slots} slots, {speculation} guesses: wall {wall:g} s, over the chain"
        said += f" {wall / chain:.3f}, over chain or slots {wall / max(chain, work / slots):.3f}, in turn {phases:g} s"
        sys.stdout.write(said + "\n")
        assert wall <= phases + 1e-6, said


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("optimizer_seconds", [1.0, 4.0])
def test_with_slots_for_all_a_run_takes_its_longest_chain(seed: int, optimizer_seconds: float) -> None:
    lived = live(hidden_rules(seed, optimizer_seconds=optimizer_seconds, slots=128))
    assert lived.error is None
    assert over_the_chain(lived, optimizer_seconds) == pytest.approx(1.0)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(
    ("optimizer_seconds", "speculation"),
    [
        pytest.param(4.0, 0, id="a slow optimizer, no extra call"),
        pytest.param(1.0, 200, id="equal latencies, with guesses"),
    ],
)
def test_with_24_slots_a_run_takes_hardly_longer(seed: int, optimizer_seconds: float, speculation: int) -> None:
    home = hidden_rules(seed, optimizer_seconds=optimizer_seconds, slots=24, speculation=speculation)
    lived = live(home)
    assert over_the_chain(lived, optimizer_seconds) <= 1.15, f"seed {seed}"
    assert lived.summary.usage.overhead.speculative <= speculation, f"seed {seed}"


@pytest.mark.parametrize("seed", SEEDS)
def test_the_same_bytes_for_any_number_of_slots_and_guesses(seed: int) -> None:
    whole = live(hidden_rules(seed, optimizer_seconds=4.0, slots=24))
    for slots, speculation in itertools.product((1, 8, 24, 128), (0, 7, 500)):
        again = live(hidden_rules(seed, optimizer_seconds=4.0, slots=slots, speculation=speculation))
        where = f"seed {seed}, {slots} slots, {speculation} guesses"
        assert again.events == whole.events, where
        assert again.lasting == whole.lasting, where
        overhead = again.summary.usage.overhead
        assert again.served == overhead.attempts - overhead.lost, where
        assert again.served == again.summary.usage.total.calls + overhead.speculative, where
        assert overhead.lost <= min(slots, speculation), where
        assert again.spent.early.calls <= speculation, where
        check_ledger([again], where)


@pytest.mark.parametrize("accumulation", [1, 2, 3])
@pytest.mark.parametrize("seed", range(1, 11))
def test_microbatches_asked_together_are_the_same_bytes_at_any_width(seed: int, accumulation: int) -> None:
    home = house(seed, train_size=11)
    settings = msgspec.structs.replace(home.plan.train, batch_size=3, accumulation=accumulation)
    home = home.but(plan=msgspec.structs.replace(home.plan, train=settings))
    whole = live(home)
    assert whole.error is None
    for slots, faults in itertools.product((1, 64), (FaultPlan(), FaultPlan.random(seed, 0.3))):
        again = live(home.faulty(faults).at_once(slots))
        assert again.lasting == whole.lasting, f"seed {seed}, {slots} slots, faults {faults.rate}"


@pytest.mark.parametrize("seed", range(1, 21))
def test_kills_while_the_run_is_ahead_of_itself_pay_for_nothing_twice(seed: int) -> None:
    home = house(seed).at_once(64).but(limits=LimitSettings(concurrency=64, speculation=seed % 3 * 10))
    whole = live(home)
    for kill in range(2, 60, 7):
        shelf = MemoryShelf()
        killed, resumed = lived_through(home, shelf, [kill])
        where = f"seed {seed}, killed after record {kill}"
        assert resumed.error is None, where
        assert resumed.events == whole.events, where
        guesses = home.limits.speculation
        assert killed.served + resumed.served <= whole.served + killed.in_flight_at_kill + guesses, where
        check_ledger((killed, resumed), where)
