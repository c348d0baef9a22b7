"""The journal port over one SQLite file: checks each record, hands it to the writer and reads it back at once.
Owns the runs this process has open, and what is recorded but not committed yet; refuses to know SQL."""

from __future__ import annotations

import asyncio
import hashlib
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path

import msgspec

from skillopt.domain.chat import Reply
from skillopt.kernel.events import Event
from skillopt.kernel.journal import (
    Intent,
    Key,
    PhaseRecord,
    Ref,
    Result,
    RunHandle,
    RunRow,
    Spent,
    Stored,
    checked_name,
    closed_journal,
    diverged,
    finished_phase,
    missing_answer,
    no_intent,
    not_open,
    used_attempt,
)
from skillopt.kernel.ports import Clock
from skillopt.store import codec, runs
from skillopt.store.beside.blobs import blobs_of
from skillopt.store.beside.intents import IntentNotes, Session, notes_path, read_notes
from skillopt.store.beside.lock import RunLock, locks_of
from skillopt.store.connection import open_to_write, worded
from skillopt.store.reader import SqliteReader
from skillopt.store.transactions import Transactions
from skillopt.store.writer import Record, Writer

_GROUP_LIMIT = 2048


class _Open(msgspec.Struct, kw_only=True):
    """A run that this journal owns: its newest attempt, those without result, and the digests of its events."""

    handle: RunHandle
    lock: RunLock
    notes: IntentNotes | None
    newest: int
    in_flight: set[int]
    events: dict[int, bytes]


class _Pending:
    """What is recorded but not committed yet; the writer's thread takes things out once they are on disk."""

    def __init__(self) -> None:
        self.by_ref: dict[codec.Value, Stored] = {}
        self.by_key: dict[Key, Stored] = {}
        self.phases: dict[codec.Row, PhaseRecord] = {}
        self.events: dict[codec.Row, tuple[int, Event]] = {}

    def committed(self, records: Sequence[Record]) -> None:
        """Forget what the database has now."""
        for record in records:
            row = record.encoded.row
            if record.table == "results":
                stored = self.by_ref.pop(row[0], None)
                if stored is not None and self.by_key.get(stored.key) is stored:
                    del self.by_key[stored.key]
            elif record.table == "phases":
                del self.phases[row[:2]]
            elif record.table == "events":
                del self.events[row[:2]]


class SqliteJournal:
    """The journal of a workspace, in the file at `path`; blobs and locks are folders beside it.

    `after_append` and `group_limit` are the writer's: they make a durable point of each record for tests that kill, and
    with them every record takes its turn there. Otherwise nobody waits for an intent to get there: it is noted first.
    `connect` opens the database in the writer's thread.
    """

    def __init__(
        self,
        path: Path,
        *,
        clock: Clock,
        after_append: Callable[[int], None] | None = None,
        group_limit: int = _GROUP_LIMIT,
        connect: Callable[[Path], sqlite3.Connection] = open_to_write,
    ) -> None:
        self._path = path
        self._clock = clock
        self._open: dict[int, _Open] = {}
        self._pending = _Pending()
        self._closed = False
        self._writer = Writer(
            path,
            connect=lambda: Transactions(connect(path)),
            committed=self._pending.committed,
            after_append=after_append,
            group_limit=group_limit,
        )
        self._reader = SqliteReader(path)
        self._notes_first = after_append is None and group_limit > 1

    def open_run(self, name: str, plan: bytes) -> RunHandle:
        """Open or create a run, and begin a session of it."""
        self._usable()
        now = self._clock.wall()
        locks = locks_of(self._path)
        with worded(self._path, f"lock run {name!r}"):
            lock = RunLock.acquire(locks, checked_name(name), started=now)
        try:
            with worded(self._path, f"open run {name!r}"):
                noted = read_notes(locks, name)
                opened = self._writer.call(
                    now, lambda connection: runs.open_run(connection, name, plan, now, noted), lambda each: each.handle
                )
                handle = opened.handle
                # these take the place of what the last session noted: the database has it by now
                session = Session(handle.number, handle.session, now)
                notes = IntentNotes(notes_path(locks, name), session) if self._notes_first else None
        except BaseException:
            lock.release()
            raise
        newest = handle.next_attempt - 1
        self._open[handle.number] = _Open(
            handle=handle, lock=lock, notes=notes, newest=newest, in_flight=set(), events=opened.events
        )
        return handle

    def runs(self) -> tuple[RunRow, ...]:
        """Return all runs, the oldest first."""
        self._usable()
        return self._reader.runs()

    def plan(self, name: str) -> bytes | None:
        """Return the plan that a run was opened with."""
        self._usable()
        return self._reader.plan(name)

    def end_session(self, run: RunHandle, status: str, reason: str) -> None:
        """Record how this session of the run ended; durable when this returns."""
        self._owned(run)
        self._writer.call(self._clock.wall(), lambda connection: runs.end_session(connection, run, status, reason))

    def remove_run(self, name: str) -> None:
        """Forget a run, but for the answers that finished phases of other runs used."""
        self._usable()
        blobs = blobs_of(self._path)
        now = self._clock.wall()
        with ExitStack() as locks, worded(self._path, f"remove run {name!r}"):
            for row in self._reader.runs():
                locks.callback(RunLock.acquire(locks_of(self._path), row.name, started=now).release)
            for digest in self._writer.call(now, lambda connection: runs.remove_run(connection, blobs, name)):
                blobs.remove(digest)
            notes_path(locks_of(self._path), name).unlink(missing_ok=True)

    def find(self, keys: Sequence[Key]) -> dict[Key, Stored]:
        """Return the first answer for each key that has one."""
        self._usable()
        # before the database is asked: what is committed in between is found there
        pending = {key: stored for key in keys if (stored := self._pending.by_key.get(key)) is not None}
        return {**pending, **self._reader.find(keys)}

    def fetch(self, refs: Sequence[Ref]) -> dict[Ref, Stored]:
        """Return the answers of these attempts."""
        self._usable()
        pending = self._pending.by_ref
        found = {ref: stored for ref in refs if (stored := pending.get(codec.pack(ref.run, ref.attempt))) is not None}
        found |= self._reader.fetch([ref for ref in refs if ref not in found])
        for ref in refs:
            if ref not in found:
                raise missing_answer(ref)
        return found

    async def intend(self, run: RunHandle, intent: Intent) -> None:
        """Record that a request is about to be sent."""
        opened = self._owned(run)
        if intent.attempt <= opened.newest:
            raise used_attempt(run.name, intent.attempt)
        now = self._clock.wall()
        row = codec.intent_row(run.number, intent, now)
        opened.newest = intent.attempt
        opened.in_flight.add(intent.attempt)
        noted = opened.notes is not None and opened.notes.took(row)
        waiter = None if noted else asyncio.get_running_loop().create_future()
        self._writer.put(Record("intents", codec.Encoded(row), now, waiter))
        if waiter is not None:
            await waiter

    def settle(self, run: RunHandle, result: Result) -> None:
        """Record what came of an attempt."""
        opened = self._owned(run)
        if result.attempt not in opened.in_flight:
            raise no_intent(run.name, result.attempt)
        now = self._clock.wall()
        encoded = codec.result_row(run.number, result, now)
        if isinstance(result.value, Reply):
            stored = Stored(ref=Ref(run.number, result.attempt), key=result.key, answer=result.value)
            self._pending.by_ref[encoded.row[0]] = stored
            self._pending.by_key.setdefault(result.key, stored)
        opened.in_flight.discard(result.attempt)
        self._writer.put(Record("results", encoded, now))

    def phase(self, run: RunHandle, path: str) -> PhaseRecord | None:
        """Return the record of a finished phase, or None."""
        self._owned(run)
        pending = self._pending.phases.get((run.number, path))
        return self._reader.phase(run.number, path) if pending is None else pending

    def close_phase(self, run: RunHandle, record: PhaseRecord) -> None:
        """Record a finished phase."""
        if self.phase(run, record.path) is not None:
            raise finished_phase(run.name, record.path)
        now = self._clock.wall()
        encoded = codec.phase_row(run.number, record, now)
        self._pending.phases[run.number, record.path] = record
        self._writer.put(Record("phases", encoded, now))

    def append(self, run: RunHandle, number: int, event: Event) -> None:
        """Record the run's event with this number."""
        opened = self._owned(run)
        body = codec.encode_event(event)
        digest = hashlib.sha256(body).digest()
        if opened.events.setdefault(number, digest) is digest:
            self._pending.events[run.number, number] = number, event
            now = self._clock.wall()
            self._writer.put(Record("events", codec.event_row(run.number, number, body, now), now))
        elif opened.events[number] != digest:
            raise diverged(run.name, number)

    def events(self, run: str) -> tuple[Event, ...]:
        """Return the events of a run, in order; an unknown run has none."""
        self._usable()
        numbers = {opened.handle.name: opened.handle.number for opened in self._open.values()}
        pending = tuple(self._pending.events.items())
        found = dict(self._reader.numbered_events(run))
        found |= dict(numbered for (owner, _), numbered in pending if owner == numbers.get(run))
        return tuple(found[number] for number in sorted(found))

    def spent(self, run: RunHandle) -> Spent:
        """Return what the run has sent before and in this session."""
        self._owned(run)

        blobs = blobs_of(self._path)
        now = self._clock.wall()

        def add_up(connection: sqlite3.Connection) -> Spent:
            runs.touch(connection, run.number, run.session, now)
            return runs.spent(connection, blobs, run.number, held=True)

        return self._writer.call(now, add_up, durable=False)  # a look: what it saw is synced when it matters

    async def sync(self) -> None:
        """Return when everything recorded so far is on disk."""
        self._usable()
        await self._writer.sync(self._clock.wall())

    async def close(self) -> None:
        """Write what is pending and let go of the runs; raises a StoreError when something could not be written."""
        if self._closed:
            return
        self._closed = True
        now = self._clock.wall()
        self._reader.close()
        unwritten = True
        try:
            await self._writer.stop(now)
            unwritten = False
        finally:
            for opened in self._open.values():
                if opened.notes is not None:
                    opened.notes.close(needed=unwritten)
                opened.lock.release()
            self._open.clear()

    def _usable(self) -> None:
        if self._closed:
            raise closed_journal()
        self._writer.check()

    def _owned(self, run: RunHandle) -> _Open:
        self._usable()
        opened = self._open.get(run.number)
        if opened is None or opened.handle != run:
            raise not_open(run.name)
        return opened
