"""Statements about a run as a whole: list, open, add up, end its session, remove.
Owns their SQL; refuses to know locks, threads and transactions."""

from __future__ import annotations

import hashlib
import sqlite3

import msgspec

from skillopt.domain.errors import unknown_name
from skillopt.kernel.journal import RUNNING, Ref, RunHandle, Spent, another_plan
from skillopt.store import codec
from skillopt.store.beside.blobs import Blobs
from skillopt.store.beside.intents import Noted

_DIGESTS = " UNION ".join(f"SELECT digest FROM {table} WHERE digest IS NOT NULL" for table in codec.BODIED)
RUN_LIST = """
    SELECT runs.number, runs.name, last.status, last.reason, first.started, last.seen, last.number
    FROM runs
    JOIN sessions AS first ON first.run = runs.number AND first.number = 1
    JOIN sessions AS last ON last.run = runs.number
        AND last.number = (SELECT max(number) FROM sessions WHERE run = runs.number)
    WHERE runs.name IS NOT NULL ORDER BY runs.number
"""
# a result is charged with its cost, an intent without one with its worst case; one from `under way` on is not lost yet
_ACCOUNTS = """
    SELECT CASE WHEN results.ok THEN 'answered' WHEN results.ok = 0 THEN 'failed'
                WHEN intents.ref < :under_way THEN 'lost' ELSE 'under way' END AS outcome,
           speculative,
           count(*),
           sum(coalesce(results.calls, intents.calls)),
           sum(coalesce(results.input_tokens, intents.input_tokens)),
           sum(coalesce(results.cached_tokens, intents.cached_tokens)),
           sum(coalesce(results.output_tokens, intents.output_tokens)),
           sum(coalesce(results.nano_usd, intents.nano_usd))
    FROM intents LEFT JOIN results USING (ref)
    WHERE intents.ref BETWEEN :low AND :high
    GROUP BY outcome, speculative
"""
_UNUSED = """
    SELECT 'unused', 0, count(*), sum(calls), sum(input_tokens), sum(cached_tokens), sum(output_tokens), sum(nano_usd)
    FROM results
    WHERE ok AND ref BETWEEN :low AND :high AND ref NOT IN (SELECT value FROM json_each(:used))
"""


_SECONDS = """
    SELECT intents.role, avg(max(results.at - intents.at, 0.0))
    FROM results JOIN intents USING (ref)
    WHERE results.ok AND results.ref BETWEEN ? AND ?
    GROUP BY intents.role
"""


class Opened(msgspec.Struct, frozen=True, kw_only=True):
    """A run that was just opened, and the digest of each event it has."""

    handle: RunHandle
    events: dict[int, bytes]


def open_run(connection: sqlite3.Connection, name: str, plan: bytes, now: float, noted: Noted = Noted()) -> Opened:
    """Find or create a run and begin a session, with what the last one had noted; another plan is a UsageError."""
    connection.execute("INSERT OR IGNORE INTO runs (name, plan) VALUES (?, ?)", (name, plan))
    number, old_plan = connection.execute("SELECT number, plan FROM runs WHERE name = ?", (name,)).fetchone()
    if old_plan != plan:
        raise another_plan(name)
    connection.executemany(codec.insert("intents", 1), unwritten(connection, noted, number))
    last = _last_intent(connection, number)
    next_attempt = 1 if last is None else codec.unpack(last).attempt + 1
    (before,) = connection.execute("SELECT count(*) FROM sessions WHERE run = ?", (number,)).fetchone()
    connection.execute(codec.insert("sessions", 1), (number, before + 1, next_attempt, now, now, 0, RUNNING, ""))
    rows = connection.execute("SELECT number, body, digest FROM events WHERE run = ?", (number,))
    return Opened(
        handle=RunHandle(number=number, name=name, next_attempt=next_attempt, session=before + 1),
        events={event: hashlib.sha256(body).digest() if body is not None else digest for event, body, digest in rows},
    )


def unwritten(connection: sqlite3.Connection, noted: Noted, run: int) -> list[codec.Columns]:
    """Return the intents that were noted and not committed; they are committed in the order of their attempts."""
    session = noted.session
    if session is None or session.run != run:
        return []
    (known,) = connection.execute(
        "SELECT count(*) FROM sessions WHERE run = ? AND number = ? AND started = ?", msgspec.structs.astuple(session)
    ).fetchone()
    last = _last_intent(connection, run)
    return [row for row in noted.rows if known and (last is None or row[0] > last)]


def _last_intent(connection: sqlite3.Connection, run: int) -> int | None:
    last: int | None
    (last,) = connection.execute("SELECT max(ref) FROM intents WHERE ref BETWEEN ? AND ?", codec.span(run)).fetchone()
    return last


def spent(connection: sqlite3.Connection, blobs: Blobs, run: int, *, held: bool, noted: Noted = Noted()) -> Spent:
    """Return what a run has sent, by the rows that this connection sees and what is noted beside them."""
    low, high = codec.span(run)
    first_attempt, status = connection.execute(
        "SELECT first_attempt, status FROM sessions WHERE run = ? ORDER BY number DESC LIMIT 1", (run,)
    ).fetchone()
    (seconds,) = connection.execute(
        "SELECT sum(max(seen - started, 0.0)) FROM sessions WHERE run = ?", (run,)
    ).fetchone()
    phases = connection.execute("SELECT path, body, digest FROM phases WHERE run = ?", (run,)).fetchall()
    used = codec.packed_refs(
        codec.decode_phase(path, blobs.read(digest) if body is None else body) for path, body, digest in phases
    )
    under_way = codec.pack(run, first_attempt) if held and status == RUNNING else high + 1
    accounts = connection.execute(_ACCOUNTS, {"under_way": under_way, "low": low, "high": high}).fetchall()
    unused = connection.execute(_UNUSED, {"low": low, "high": high, "used": used.decode()}).fetchall()
    ahead = [_account(row, under_way) for row in unwritten(connection, noted, run)]
    return codec.spent(accounts + unused + ahead, seconds)


def _account(intent: codec.Columns, under_way: int) -> codec.Columns:
    """Return the account of one intent without result, as the query has them."""
    ref, _, _, speculative, *worst, _ = intent
    return ("lost" if ref < under_way else "under way", speculative, 1, *worst)


def seconds_a_call(connection: sqlite3.Connection, run: int) -> dict[str, float]:
    """Return how long a run waited for an answer on average, by role."""
    return dict(connection.execute(_SECONDS, codec.span(run)).fetchall())


def touch(connection: sqlite3.Connection, run: int, session: int, now: float) -> None:
    """Say that a session was alive at this time; the count makes sure that the row changes, so that a commit syncs."""
    connection.execute(
        "UPDATE sessions SET seen = ?, commits = commits + 1 WHERE run = ? AND number = ?", (now, run, session)
    )


def end_session(connection: sqlite3.Connection, run: RunHandle, status: str, reason: str) -> None:
    """Record how a session ended."""
    connection.execute(
        "UPDATE sessions SET status = ?, reason = ? WHERE run = ? AND number = ?",
        (status, reason, run.number, run.session),
    )


def remove_run(connection: sqlite3.Connection, blobs: Blobs, name: str) -> tuple[bytes, ...]:
    """Forget a run, but for the answers that other runs used; return the digests of bodies that no row names now."""
    names = {each: number for number, each in connection.execute("SELECT number, name FROM runs") if each is not None}
    if name not in names:
        raise unknown_name("run", name, names)
    number = names[name]
    digests = set(connection.execute(_DIGESTS))
    connection.execute("DELETE FROM events WHERE run = ?", (number,))
    connection.execute("DELETE FROM phases WHERE run = ?", (number,))
    connection.execute("DELETE FROM sessions WHERE run = ?", (number,))
    connection.execute("DELETE FROM intents WHERE ref BETWEEN ? AND ?", codec.span(number))
    connection.execute("UPDATE runs SET name = NULL, plan = x'' WHERE number = ?", (number,))
    _remove_unused_answers(connection, blobs)
    return tuple(digest for (digest,) in digests - set(connection.execute(_DIGESTS)))


def _remove_unused_answers(connection: sqlite3.Connection, blobs: Blobs) -> None:
    """Of the runs without a name, keep only what phases of other runs used; then let the next answer come first."""
    used = _used_refs(connection, blobs)
    for (number,) in connection.execute("SELECT number FROM runs WHERE name IS NULL").fetchall():
        refs = connection.execute("SELECT ref FROM results WHERE ref BETWEEN ? AND ?", codec.span(number)).fetchall()
        unused = [ref for ref in refs if codec.unpack(ref[0]) not in used]
        connection.executemany("DELETE FROM results WHERE ref = ?", unused)
        if len(unused) == len(refs):
            connection.execute("DELETE FROM runs WHERE number = ?", (number,))
    connection.execute("DELETE FROM answers WHERE ref NOT IN (SELECT ref FROM results)")
    connection.execute("INSERT OR IGNORE INTO answers SELECT key, ref FROM results WHERE ok ORDER BY at, ref")


def _used_refs(connection: sqlite3.Connection, blobs: Blobs) -> frozenset[Ref]:
    used: set[Ref] = set()
    for path, body, digest in connection.execute("SELECT path, body, digest FROM phases"):
        record = codec.decode_phase(path, blobs.read(digest) if body is None else body)
        used.update(outcome for outcome in record.outcomes if isinstance(outcome, Ref))
    return frozenset(used)
