"""A house in which a run remembers: microbatches accumulate, epochs are looked back on, slips become reminders.
Owns the settings; refuses to know what a test wants to see."""

from __future__ import annotations

from typing import Literal

import msgspec

from skillopt.phases.consolidate.notes import SkillAwareSettings
from skillopt.phases.consolidate.slow_update import SlowUpdateSettings
from tests.simulation.house import House, house

Accept = Literal["gated", "force"]


def memory_house(
    seed: int = 1,
    *,
    slow: Accept = "gated",
    notes: Accept = "gated",
    pairs: Literal["mixed", "changed", "unchanged"] = "changed",
    epochs: int = 3,
    train_size: int = 12,
    val: int = 6,
) -> House:
    """Return a house with everything on that a run can remember by."""
    home = house(seed, train_size=train_size, val=val, test=3, epochs=epochs).but(optimizer_brain="mindful")
    plan = home.plan
    optimizer = msgspec.structs.replace(
        plan.optimizer,
        edit_budget=1,
        slow_update=SlowUpdateSettings(samples=4, pairs=pairs, accept=slow),
        meta_skill=True,
        skill_aware=SkillAwareSettings(enabled=True, consolidate_above=2, accept=notes),
    )
    train = msgspec.structs.replace(plan.train, batch_size=3, accumulation=2)
    return home.but(plan=msgspec.structs.replace(plan, optimizer=optimizer, train=train))
