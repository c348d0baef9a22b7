"""What holds for every run (the numbers are those of test_invariants), repeated with everything on that a training can
do: accumulation, guidance, advice and reminders, all ways of changing a skill, all rules of the gate, judges, guesses.
"""

from __future__ import annotations

import itertools
import sys
from collections import Counter
from collections.abc import Iterator

import msgspec
import pytest

from skillopt.domain.errors import BudgetReachedError, StoreError
from skillopt.domain.seeds import dice
from skillopt.domain.usage import NOTHING
from skillopt.kernel.events import (
    BudgetDecided,
    CandidateBisected,
    GateDecided,
    MetaSkillWritten,
    NotesTaken,
    PairsCompared,
    SlowUpdated,
)
from skillopt.kernel.memory import MemoryShelf
from skillopt.kernel.work import STAGES
from skillopt.testing.faults import FaultPlan
from tests.simulation.everything import ALL, Variant, everything, kills
from tests.simulation.house import House, Lived, appends, live
from tests.simulation.test_invariants import WIDTHS, check_ledger, lived_through, some_faults

VERDICTS = {"accept", "reject", "inconclusive"}

every_variant = pytest.mark.parametrize("variant", ALL)


def did(lived: Lived) -> Iterator[str]:
    """Yield what a run did, in a word for each time."""
    yield from (f"gate {each.rule}: {each.verdict}" for each in lived.events_of(GateDecided))
    yield from (f"guidance: {each.action}" for each in lived.events_of(SlowUpdated))
    yield from (f"advice: {each.action}" for each in lived.events_of(MetaSkillWritten))
    yield from ("reminders" for each in lived.events_of(NotesTaken) if each.added)
    yield from ("fewer reminders" for each in lived.events_of(NotesTaken) if each.consolidated is not None)
    yield from ("halves" for _ in lived.events_of(CandidateBisected))
    yield from ("side by side" for _ in lived.events_of(PairsCompared))
    yield from ("own budget" for each in lived.events_of(BudgetDecided))


def test_the_houses_do_everything() -> None:
    done = Counter[str]()
    for variant, seed in itertools.product(ALL, range(1, 9)):
        lived = live(everything(variant, seed))
        assert lived.error is None, f"{variant}, seed {seed}"
        done.update(did(lived))
        done.update(path.rsplit("/", 1)[-1] for path in lived.view.stages)
    sys.stdout.write(f"{dict(sorted(done.items()))}\n")
    assert {each.partition(": ")[2] for each in done if each.startswith("gate paired")} == VERDICTS
    assert {"gate strict: accept", "gate strict: reject", "gate force: accept"} <= set(done)
    assert {f"guidance: {each}" for each in ("accept", "force_accept", "reject", "inject_placeholder")} <= set(done)
    assert {"advice: write_meta_skill", "halves", "side by side", "own budget", "reminders"} <= set(done)
    assert set(STAGES) <= set(done), "some stage is never asked"


@every_variant
def test_1_2_3_a_crash_where_a_phase_closes_and_at_many_other_records_changes_nothing(variant: Variant) -> None:
    seed = 2 + ALL.index(variant)
    home = everything(variant, seed).faulty(some_faults(seed) if seed % 2 else FaultPlan())
    whole, points = live(home), kills(home, seed)
    assert whole.error is None
    for kill in points:
        killed, resumed = lived_through(home, MemoryShelf(), [kill])
        where = f"{variant}, seed {seed}, killed after record {kill}"
        assert isinstance(killed.error, StoreError), where
        assert resumed.events == whole.events, where
        assert resumed.lasting == whole.lasting, where
        check_paid_once((killed, resumed), whole, home, where)
        check_ledger((killed, resumed), where)
    sys.stdout.write(f"{variant}: killed after {len(points)} of {appends(home)} records\n")
    assert len(points) >= 60


def check_paid_once(sessions: tuple[Lived, ...], whole: Lived, home: House, where: str) -> None:
    """Only what was under way at a kill may be paid for again, and guesses may differ."""
    served, in_flight = (sum(each.served for each in sessions), sum(each.in_flight_at_kill for each in sessions))
    assert served <= whole.served + in_flight + home.limits.speculation, where


@every_variant
def test_1_2_3_two_crashes_anywhere_change_nothing(variant: Variant) -> None:
    for seed in range(1, 9):
        draw = dice("twice", variant, seed)
        home = everything(variant, seed).faulty(some_faults(seed) if seed % 2 else FaultPlan())
        home = home.at_once(draw.choice(WIDTHS))
        whole, last = live(home), appends(home)
        points = [draw.randrange(1, last + 1) for _ in range(2)]
        sessions = lived_through(home, MemoryShelf(), points)
        where = f"{variant}, seed {seed}, killed after records {points}"
        assert sessions[-1].error is None, where
        assert sessions[-1].events == whole.events, where
        assert sessions[-1].lasting == whole.lasting, where
        check_paid_once(tuple(sessions), whole, home, where)
        check_ledger(sessions, where)


@every_variant
def test_3_the_ledger_is_what_the_models_counted(variant: Variant) -> None:
    for seed in range(1, 6):
        for faults in (FaultPlan(), some_faults(seed)):
            lived = live(everything(variant, seed).faulty(faults))
            usage, overhead = lived.summary.usage, lived.summary.usage.overhead
            where = f"{variant}, seed {seed}, faults {faults.rate}"
            assert overhead.attempts == lived.calls, where
            assert overhead.failed == lived.faults, where
            assert usage.total.calls + overhead.speculative == lived.served - overhead.lost, where
            assert lived.spent.charged == sum(lived.view.usage.values(), NOTHING) + lived.spent.unused_usage + (
                lived.spent.failed_usage + lived.spent.lost_usage
            ), where
            check_ledger([lived], where)


@every_variant
def test_4_the_number_of_workers_and_transient_faults_change_nothing(variant: Variant) -> None:
    for seed in range(1, 4):
        home = everything(variant, seed)
        whole = live(home)
        assert whole.error is None, f"{variant}, seed {seed}"
        for width, faults in itertools.product(WIDTHS, (FaultPlan(), some_faults(seed))):
            again = live(home.faulty(faults).at_once(width))
            where = f"{variant}, seed {seed}, {width} workers, faults {faults.rate}"
            assert again.events == whole.events, where
            assert again.lasting == whole.lasting, where


@every_variant
def test_7_no_cap_on_calls_is_overshot_and_a_raised_one_goes_on(variant: Variant) -> None:
    seed = 9 + ALL.index(variant)
    home = everything(variant, seed, small=True).faulty(some_faults(seed)).at_once(64)
    whole = live(home)
    for cap in range(home.limits.speculation + seed % 5, whole.calls + 1, 5):
        capped, shelf = home.at_once(64, calls=cap), MemoryShelf()
        kill = dice("kill", seed, cap).randrange(1, 80)
        sessions = [live(capped, shelf, kill_at=kill), live(capped, shelf)]
        where = f"{variant}, seed {seed}, cap of {cap} calls, killed after record {kill}"
        assert sum(each.calls for each in sessions) <= cap, where
        assert sessions[-1].error is None or isinstance(sessions[-1].error, BudgetReachedError), where
        raised = live(home, shelf)
        assert raised.error is None, where
        assert raised.lasting == whole.lasting, where


@every_variant
def test_7_without_faults_a_cap_stops_at_the_same_event_for_any_number_of_workers(variant: Variant) -> None:
    seed = 4 + ALL.index(variant)
    home = everything(variant, seed, small=True)
    home = home.but(limits=msgspec.structs.replace(home.limits, speculation=0))
    total = live(home).calls
    for cap in range(seed % 7, total, 7):
        stopped = [live(home.at_once(width, calls=cap)) for width in WIDTHS]
        where = f"{variant}, seed {seed}, cap of {cap} calls"
        assert {each.calls for each in stopped} == {cap}, where
        assert all(each.events == stopped[0].events for each in stopped), where
        assert all(each.lasting == stopped[0].lasting for each in stopped), where
