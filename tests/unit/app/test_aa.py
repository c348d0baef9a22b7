from __future__ import annotations

import asyncio
from pathlib import Path

from skillopt.app.aa import Fooled, aa_session
from skillopt.app.project.prepare import prepare
from skillopt.app.session import Interrupt
from skillopt.app.workspace import opened_journal
from skillopt.domain.errors import BudgetReachedError, SkilloptError
from skillopt.kernel.clock import SystemClock
from tests.unit.app.projects import settings, write_project


def never(_interrupt: Interrupt) -> None:
    """Let it go on to its end."""


def tried(config: Path, *sets: str, gates: int = 6) -> tuple[Fooled | None, SkilloptError | None]:
    prepared = prepare(config, sets=sets, environ={})

    async def session() -> tuple[Fooled | None, SkilloptError | None]:
        clock = SystemClock()
        async with opened_journal(prepared.workspace, clock) as journal:
            return await aa_session(prepared, journal, clock, gates=gates, lift=0.3, started=never)

    return asyncio.run(session())


def test_a_target_that_does_not_vary_fools_no_gate_and_flips_nothing(tmp_path: Path) -> None:
    config = write_project(tmp_path, settings())
    fooled, error = tried(config)
    assert error is None
    assert fooled is not None
    assert (fooled.gates, fooled.accepted, fooled.rate, fooled.low) == (6, 0, 0.0, 0.0)
    assert fooled.high > 0.3
    assert fooled.flip_rate == 0.0
    assert {each.rate for each in fooled.flips} == {0.0}
    assert tried(config) == (fooled, None)


def test_where_each_task_is_put_once_nothing_is_known_of_flips(tmp_path: Path) -> None:
    fooled, _ = tried(write_project(tmp_path, settings()), "gate.deterministic=true")
    assert fooled is not None
    assert (fooled.flip_rate, fooled.tasks_needed) == (None, None)


def test_a_cap_stops_it_with_what_was_found_so_far(tmp_path: Path) -> None:
    fooled, error = tried(write_project(tmp_path, settings()), "limits.calls=3")
    assert isinstance(error, BudgetReachedError)
    assert fooled is None
