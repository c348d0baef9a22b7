from __future__ import annotations

import asyncio
import hashlib
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from skillopt.domain.errors import UsageError
from skillopt.kernel.clock import SystemClock
from skillopt.kernel.events import Warned
from skillopt.kernel.journal import PhaseRecord, RunHandle
from skillopt.store import runs
from skillopt.store.beside.blobs import Blobs
from skillopt.store.connection import open_to_write
from skillopt.store.sqlite import SqliteJournal
from skillopt.testing.journals.stage import PLAN, WORST, reply, send


def test_sessions_are_counted_and_timed(tmp_path: Path) -> None:
    with closing(open_to_write(tmp_path / "journal.sqlite3")) as connection:
        first = runs.open_run(connection, "mine", b"plan", 100.0)
        assert first.handle == RunHandle(number=1, name="mine", next_attempt=1, session=1)
        runs.touch(connection, 1, 1, 130.0)
        second = runs.open_run(connection, "mine", b"plan", 200.0)
        assert second.handle == RunHandle(number=1, name="mine", next_attempt=1, session=2)
        runs.touch(connection, 1, 2, 205.0)
        third = runs.open_run(connection, "mine", b"plan", 300.0)
        # somebody set the clock back: that time is not taken off the others
        runs.touch(connection, 1, 3, 250.0)
        runs.end_session(connection, third.handle, "finished", "solved")
        assert runs.spent(connection, Blobs(tmp_path), 1, held=True).seconds == 35.0
        with pytest.raises(UsageError, match="'mine' was started with another plan"):
            runs.open_run(connection, "mine", b"another", 400.0)


def test_digests_of_events_come_with_the_run(tmp_path: Path) -> None:
    with closing(open_to_write(tmp_path / "journal.sqlite3")) as connection:
        runs.open_run(connection, "mine", b"plan", 1.0)
        large = hashlib.sha256(b"large").digest()
        connection.execute("INSERT INTO events VALUES (1, 0, 1.0, ?, NULL), (1, 1, 1.0, NULL, ?)", (b"small", large))
        opened = runs.open_run(connection, "mine", b"plan", 2.0)
        assert opened.events == {0: hashlib.sha256(b"small").digest(), 1: large}


@pytest.mark.parametrize(("status", "held", "lost"), [("running", True, 1), ("running", False, 2), ("failed", True, 2)])
def test_requests_are_under_way_only_in_a_living_session(tmp_path: Path, status: str, held: bool, lost: int) -> None:
    with closing(open_to_write(tmp_path / "journal.sqlite3")) as connection:
        runs.open_run(connection, "mine", b"plan", 1.0)
        add_intent(connection, 1)
        handle = runs.open_run(connection, "mine", b"plan", 2.0).handle
        add_intent(connection, handle.next_attempt)
        runs.end_session(connection, handle, status, "")
        spent = runs.spent(connection, Blobs(tmp_path), 1, held=held)
        assert (spent.attempts, spent.lost) == (2, lost)
        assert spent.lost_usage.calls == WORST.calls * lost


def add_intent(connection: sqlite3.Connection, attempt: int) -> None:
    connection.execute("INSERT INTO intents VALUES (?, x'00', 'target', 0, 1, 0, 0, 0, 0, 1.0)", (2**32 + attempt,))


def test_bodies_that_nobody_names_go_with_their_run(tmp_path: Path) -> None:
    path = tmp_path / "journal.sqlite3"
    wide = {name: name * 50_000 for name in "abcd"}

    def files() -> int:
        return sum(each.is_file() for each in (tmp_path / "blobs").rglob("*"))

    async def main() -> None:
        journal = SqliteJournal(path, clock=SystemClock())
        old, new = journal.open_run("old", PLAN), journal.open_run("new", PLAN)
        used = await send(journal, old, 1, b"used", reply(wide["a"]))
        await send(journal, old, 2, b"unused", reply(wide["b"]))
        journal.append(old, 0, Warned(message=wide["c"]))
        journal.append(old, 1, Warned(message=wide["d"]))
        journal.append(new, 0, Warned(message=wide["d"]))
        journal.close_phase(new, PhaseRecord(path="rollout", outcomes=(used,)))
        await journal.close()
        assert files() == 4
        journal = SqliteJournal(path, clock=SystemClock())
        journal.remove_run("old")
        assert files() == 2
        assert journal.fetch([used])[used].answer == reply(wide["a"])
        assert journal.events("new") == (Warned(message=wide["d"]),)
        journal.remove_run("new")
        assert files() == 0
        await journal.close()

    asyncio.run(main())
    with closing(sqlite3.connect(path)) as connection:
        for table in ("runs", "sessions", "intents", "results", "answers", "phases", "events"):
            assert connection.execute(f"SELECT count(*) FROM {table}").fetchone() == (0,), table
