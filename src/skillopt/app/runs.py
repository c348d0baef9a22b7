"""What can be done with the runs of a workspace besides running them: list, summarize, export, import, remove.
Owns how a summary is rebuilt from a journal alone; refuses to know how runs are made."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path

from skillopt.app.workspace import JOURNAL, opened_journal
from skillopt.domain.errors import UsageError, unknown_name
from skillopt.kernel.clock import SystemClock
from skillopt.kernel.journal import RunRow
from skillopt.kernel.view import view_of, whole
from skillopt.store.export import export_run, import_run
from skillopt.store.reader import SqliteReader
from skillopt.train.report import Ending, summarize
from skillopt.train.summary import Status, Summary

_STATUSES: dict[str, Status] = {"finished": "finished", "failed": "failed"}


def list_rows(workspace: Path) -> tuple[RunRow, ...]:
    """Return the runs of a workspace, the oldest first; a workspace that is not there has none."""
    if not (workspace / JOURNAL).is_file():
        return ()
    with SqliteReader(workspace / JOURNAL) as reader:
        return reader.runs()


def summary_of(workspace: Path, name: str) -> Summary:
    """Return the summary of a run as its journal has it, whether it is finished, stopped, killed or going on."""
    with SqliteReader(_journal(workspace)) as reader:
        rows = {row.name: row for row in reader.runs()}
        if name not in rows:
            raise unknown_name("run", name, rows)
        row = rows[name]
        view, spent = view_of(whole(reader.events(name))), reader.spent(name)
    ending = Ending(
        run=name,
        run_dir=f"{workspace.name}/runs/{name}",
        status=_STATUSES.get(row.status, "stopped"),
        stop_reason=row.reason,
        spent=spent,
        wall_seconds=spent.seconds,
    )
    return summarize(view, ending)


def export_lines(workspace: Path, name: str) -> Iterator[str]:
    """Return a run with its answers, line by line."""
    return iter(export_run(_journal(workspace), name))


def import_lines(workspace: Path, lines: Iterable[str]) -> str:
    """Read an exported run into a workspace and return its name."""
    return import_run(lines, workspace / JOURNAL)


async def remove(workspace: Path, name: str) -> None:
    """Forget a run, and remove its folder."""
    _journal(workspace)
    async with opened_journal(workspace, SystemClock()) as journal:
        journal.remove_run(name)
    folder = workspace / "runs" / name
    if folder.is_dir() and not folder.is_symlink():
        shutil.rmtree(folder)


def _journal(workspace: Path) -> Path:
    path = workspace / JOURNAL
    if not path.is_file():
        raise UsageError(f"There is no workspace at {workspace}.", hint="Name one with --workspace.")
    return path
