from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from skillopt.app.attribution.prune import PruneEnded, prune_session
from skillopt.app.project.prepare import Prepared, prepare
from skillopt.app.session import Interrupt
from skillopt.app.workspace import opened_journal
from skillopt.domain.errors import BudgetReachedError, StoreError, UsageError
from skillopt.domain.skill import Skill
from skillopt.kernel.clock import SystemClock
from skillopt.testing.worlds import RULES
from tests.unit.app.projects import write_project

SKILL = "# House style\n\n- Mind the weather.\n" + "".join(f"- {rule.sentence}\n" for rule in RULES.rules)


def never(_interrupt: Interrupt) -> None:
    """Let the pruning go on to its end."""


def ready(folder: Path, *sets: str) -> Prepared:
    return prepare(write_project(folder), sets=["prune.margin=0.3", *sets], environ={})


def pruned(prepared: Prepared, text: str = SKILL, name: str | None = None) -> PruneEnded:
    async def session() -> PruneEnded:
        clock = SystemClock()
        async with opened_journal(prepared.workspace, clock) as journal:
            return await prune_session(prepared, journal, clock, Skill.from_text(text), name=name, started=never)

    return asyncio.run(session())


def test_the_pruned_skill_lies_in_the_folder_of_its_run_and_the_persons_file_is_as_it_was(tmp_path: Path) -> None:
    prepared = ready(tmp_path)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    ended = pruned(prepared)
    assert ended.error is None
    summary = ended.summary
    assert summary.run.startswith("prune-")
    assert summary.taken_out[0].text == "- Mind the weather."
    written = (tmp_path / summary.pruned_skill).read_text()
    assert "Mind the weather" not in written
    assert "-- Mind the weather." in summary.diff
    folder = tmp_path / summary.run_dir
    assert {path.name for path in folder.iterdir()} == {"pruned_skill.md", "pruned.diff", "prune.json"}
    assert json.loads((folder / "prune.json").read_bytes())["decided"]["confirmed"] is True
    assert (folder / "pruned.diff").read_text().splitlines() == list(summary.diff)
    assert before == {path: path.read_bytes() for path in before}


def test_the_same_again_asks_nothing_and_says_the_same(tmp_path: Path) -> None:
    first = pruned(ready(tmp_path))
    again = pruned(ready(tmp_path, "limits.calls=0"))
    assert again.error is None
    assert again.summary == first.summary


def test_a_cap_stops_it_with_the_original_and_more_room_finishes_it(tmp_path: Path) -> None:
    stopped = pruned(ready(tmp_path, "limits.calls=20"))
    assert isinstance(stopped.error, BudgetReachedError)
    assert (stopped.summary.status, stopped.summary.stop_reason) == ("stopped", "calls")
    assert (stopped.summary.decided, stopped.summary.taken_out) == (None, ())
    assert (tmp_path / stopped.summary.pruned_skill).read_text() == SKILL
    finished = pruned(ready(tmp_path))
    assert finished.error is None
    assert finished.summary.run == stopped.summary.run
    assert finished.summary.taken_out


def test_another_skill_or_margin_is_another_run_and_not_under_the_same_name(tmp_path: Path) -> None:
    names = {
        pruned(ready(tmp_path)).summary.run,
        pruned(ready(tmp_path), SKILL + "- More.\n").summary.run,
        pruned(ready(tmp_path, "prune.alpha=0.04")).summary.run,
    }
    assert len(names) == 3
    pruned(ready(tmp_path), name="mine")
    with pytest.raises(UsageError, match=r"another plan: prune\.alpha changed"):
        pruned(ready(tmp_path, "prune.alpha=0.04"), name="mine")


def test_a_folder_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    prepared = ready(tmp_path)
    (prepared.workspace / "runs").mkdir(parents=True)
    (prepared.workspace / "runs" / "mine").write_text("in the way")
    with pytest.raises(StoreError, match="cannot be written"):
        pruned(prepared, name="mine")
