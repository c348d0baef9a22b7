"""What can be done with the runs of a workspace besides running them."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from skillopt.app.project.prepare import Prepared, prepare
from skillopt.app.runs import export_lines, import_lines, list_rows, remove, summary_of
from skillopt.app.session import Ended, train_session
from skillopt.app.workspace import opened_journal
from skillopt.domain.errors import UsageError
from skillopt.kernel.clock import SystemClock
from tests.unit.app.projects import settings, write_project


def trained(prepared: Prepared, name: str) -> Ended:
    async def session() -> Ended:
        clock = SystemClock()
        async with opened_journal(prepared.workspace, clock) as journal:
            return await train_session(
                prepared, journal, clock, name=name, observers=(), started=lambda interrupt: None
            )

    return asyncio.run(session())


@pytest.fixture
def prepared(tmp_path: Path) -> Prepared:
    return prepare(write_project(tmp_path, settings(train={"epochs": 1, "batch_size": 12})), environ={})


def test_a_workspace_that_is_not_there_has_no_runs_and_is_not_made(tmp_path: Path) -> None:
    assert list_rows(tmp_path / "gone") == ()
    for work in (summary_of, export_lines):
        with pytest.raises(UsageError) as refused:
            work(tmp_path / "gone", "x")
        assert "There is no workspace at" in refused.value.message
    with pytest.raises(UsageError):
        asyncio.run(remove(tmp_path / "gone", "x"))
    assert not (tmp_path / "gone").exists()


def test_the_summary_from_the_journal_is_the_one_in_the_folder(prepared: Prepared) -> None:
    trained(prepared, "one")
    workspace = prepared.workspace
    told = json.loads((workspace / "runs" / "one" / "summary.json").read_bytes())
    summary = summary_of(workspace, "one")
    assert summary.status == "finished"
    assert summary.usage.total.calls == told["usage"]["total"]["calls"]
    assert (summary.run_dir, summary.best_skill) == (told["run_dir"], told["best_skill"])
    assert (summary.stop_reason, summary.best_step) == (told["stop_reason"], told["best_step"])


def test_an_unknown_run_names_the_known_and_the_nearest(prepared: Prepared) -> None:
    trained(prepared, "spring")
    with pytest.raises(UsageError, match="Did you mean 'spring'"):
        summary_of(prepared.workspace, "sprng")
    with pytest.raises(UsageError, match="Did you mean 'spring'"):
        list(export_lines(prepared.workspace, "sprng"))
    with pytest.raises(UsageError, match="Did you mean 'spring'"):
        asyncio.run(remove(prepared.workspace, "sprng"))


def test_a_run_goes_out_and_comes_in_whole(prepared: Prepared, tmp_path: Path) -> None:
    trained(prepared, "one")
    other = tmp_path / "other"
    assert import_lines(other, export_lines(prepared.workspace, "one")) == "one"
    ours, theirs = summary_of(prepared.workspace, "one"), summary_of(other, "one")
    assert theirs.usage == ours.usage
    assert theirs.scores == ours.scores
    with pytest.raises(UsageError):
        import_lines(other, export_lines(prepared.workspace, "one"))
    with pytest.raises(UsageError, match="cut off"):
        import_lines(tmp_path / "third", list(export_lines(prepared.workspace, "one"))[:-1])


def test_a_removed_run_is_gone_with_its_folder_and_what_others_use_stays(prepared: Prepared) -> None:
    first = trained(prepared, "one")
    trained(prepared, "two")
    workspace = prepared.workspace
    asyncio.run(remove(workspace, "one"))
    assert [row.name for row in list_rows(workspace)] == ["two"]
    assert not (workspace / "runs" / "one").exists()
    assert summary_of(workspace, "two").usage.total == first.summary.usage.total
    again = trained(prepared, "two")
    assert again.summary.usage.overhead.attempts == 0


def test_a_folder_that_is_a_link_is_left_alone(prepared: Prepared, tmp_path: Path) -> None:
    trained(prepared, "one")
    folder = prepared.workspace / "runs" / "one"
    folder.rename(tmp_path / "kept")
    folder.symlink_to(tmp_path / "kept")
    asyncio.run(remove(prepared.workspace, "one"))
    assert (tmp_path / "kept" / "summary.json").is_file()
