"""Bisecting rejected candidates keeps every promise of a run: kills, workers and caps change nothing."""

from __future__ import annotations

import pytest

from skillopt.domain.errors import BudgetReachedError, StoreError
from skillopt.domain.seeds import dice
from skillopt.kernel.events import CandidateBisected, GateDecided
from skillopt.kernel.memory import MemoryShelf
from skillopt.phases.gate import GateSettings
from skillopt.testing.faults import FaultPlan
from tests.simulation.house import House, appends, house, live

DEEP = GateSettings(bisect=True, bisect_levels=None)


def bisecting(seed: int, rate: float = 0.0) -> House:
    return house(seed, train_size=16, val=10).but(gate=DEEP).faulty(FaultPlan.random(seed, rate))


def test_some_rejects_are_saved_and_no_step_ends_with_less_than_it_began() -> None:
    saved = tried = 0
    for seed in range(1, 21):
        lived = live(bisecting(seed))
        assert lived.error is None, f"seed {seed}"
        verdicts = {gate.origin: gate.verdict for gate in lived.events_of(GateDecided)}
        for event in lived.events_of(CandidateBisected):
            tried += 1
            saved += event.kept != event.origin
            assert verdicts[event.kept] == ("reject" if event.kept == event.origin else "accept"), f"seed {seed}"
        scores = [record.current_score for record in lived.records if record.current_score is not None]
        assert scores == sorted(scores), f"seed {seed}"
    assert 0 < saved < tried


@pytest.mark.parametrize("rate", [0.0, 0.3])
def test_a_kill_anywhere_changes_nothing(rate: float) -> None:
    for seed in range(1, 13):
        home = bisecting(seed, rate)
        whole = live(home)
        kill = dice("bisect", seed).randrange(1, appends(home) + 1)
        shelf = MemoryShelf()
        killed, resumed = live(home, shelf, kill_at=kill), live(home, shelf)
        where = f"seed {seed}, killed after record {kill}"
        assert isinstance(killed.error, StoreError), where
        assert resumed.events == whole.events, where
        assert resumed.lasting == whole.lasting, where
        assert killed.served + resumed.served <= whole.served + killed.in_flight_at_kill, where


def test_any_number_of_workers_gives_the_same_bytes() -> None:
    for seed in range(1, 9):
        home = bisecting(seed, 0.2)
        whole = live(home)
        for width in (1, 64):
            assert live(home.at_once(width)).lasting == whole.lasting, f"seed {seed}, {width} workers"


def test_a_cap_in_the_middle_of_a_bisection_stops_and_goes_on() -> None:
    for seed in range(1, 9):
        home = bisecting(seed)
        whole = live(home)
        shelf = MemoryShelf()
        stopped = live(home.at_once(7, calls=whole.calls // 2), shelf)
        assert isinstance(stopped.error, BudgetReachedError), f"seed {seed}"
        assert live(home, shelf).lasting == whole.lasting, f"seed {seed}"
