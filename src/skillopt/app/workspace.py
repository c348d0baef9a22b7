"""The workspace of a config: where its journal is, and how its runs are named.
Owns opening and closing the journal; refuses to know what a run does."""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager
from pathlib import Path

from skillopt.kernel.journal import Journal
from skillopt.kernel.ports import Clock
from skillopt.store.sqlite import SqliteJournal

WORKSPACE, JOURNAL = ".skillopt", "journal.db"


@asynccontextmanager
async def opened_journal(workspace: Path, clock: Clock) -> AsyncIterator[Journal]:
    """Open the journal of a workspace; what is pending is written when this ends."""
    journal = SqliteJournal(workspace / JOURNAL, clock=clock)
    try:
        yield journal
    finally:
        await journal.close()


def run_name(journal: Journal, name: str, *, fresh: bool) -> str:
    """Return the name to run under: the given one, or with `fresh` the first like it that no run has."""
    return unused_name(name, {row.name for row in journal.runs()}) if fresh else name


def unused_name(name: str, taken: Collection[str]) -> str:
    """Return the name, or the first like it that is not taken."""
    number = 1
    chosen = name
    while chosen in taken:
        number += 1
        chosen = f"{name}-{number}"
    return chosen
