"""Rows of the database and the values they stand for: the one place that knows either's format.
Owns columns, packed references and the encoding of bodies; refuses to know when rows are written or read."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any

import msgspec

from skillopt.domain.chat import Reply
from skillopt.domain.errors import StoreError
from skillopt.domain.rollouts import Failure
from skillopt.domain.usage import NOTHING, Usage
from skillopt.kernel.events import Event
from skillopt.kernel.journal import Intent, Key, PhaseRecord, Ref, Result, RunRow, Spent, Stored

Value = int | float | str | bytes | None
Row = tuple[Value, ...]
# what a query returns: the columns say the types, and only this room reads them
Columns = tuple[Any, ...]

LARGE_BODY = 32 * 1024
COLUMNS: Mapping[str, str] = MappingProxyType(
    {
        "runs": "number, name, plan",
        "sessions": "run, number, first_attempt, started, seen, commits, status, reason",
        "intents": "ref, key, role, speculative, calls, input_tokens, cached_tokens, output_tokens, nano_usd, at",
        "results": "ref, key, ok, calls, input_tokens, cached_tokens, output_tokens, nano_usd, at, body, digest",
        "answers": "key, ref",
        "phases": "run, path, at, body, digest",
        "events": "run, number, at, body, digest",
    }
)
BODIED = ("results", "phases", "events")
_ATTEMPT_BITS = 32
_ATTEMPT_MASK = (1 << _ATTEMPT_BITS) - 1
_ENCODER = msgspec.msgpack.Encoder()
_REPLY = msgspec.msgpack.Decoder(Reply)
_VALUE: msgspec.msgpack.Decoder[Reply | Failure] = msgspec.msgpack.Decoder(Reply | Failure)
_EVENT: msgspec.msgpack.Decoder[Event] = msgspec.msgpack.Decoder(Event)
_OUTCOMES: msgspec.msgpack.Decoder[tuple[tuple[int, int] | Failure, ...]] = msgspec.msgpack.Decoder(
    tuple[tuple[int, int] | Failure, ...]
)


class Encoded(msgspec.Struct, frozen=True, gc=False):
    """A row ready to be written, and the body that goes to a file because it is too large for it."""

    row: Row
    blob: bytes | None = None


def insert(table: str, rows: int) -> str:
    """Return the statement that inserts so many rows; only the first answer to a key is kept."""
    columns = COLUMNS[table]
    places = f"({', '.join('?' * (columns.count(',') + 1))})"
    verb = "INSERT OR IGNORE" if table == "answers" else "INSERT"
    return f"{verb} INTO {table} ({columns}) VALUES {', '.join([places] * rows)}"


def pack(run: int, attempt: int) -> int:
    """Return run and attempt as the one integer that rows are ordered by."""
    return run << _ATTEMPT_BITS | attempt


def unpack(ref: int) -> Ref:
    """Return the reference that an integer stands for."""
    return Ref(ref >> _ATTEMPT_BITS, ref & _ATTEMPT_MASK)


def span(run: int) -> tuple[int, int]:
    """Return the lowest and the highest reference of a run."""
    return pack(run, 0), pack(run, _ATTEMPT_MASK)


def intent_row(run: int, intent: Intent, at: float) -> Row:
    """Return the row of a request about to be sent."""
    worst = intent.worst
    return (
        run << _ATTEMPT_BITS | intent.attempt,
        intent.key,
        intent.role,
        intent.speculative,
        worst.calls,
        worst.input_tokens,
        worst.cached_tokens,
        worst.output_tokens,
        worst.nano_usd,
        at,
    )


def result_row(run: int, result: Result, at: float) -> Encoded:
    """Return the row of what came of an attempt."""
    charged = result.charged
    body = encode(result.value)
    large = len(body) > LARGE_BODY
    row = (
        run << _ATTEMPT_BITS | result.attempt,
        result.key,
        type(result.value) is Reply,
        charged.calls,
        charged.input_tokens,
        charged.cached_tokens,
        charged.output_tokens,
        charged.nano_usd,
        at,
        None if large else body,
        hashlib.sha256(body).digest() if large else None,
    )
    return Encoded(row, body if large else None)


def answer_row(result: Row) -> Row | None:
    """Return the row that makes a result findable by its key, or None when it is a failure."""
    return (result[1], result[0]) if result[2] else None


def phase_row(run: int, record: PhaseRecord, at: float) -> Encoded:
    """Return the row of a finished phase."""
    return _with_body((run, record.path, at), encode(record.outcomes))


def event_row(run: int, number: int, body: bytes, at: float) -> Encoded:
    """Return the row of an encoded event."""
    return _with_body((run, number, at), body)


def _with_body(columns: Row, body: bytes) -> Encoded:
    if len(body) <= LARGE_BODY:
        return Encoded((*columns, body, None))
    return Encoded((*columns, None, hashlib.sha256(body).digest()), body)


def encode(value: Reply | Failure | tuple[Ref | Failure, ...] | Event) -> bytes:
    """Return the bytes of a body."""
    try:
        return _ENCODER.encode(value)
    except (UnicodeEncodeError, OverflowError) as error:
        raise StoreError(
            f"The journal cannot hold a {type(value).__name__}: {error}.",
            hint="Whoever made it must clean it first; please report this.",
        ) from error


def encode_event(event: Event) -> bytes:
    """Return the bytes of an event, the same for equal events: a whole number in a field of floats becomes a float."""
    return encode(decode_event(encode(event)))


def decode_event(body: bytes) -> Event:
    """Return the event in a body."""
    try:
        return _EVENT.decode(body)
    except msgspec.DecodeError as error:
        raise _unreadable("an event", error) from error


def decode_value(body: bytes) -> Reply | Failure:
    """Return what came of an attempt."""
    try:
        return _VALUE.decode(body)
    except msgspec.DecodeError as error:
        raise _unreadable("a result", error) from error


def decode_phase(path: str, body: bytes) -> PhaseRecord:
    """Return the record of a finished phase."""
    try:
        outcomes = _OUTCOMES.decode(body)
    except msgspec.DecodeError as error:
        raise _unreadable("a phase", error) from error
    return PhaseRecord(
        path=path, outcomes=tuple(each if isinstance(each, Failure) else Ref(*each) for each in outcomes)
    )


def decode_stored(ref: int, key: Key, body: bytes) -> Stored:
    """Return the answer in a body."""
    try:
        return Stored(ref=unpack(ref), key=key, answer=_REPLY.decode(body))
    except msgspec.DecodeError as error:
        raise _unreadable("an answer", error) from error


def _unreadable(what: str, error: msgspec.DecodeError) -> StoreError:
    return StoreError(
        f"The journal holds {what} that this version cannot read: {error}.",
        hint="Start the run again with --fresh, or use the version of skillopt that made it.",
    )


def read_intent(row: Columns) -> tuple[Intent, float]:
    """Return the request that a row stands for, and when it was recorded."""
    ref, key, role, speculative, *worst, at = row
    intent = Intent(
        attempt=unpack(ref).attempt, key=key, role=role, worst=_usage(*worst), speculative=bool(speculative)
    )
    return intent, at


def read_result(row: Columns, body: bytes) -> tuple[Result, float]:
    """Return what came of an attempt, from its row and its body, and when it was recorded."""
    ref, key, _, *charged, at, _, _ = row
    result = Result(attempt=unpack(ref).attempt, key=key, charged=_usage(*charged), value=decode_value(body))
    return result, at


def _usage(calls: int, input_tokens: int, cached_tokens: int, output_tokens: int, nano_usd: int) -> Usage:
    return Usage(
        calls=calls,
        input_tokens=input_tokens,
        cached_tokens=cached_tokens,
        output_tokens=output_tokens,
        nano_usd=nano_usd,
    )


class Account(msgspec.Struct, frozen=True, array_like=True):
    """All attempts of a run that ended alike: a row of the queries that add up."""

    outcome: str
    speculative: bool
    attempts: int
    calls: int
    input_tokens: int
    cached_tokens: int
    output_tokens: int
    nano_usd: int

    @property
    def usage(self) -> Usage:
        """What they are charged with."""
        return Usage(
            calls=self.calls,
            input_tokens=self.input_tokens,
            cached_tokens=self.cached_tokens,
            output_tokens=self.output_tokens,
            nano_usd=self.nano_usd,
        )


def packed_refs(phases: Iterable[PhaseRecord]) -> bytes:
    """Return the answers that phases used, as a JSON list of integers, for a query to look into."""
    used = {pack(*msgspec.structs.astuple(each)) for record in phases for each in record.outcomes if type(each) is Ref}
    return msgspec.json.encode(list(used))


def spent(rows: Iterable[Columns], seconds: float) -> Spent:
    """Return what a run has sent, from its accounts."""
    accounts = msgspec.convert([row for row in rows if row[2]], list[Account], strict=False)

    def of(outcome: str) -> tuple[int, Usage]:
        mine = [account for account in accounts if account.outcome == outcome]
        return sum(account.attempts for account in mine), sum((account.usage for account in mine), NOTHING)

    (answered, paid), (failed, failed_usage), (lost, lost_usage) = of("answered"), of("failed"), of("lost")
    under_way, _ = of("under way")
    unused, unused_usage = of("unused")
    early = [account.usage for account in accounts if account.speculative and account.outcome != "under way"]
    return Spent(
        attempts=answered + failed + lost + under_way,
        answered=answered,
        failed=failed,
        lost=lost,
        charged=paid + failed_usage + lost_usage,
        failed_usage=failed_usage,
        lost_usage=lost_usage,
        early=sum(early, NOTHING),
        unused=unused,
        unused_usage=unused_usage,
        seconds=seconds,
    )


def plan(row: Columns) -> bytes:
    """Return the plan of a run, from its row."""
    return bytes(row[0])


def run_row(row: Columns, *, held: bool) -> RunRow:
    """Return one run in a list, from its row."""
    number, name, status, reason, started, seen, sessions = row
    return RunRow(
        number=number,
        name=name,
        status=status,
        reason=reason,
        started=started,
        seen=seen,
        sessions=sessions,
        held=held,
    )
