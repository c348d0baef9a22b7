"""The shape of the database, as a list of named steps that each know how to get there from the one before.
Owns the tables; refuses a database that a newer skillopt has changed. A step that was released never changes."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import msgspec

from skillopt.domain.errors import StoreError


class Migration(msgspec.Struct, frozen=True, kw_only=True):
    """One step: its statements may run again on a database that has them."""

    name: str
    statements: tuple[str, ...]


# `ref` is a run's number and an attempt's number in one integer (see codec), so that rows of a run lie together and
# new ones go to the end. A run without a name is only the home of answers that other runs used.
MIGRATIONS = (
    Migration(
        name="0001 first tables",
        statements=(
            "CREATE TABLE IF NOT EXISTS runs (number INTEGER PRIMARY KEY, name TEXT UNIQUE, plan BLOB NOT NULL)",
            """CREATE TABLE IF NOT EXISTS sessions (
                run INTEGER NOT NULL, number INTEGER NOT NULL, first_attempt INTEGER NOT NULL, started REAL NOT NULL,
                seen REAL NOT NULL, commits INTEGER NOT NULL, status TEXT NOT NULL, reason TEXT NOT NULL,
                PRIMARY KEY (run, number)
            ) WITHOUT ROWID""",
            """CREATE TABLE IF NOT EXISTS intents (
                ref INTEGER PRIMARY KEY, key BLOB NOT NULL, role TEXT NOT NULL, speculative INTEGER NOT NULL,
                calls INTEGER NOT NULL, input_tokens INTEGER NOT NULL, cached_tokens INTEGER NOT NULL,
                output_tokens INTEGER NOT NULL, nano_usd INTEGER NOT NULL, at REAL NOT NULL
            )""",
            """CREATE TABLE IF NOT EXISTS results (
                ref INTEGER PRIMARY KEY, key BLOB NOT NULL, ok INTEGER NOT NULL,
                calls INTEGER NOT NULL, input_tokens INTEGER NOT NULL, cached_tokens INTEGER NOT NULL,
                output_tokens INTEGER NOT NULL, nano_usd INTEGER NOT NULL, at REAL NOT NULL, body BLOB, digest BLOB
            )""",
            "CREATE TABLE IF NOT EXISTS answers (key BLOB PRIMARY KEY, ref INTEGER NOT NULL) WITHOUT ROWID",
            """CREATE TABLE IF NOT EXISTS phases (
                run INTEGER NOT NULL, path TEXT NOT NULL, at REAL NOT NULL, body BLOB, digest BLOB,
                PRIMARY KEY (run, path)
            )""",
            """CREATE TABLE IF NOT EXISTS events (
                run INTEGER NOT NULL, number INTEGER NOT NULL, at REAL NOT NULL, body BLOB, digest BLOB,
                PRIMARY KEY (run, number)
            )""",
        ),
    ),
)


def migrate(connection: sqlite3.Connection, path: Path) -> None:
    """Bring a database up to date, inside the transaction that the caller opened."""
    connection.execute("CREATE TABLE IF NOT EXISTS migrations (name TEXT PRIMARY KEY) WITHOUT ROWID")
    applied = _applied(connection, path)
    for migration in MIGRATIONS:
        if migration.name not in applied:
            for statement in migration.statements:
                connection.execute(statement)
            connection.execute("INSERT INTO migrations VALUES (?)", (migration.name,))


def refuse_other_versions(connection: sqlite3.Connection, path: Path) -> None:
    """Raise a StoreError unless this version of skillopt can read the database as it is."""
    missing = {migration.name for migration in MIGRATIONS} - _applied(connection, path)
    if missing:
        raise StoreError(
            f"The journal {path} was written by an older skillopt.",
            hint="It is brought up to date the next time a run opens it: run the same command again first.",
        )


def _applied(connection: sqlite3.Connection, path: Path) -> set[str]:
    """Return the names of the steps the database has; refuse it when this version does not know one of them."""
    tables = connection.execute("SELECT count(*) FROM sqlite_master WHERE name = 'migrations'").fetchone()
    if not tables[0]:
        return set()
    applied = {name for (name,) in connection.execute("SELECT name FROM migrations")}
    unknown = sorted(applied - {migration.name for migration in MIGRATIONS})
    if unknown:
        raise StoreError(
            f"The journal {path} was changed by a newer skillopt (it has {', '.join(map(repr, unknown))}).",
            hint="Upgrade skillopt, or use another folder with --workspace.",
        )
    return applied
