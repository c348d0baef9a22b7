"""Looks things up in the database: answers for a run, and whole runs for viewers, beside a writer in any process.
Owns one read-only connection; refuses to change anything."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from skillopt.domain.errors import unknown_name
from skillopt.kernel.events import Event
from skillopt.kernel.journal import Key, PhaseRecord, Ref, RunRow, Spent, Stored
from skillopt.store import codec
from skillopt.store.beside.blobs import blobs_of
from skillopt.store.beside.intents import read_notes
from skillopt.store.beside.lock import is_held, locks_of
from skillopt.store.connection import open_to_read, worded
from skillopt.store.runs import RUN_LIST, seconds_a_call, spent

_LOOKUPS = 500
_FIND = (
    "SELECT results.ref, results.key, results.body, results.digest FROM answers JOIN results USING (ref) "
    "WHERE answers.key IN ({places})"
)
_FETCH = "SELECT ref, key, body, digest FROM results WHERE ok AND ref IN ({places})"


class SqliteReader:
    """The journal of a workspace, for reading: of a live, a finished or a killed run alike."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._blobs = blobs_of(path)
        with worded(path, "be opened"):
            self._connection = open_to_read(path)

    def __enter__(self) -> SqliteReader:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def runs(self) -> tuple[RunRow, ...]:
        """Return all runs, the oldest first."""
        with worded(self._path, "list its runs"):
            rows = self._connection.execute(RUN_LIST).fetchall()
        locks = locks_of(self._path)
        return tuple(codec.run_row(row, held=is_held(locks, row[1])) for row in rows)

    def plan(self, run: str) -> bytes | None:
        """Return the plan that a run was opened with, or None when there is no such run."""
        with worded(self._path, f"read the plan of run {run!r}"):
            row = self._connection.execute("SELECT plan FROM runs WHERE name = ?", (run,)).fetchone()
        return None if row is None else codec.plan(row)

    def events(self, run: str) -> tuple[Event, ...]:
        """Return the events of a run, in order; an unknown run has none."""
        return tuple(event for _, event in self.numbered_events(run))

    def numbered_events(self, run: str) -> tuple[tuple[int, Event], ...]:
        """Return the events of a run with their numbers, in order."""
        with worded(self._path, f"read the events of run {run!r}"):
            rows = self._connection.execute(
                "SELECT events.number, body, digest FROM events JOIN runs ON runs.number = run "
                "WHERE name = ? ORDER BY events.number",
                (run,),
            ).fetchall()
            return tuple((number, codec.decode_event(self._body(body, digest))) for number, body, digest in rows)

    def phases(self, run: str) -> tuple[PhaseRecord, ...]:
        """Return the finished phases of a run, by path; an unknown run has none."""
        with worded(self._path, f"read the phases of run {run!r}"):
            rows = self._connection.execute(
                "SELECT path, body, digest FROM phases JOIN runs ON runs.number = run WHERE name = ? ORDER BY path",
                (run,),
            ).fetchall()
            return tuple(codec.decode_phase(path, self._body(body, digest)) for path, body, digest in rows)

    def phase(self, run: int, path: str) -> PhaseRecord | None:
        """Return the record of one finished phase of the run with this number, or None."""
        with worded(self._path, f"read phase {path!r}"):
            row = self._connection.execute(
                "SELECT body, digest FROM phases WHERE run = ? AND path = ?", (run, path)
            ).fetchone()
            return None if row is None else codec.decode_phase(path, self._body(*row))

    def spent(self, run: str) -> Spent:
        """Return what a run has sent; while a process holds it, its latest requests are under way and not lost."""
        with worded(self._path, f"add up run {run!r}"):
            number = self._number(run)
            locks = locks_of(self._path)
            # before the database is read: what is committed in between is found there
            noted = read_notes(locks, run)
            with self._at_one_time():
                return spent(self._connection, self._blobs, number, held=is_held(locks, run), noted=noted)

    def seconds_a_call(self, run: str) -> dict[str, float]:
        """Return how long a run waited for an answer on average, by role."""
        with worded(self._path, f"time run {run!r}"):
            return seconds_a_call(self._connection, self._number(run))

    def find(self, keys: Sequence[Key]) -> dict[Key, Stored]:
        """Return the first answer for each key that has one."""
        return {stored.key: stored for stored in self._look_up(_FIND, keys)}

    def fetch(self, refs: Sequence[Ref]) -> dict[Ref, Stored]:
        """Return the answers of these attempts, without those that are missing."""
        packed = [codec.pack(ref.run, ref.attempt) for ref in refs]
        return {stored.ref: stored for stored in self._look_up(_FETCH, packed)}

    def close(self) -> None:
        """Let go of the database."""
        self._connection.close()

    def _number(self, run: str) -> int:
        rows = self._connection.execute("SELECT number, name FROM runs")
        names: dict[str, int] = {name: number for number, name in rows}
        if run not in names:
            raise unknown_name("run", run, (name for name in names if name is not None))
        return names[run]

    @contextmanager
    def _at_one_time(self) -> Iterator[None]:
        """See the database as it was at the first look, whatever is committed meanwhile."""
        self._connection.execute("BEGIN")
        try:
            yield
        finally:
            self._connection.execute("COMMIT")

    def _look_up(self, statement: str, wanted: Sequence[int] | Sequence[bytes]) -> Iterator[Stored]:
        with worded(self._path, "look up answers"):
            for start in range(0, len(wanted), _LOOKUPS):
                chunk = wanted[start : start + _LOOKUPS]
                rows = self._connection.execute(statement.format(places=", ".join("?" * len(chunk))), chunk).fetchall()
                for ref, key, body, digest in rows:
                    yield codec.decode_stored(ref, key, self._body(body, digest))

    def _body(self, body: bytes | None, digest: bytes) -> bytes:
        return self._blobs.read(digest) if body is None else body
