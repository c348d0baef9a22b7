"""What holds for every way of changing a skill, as for every run (see test_invariants): whatever the number of workers,
wherever it was killed, whoever counts."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
import pytest

from skillopt.kernel.memory import MemoryShelf
from skillopt.phases.aggregate import AggregateSettings
from skillopt.testing.faults import FaultPlan
from skillopt.train.settings import OptimizerSettings
from tests.simulation.house import House, appends, house, live

MODES = ("patch", "rewrite_from_suggestions", "full_rewrite_minibatch")
SEEDS = range(1, 9)


def homes(seed: int) -> Iterator[House]:
    """Yield a small world in each mode, merging all it can."""
    for mode in MODES:
        control = "none" if mode == "full_rewrite_minibatch" else "autonomous" if seed % 2 else "fixed"
        settings = {"mode": mode, "edit_budget": 2, "min_edit_budget": 1, "budget_control": control}
        home = house(seed, train_size=12, val=4, test=3, epochs=1)
        plan = msgspec.structs.replace(home.plan, optimizer=msgspec.convert(settings, OptimizerSettings))
        yield home.but(plan=plan, aggregate=AggregateSettings(fan_in=2, ask="always"))


@pytest.mark.parametrize("seed", SEEDS)
def test_the_number_of_workers_changes_nothing(seed: int) -> None:
    for home in homes(seed):
        one = live(home.at_once(1))
        for width in (2, 7, 64):
            other = live(home.faulty(FaultPlan.random(seed, 0.2)).at_once(width))
            assert other.lasting == one.lasting, (home.plan.optimizer.mode, width)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_crash_anywhere_changes_nothing(seed: int) -> None:
    for home in homes(seed):
        whole = live(home)
        count = appends(home)
        for kill_at in range(1 + seed % 5, count, max(1, count // 12)):
            shelf = MemoryShelf()
            live(home, shelf, kill_at=kill_at)
            again = live(home, shelf)
            assert again.error is None
            assert again.lasting == whole.lasting, (home.plan.optimizer.mode, kill_at)
            assert again.events == whole.events


@pytest.mark.parametrize("seed", SEEDS)
def test_the_ledger_is_what_the_models_counted(seed: int) -> None:
    for home in homes(seed):
        lived = live(home)
        assert lived.summary.usage.total.calls == lived.served, home.plan.optimizer.mode
        assert sum(row.calls for record in lived.records for row in record.tokens.values()) <= lived.served
