from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from skillopt.kernel.journal import RunHandle
from skillopt.store import codec
from skillopt.store.connection import open_to_write
from skillopt.store.transactions import Transactions


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "journal.sqlite3"
    with closing(open_to_write(path)) as connection:
        connection.execute(codec.insert("sessions", 1), (1, 1, 1, 10.0, 10.0, 0, "running", ""))
    return path


@pytest.fixture
def connection(path: Path) -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        yield connection


def intents(*attempts: int) -> list[tuple[str, codec.Row]]:
    return [("intents", (attempt, b"key", "target", 0, 1, 2, 3, 4, 5, 0.5)) for attempt in attempts]


def rows(connection: sqlite3.Connection, query: str) -> list[Any]:
    return connection.execute(query).fetchall()


def level(connection: sqlite3.Connection) -> int:
    """How hard the latest commit was: 1 is NORMAL, 2 is FULL."""
    return int(rows(connection, "PRAGMA synchronous")[0][0])


def test_a_commit_syncs_only_when_somebody_waits_for_it(connection: sqlite3.Connection) -> None:
    transactions = Transactions(connection)
    levels: list[int] = []
    for number, durable in enumerate([False, True, False, True, True, False]):
        transactions.write(1.0, intents(number), durable=durable)
        levels.append(level(connection))
    transactions.call(1.0, lambda _: None)
    assert [*levels, level(connection)] == [1, 2, 1, 2, 2, 1, 2]


def test_a_sync_without_rows_still_commits_when_something_is_not_synced(connection: sqlite3.Connection) -> None:
    transactions = Transactions(connection)
    transactions.watch(RunHandle(number=1, name="mine", next_attempt=1, session=1))
    transactions.write(20.0, intents(1), durable=False)
    transactions.write(20.0, [], durable=True)
    assert level(connection) == 2
    # at the same time: only the count makes this commit write anything, and so sync
    assert rows(connection, "SELECT seen, commits FROM sessions") == [(20.0, 2)]
    transactions.write(20.0, [], durable=True)
    assert rows(connection, "SELECT commits FROM sessions") == [(2,)]


def test_rows_go_in_by_few_statements(connection: sqlite3.Connection) -> None:
    inserts: list[int] = []
    connection.set_trace_callback(
        lambda statement: inserts.append(statement.count("), (") + 1) if "INTO intents" in statement else None
    )
    Transactions(connection).write(1.0, intents(*range(64 * 2 + 8 + 3)), durable=False)
    connection.set_trace_callback(None)
    assert inserts == [64, 64, 11]
    assert rows(connection, "SELECT count(*), min(ref), max(ref) FROM intents") == [(139, 0, 138)]


def test_the_first_of_two_answers_is_kept(connection: sqlite3.Connection) -> None:
    tables: list[tuple[str, codec.Row]] = [
        ("results", (ref, key, ok, 1, 2, 3, 4, 5, 0.5, b"body", None))
        for ref, key, ok in [(1, b"a", False), (2, b"a", True), (3, b"a", True), (4, b"b", True), (5, b"c", False)]
    ]
    Transactions(connection).write(1.0, tables, durable=False)
    assert rows(connection, "SELECT key, ref FROM answers ORDER BY key") == [(b"a", 2), (b"b", 4)]
    assert rows(connection, "SELECT count(*) FROM results") == [(5,)]


def test_what_a_call_raises_undoes_it(connection: sqlite3.Connection) -> None:
    transactions = Transactions(connection)

    def fail(connection: sqlite3.Connection) -> None:
        connection.execute("INSERT INTO runs VALUES (1, 'mine', x'')")
        raise LookupError("no")

    with pytest.raises(LookupError, match="no"):
        transactions.call(1.0, fail)
    assert rows(connection, "SELECT * FROM runs") == []
    assert transactions.call(1.0, lambda connection: connection.execute("SELECT 5").fetchone()) == (5,)


def test_tidying_moves_the_log_into_the_database(connection: sqlite3.Connection, path: Path) -> None:
    connection.execute("PRAGMA wal_autocheckpoint = 0")
    transactions = Transactions(connection)
    before = path.stat().st_size
    transactions.write(1.0, intents(*range(5_000)), durable=True)
    assert path.stat().st_size == before
    assert transactions.log_grew
    transactions.tidy()
    assert path.stat().st_size > before
    assert not transactions.log_grew
