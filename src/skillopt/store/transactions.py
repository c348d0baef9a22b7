"""What one transaction does: the rows of a group with as few statements as there can be, or one call.
Owns the write connection, how hard a commit is, and the signs of life of sessions; refuses to know threads."""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from collections.abc import Callable, Sequence
from contextlib import suppress
from itertools import chain
from typing import TypeVar

from skillopt.kernel.journal import RunHandle
from skillopt.store import codec
from skillopt.store.runs import touch

T = TypeVar("T")

# rows go in by statements of these sizes: each statement lets go of the interpreter, whatever its size
_CHUNKS = (64, 32, *range(16, 0, -1))
_SIGN_OF_LIFE_SECONDS = 0.1


class Transactions:
    """Commits to one database, from one thread."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._sessions: list[RunHandle] = []
        self._inserts = {(table, rows): codec.insert(table, rows) for table in codec.COLUMNS for rows in _CHUNKS}
        self._unsynced = False
        self._level = ""
        self._touched = 0.0
        self.log_grew = False

    def watch(self, session: RunHandle) -> None:
        """Note from now on that this session is alive: in every durable commit, and ten times a second in others."""
        self._sessions.append(session)

    def write(self, at: float, tables: Sequence[tuple[str, codec.Row]], *, durable: bool) -> None:
        """Commit rows, each with its table, at this time; a durable commit makes all earlier ones durable too."""
        if not tables and not self._unsynced:
            return
        self._begin(durable=durable)
        self._insert(tables)
        self._commit(at, durable=durable)

    def call(self, at: float, work: Callable[[sqlite3.Connection], T], *, durable: bool = True) -> T:
        """Do some work and commit it, durably unless nothing depends on that; what it raises undoes it."""
        self._begin(durable=durable)
        try:
            value = work(self._connection)
        except BaseException:
            with suppress(sqlite3.Error):
                self._connection.execute("ROLLBACK")
            raise
        self._commit(at, durable=durable)
        return value

    def tidy(self) -> None:
        """Move the log into the database, so that it does not grow; nobody may be waiting."""
        self._connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()
        self.log_grew = False

    def close(self) -> None:
        """Let go of the database; what was committed stays."""
        with suppress(sqlite3.Error):
            self._connection.close()

    def _begin(self, *, durable: bool) -> None:
        # FULL syncs the log at the commit, and with it all commits before; NORMAL leaves it to the system
        level = "FULL" if durable else "NORMAL"
        if level != self._level:
            self._connection.execute(f"PRAGMA synchronous = {level}")
            self._level = level
        self._connection.execute("BEGIN IMMEDIATE")

    def _commit(self, at: float, *, durable: bool) -> None:
        if durable or not 0.0 <= at - self._touched < _SIGN_OF_LIFE_SECONDS:
            self._touched = at
            for session in self._sessions:
                touch(self._connection, session.number, session.session, at)
        self._connection.execute("COMMIT")
        self._unsynced = not durable
        self.log_grew = True

    def _insert(self, tables: Sequence[tuple[str, codec.Row]]) -> None:
        by_table: dict[str, list[codec.Row]] = defaultdict(list)
        for table, row in tables:
            by_table[table].append(row)
        if "results" in by_table:
            answers = map(codec.answer_row, by_table["results"])
            by_table["answers"] = [answer for answer in answers if answer is not None]
        for table, rows in by_table.items():
            start = 0
            for size in _CHUNKS:
                while len(rows) - start >= size:
                    values = tuple(chain.from_iterable(rows[start : start + size]))
                    self._connection.execute(self._inserts[table, size], values)
                    start += size
