from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from skillopt.domain.errors import StoreError
from skillopt.store.migrations import MIGRATIONS, migrate, refuse_other_versions

WHERE = Path("somewhere/journal.sqlite3")


def shape(connection: sqlite3.Connection) -> list[tuple[str, str]]:
    return connection.execute("SELECT name, sql FROM sqlite_master ORDER BY name").fetchall()


def test_steps_are_applied_once_and_again_without_harm() -> None:
    with closing(sqlite3.connect(":memory:")) as connection:
        migrate(connection, WHERE)
        before = shape(connection)
        migrate(connection, WHERE)
        connection.execute("DELETE FROM migrations")
        migrate(connection, WHERE)
        assert shape(connection) == before
        applied = connection.execute("SELECT name FROM migrations ORDER BY name").fetchall()
        assert applied == [(migration.name,) for migration in MIGRATIONS]
        refuse_other_versions(connection, WHERE)


def test_names_of_steps_are_in_order_and_differ() -> None:
    names = [migration.name for migration in MIGRATIONS]
    assert names == sorted(set(names))


def test_a_newer_database_is_refused_by_name() -> None:
    with closing(sqlite3.connect(":memory:")) as connection:
        migrate(connection, WHERE)
        connection.execute("INSERT INTO migrations VALUES ('0999 flying cars')")
        for check in (migrate, refuse_other_versions):
            with pytest.raises(StoreError, match=r"somewhere/journal.sqlite3 was changed by a newer.*0999 flying cars"):
                check(connection, WHERE)


def test_a_reader_does_not_read_an_older_database() -> None:
    with (
        closing(sqlite3.connect(":memory:")) as connection,
        pytest.raises(StoreError, match=r"somewhere/journal.sqlite3 was written by an older"),
    ):
        refuse_other_versions(connection, WHERE)
