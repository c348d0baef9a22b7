"""A run as lines of JSON, complete with the answers of other runs that it used, and back into any journal.
Owns the format of the lines; refuses to know how rows are kept."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing
from itertools import chain
from pathlib import Path
from typing import Literal

import msgspec

from skillopt.domain.errors import InternalError, UsageError, unknown_name
from skillopt.domain.rollouts import Failure
from skillopt.kernel.events import Event
from skillopt.kernel.journal import Intent, PhaseRecord, Ref, Result, checked_name
from skillopt.store import codec
from skillopt.store.beside.blobs import Blobs, blobs_of
from skillopt.store.beside.intents import read_notes
from skillopt.store.beside.lock import locks_of
from skillopt.store.connection import open_to_read, open_to_write, worded
from skillopt.store.runs import unwritten

Outcomes = tuple[tuple[int, int] | Failure, ...]


class _Run(msgspec.Struct, frozen=True, kw_only=True, tag_field="line", tag="run"):
    """The first line; runs are numbered here as in the journal the run came from."""

    format: Literal[1] = 1
    number: int
    name: str
    plan: bytes


class _Session(msgspec.Struct, frozen=True, kw_only=True, tag_field="line", tag="session"):
    """One opening of the run."""

    number: int
    first_attempt: int
    started: float
    seen: float
    commits: int
    status: str
    reason: str


class _Intent(msgspec.Struct, frozen=True, kw_only=True, tag_field="line", tag="intent"):
    """A request that was sent."""

    at: float
    intent: Intent


class _Result(msgspec.Struct, frozen=True, kw_only=True, tag_field="line", tag="result"):
    """What came of a request, of this run or of another one whose answer this one used; first answers come first."""

    run: int
    at: float
    result: Result


class _Phase(msgspec.Struct, frozen=True, kw_only=True, tag_field="line", tag="phase"):
    """A finished phase."""

    at: float
    path: str
    outcomes: Outcomes


class _Happened(msgspec.Struct, frozen=True, kw_only=True, tag_field="line", tag="event"):
    """One event of the run."""

    number: int
    at: float
    event: Event


class _End(msgspec.Struct, frozen=True, kw_only=True, tag_field="line", tag="end"):
    """The last line, so that a file that was cut off is not taken for a whole one."""

    lines: int


Line = _Run | _Session | _Intent | _Result | _Phase | _Happened | _End
_DECODER: msgspec.json.Decoder[Line] = msgspec.json.Decoder(Line)


def export_run(journal: Path, run: str) -> Iterator[str]:
    """Yield the lines of a run; it may be live, and is told as it was at the first line."""
    with worded(journal, f"export run {run!r}"), closing(_Exporter(journal, run)) as exporter:
        count = 0
        for line in exporter.lines():
            count += 1
            yield msgspec.json.encode(line).decode()
        yield msgspec.json.encode(_End(lines=count)).decode()


class _Exporter:
    """Reads one run inside one transaction."""

    def __init__(self, journal: Path, run: str) -> None:
        self._blobs = blobs_of(journal)
        self._connection = open_to_read(journal)
        self._name = run
        self._locks = locks_of(journal)

    def close(self) -> None:
        """Let go of the database."""
        self._connection.close()

    def lines(self) -> Iterator[Line]:
        """Yield everything about the run but the end."""
        runs = {name: (number, plan) for number, name, plan in self._select("runs", "name IS NOT NULL")}
        if self._name not in runs:
            raise unknown_name("run", self._name, runs)
        number, plan = runs[self._name]
        # before the database is read: what is committed in between is found there
        noted = read_notes(self._locks, self._name)
        self._connection.execute("BEGIN")
        yield _Run(number=number, name=self._name, plan=plan)
        for _, session, first, started, seen, commits, status, reason in self._select(
            "sessions", "run = ? ORDER BY number", number
        ):
            yield _Session(
                number=session,
                first_attempt=first,
                started=started,
                seen=seen,
                commits=commits,
                status=status,
                reason=reason,
            )
        committed = self._select("intents", "ref BETWEEN ? AND ? ORDER BY ref", *codec.span(number))
        for row in chain(committed, unwritten(self._connection, noted, number)):
            intent, at = codec.read_intent(row)
            yield _Intent(at=at, intent=intent)
        phases = [
            (at, codec.decode_phase(path, self._body(body, digest)))
            for _, path, at, body, digest in self._select("phases", "run = ? ORDER BY rowid", number)
        ]
        yield from self._results(number, tuple(record for _, record in phases))
        for at, record in phases:
            outcomes = tuple((each.run, each.attempt) if isinstance(each, Ref) else each for each in record.outcomes)
            yield _Phase(at=at, path=record.path, outcomes=outcomes)
        for _, event, at, body, digest in self._select("events", "run = ? ORDER BY number", number):
            yield _Happened(number=event, at=at, event=codec.decode_event(self._body(body, digest)))

    def _results(self, run: int, phases: tuple[PhaseRecord, ...]) -> Iterator[_Result]:
        first = "(SELECT answers.ref FROM answers WHERE answers.key = results.key) IS NOT ref"
        condition = f"ref BETWEEN ? AND ? OR ref IN (SELECT value FROM json_each(?)) ORDER BY {first}, ref"
        for row in self._select("results", condition, *codec.span(run), codec.packed_refs(phases).decode()):
            result, at = codec.read_result(row, self._body(*row[-2:]))
            yield _Result(run=codec.unpack(row[0]).run, at=at, result=result)

    def _select(self, table: str, condition: str, *values: int | str) -> Iterator[codec.Columns]:
        yield from self._connection.execute(f"SELECT {codec.COLUMNS[table]} FROM {table} WHERE {condition}", values)

    def _body(self, body: bytes | None, digest: bytes) -> bytes:
        return self._blobs.read(digest) if body is None else body


def import_run(lines: Iterable[str], journal: Path) -> str:
    """Put an exported run into a journal, made if need be, all of it or nothing; return the run's name."""
    with worded(journal, "import a run"), closing(open_to_write(journal)) as connection:
        importer = _Importer(connection, blobs_of(journal))
        connection.execute("BEGIN IMMEDIATE")
        for number, text in enumerate(lines, start=1):
            importer.take(_parsed(number, text))
        name = importer.finished()
        connection.execute("COMMIT")
        return name


class _Importer:
    """Writes lines inside one transaction, with the numbers that are free here."""

    def __init__(self, connection: sqlite3.Connection, blobs: Blobs) -> None:
        self._connection = connection
        self._blobs = blobs
        self._run: _Run | None = None
        self._numbers: dict[int, int] = {}
        self._lines = 0
        self._ended = False

    def take(self, line: Line) -> None:
        """Write one line."""
        if self._run is None:
            if not isinstance(line, _Run):
                raise _broken("its first line is not the run")
            self._begin(line)
        elif isinstance(line, _Run) or self._ended:
            raise _broken("it holds more than one run")
        elif isinstance(line, _End):
            self._end(line)
        else:
            self._record(line, self._number(self._run.number))
        self._lines += 1

    def finished(self) -> str:
        """Return the run's name when all of it was there."""
        if self._run is None or not self._ended:
            raise _broken("it was cut off")
        return self._run.name

    def _begin(self, run: _Run) -> None:
        self._run = run
        names = {name for (name,) in self._connection.execute("SELECT name FROM runs")}
        if checked_name(run.name) in names:
            raise UsageError(
                f"This journal has a run {run.name!r} already.",
                hint="Remove that one first, or import into another folder with --workspace.",
            )
        self._numbers[run.number] = self._new_run(run.number, run.name, run.plan)

    def _end(self, end: _End) -> None:
        if end.lines != self._lines:
            raise _broken(f"it has {self._lines} lines of {end.lines}")
        self._ended = True

    def _record(self, line: _Session | _Intent | _Result | _Phase | _Happened, run: int) -> None:
        if isinstance(line, _Session):
            self._insert("sessions", codec.Encoded((run, *msgspec.structs.astuple(line))))
        elif isinstance(line, _Intent):
            self._insert("intents", codec.Encoded(codec.intent_row(run, line.intent, line.at)))
        elif isinstance(line, _Result):
            encoded = codec.result_row(self._number(line.run), line.result, line.at)
            self._insert("results", encoded)
            answer = codec.answer_row(encoded.row)
            if answer is not None:
                self._insert("answers", codec.Encoded(answer))
        elif isinstance(line, _Phase):
            outcomes = tuple(each if isinstance(each, Failure) else self._ref(*each) for each in line.outcomes)
            self._insert("phases", codec.phase_row(run, PhaseRecord(path=line.path, outcomes=outcomes), line.at))
        else:
            self._insert("events", codec.event_row(run, line.number, codec.encode_event(line.event), line.at))

    def _insert(self, table: str, encoded: codec.Encoded) -> None:
        if encoded.blob is not None:
            self._blobs.write(encoded.blob)
        self._connection.execute(codec.insert(table, 1), encoded.row)

    def _ref(self, run: int, attempt: int) -> Ref:
        return Ref(self._number(run), attempt)

    def _number(self, run: int) -> int:
        """Return the number here of a run there; one whose answers were used becomes a run without a name."""
        if run not in self._numbers:
            self._numbers[run] = self._new_run(run, None, b"")
        return self._numbers[run]

    def _new_run(self, wanted: int, name: str | None, plan: bytes) -> int:
        taken = self._connection.execute("SELECT 1 FROM runs WHERE number = ?", (wanted,)).fetchone()
        row = (None if taken else wanted, name, plan)
        number = self._connection.execute(codec.insert("runs", 1), row).lastrowid
        if number is None:
            raise InternalError("A new run got no number in the journal.")
        return number


def _parsed(number: int, text: str) -> Line:
    try:
        return _DECODER.decode(text)
    except msgspec.DecodeError as error:
        raise _broken(f"line {number} is not understood ({error})") from error


def _broken(why: str) -> UsageError:
    return UsageError(f"This is not a whole exported run: {why}.", hint="Export the run again, with the same version.")
