"""What every dialect finds in a reply, and how server-sent events are taken apart.
Owns the values that the dialects share; refuses to know any provider's field names."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Protocol, TypeVar

import msgspec

from skillopt.backends.faults import Complaint, read_complaint
from skillopt.domain.chat import ChatRequest, Finish, ToolCall

Shape = TypeVar("Shape")
UNREADABLE_EVENT = "has an event that cannot be read"


class Bill(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The tokens a reply says it used; cached and written to the cache are parts of the input, reasoning of the output.

    `reasoning_tokens` is None where the provider does not tell.
    """

    input_tokens: int
    cached_tokens: int
    output_tokens: int
    cache_written_tokens: int = 0
    reasoning_tokens: int | None = None


class Completion(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """What a reply says, not yet judged: `finish` in the provider's word, `bill` None when it named no usage."""

    text: str
    refusal: str = ""
    finish: str = ""
    model: str = ""
    id: str = ""
    bill: Bill | None = None
    calls: tuple[ToolCall, ...] = ()


class Malformed(msgspec.Struct, frozen=True):
    """A reply that is not what this dialect promises."""

    reason: str


Reading = Completion | Complaint | Malformed


class Dialect(Protocol):
    """One wire format, made up for one model with its settings."""

    @property
    def name(self) -> str:
        """What such a server is called in messages."""
        ...

    @property
    def finishes(self) -> Mapping[str, Finish]:
        """What the provider's words for how a model ended mean."""
        ...

    def body(self, request: ChatRequest) -> bytes:
        """Return the JSON of a request."""
        ...

    def read(self, body: bytes) -> Reading:
        """Read a whole reply, streamed or not."""
        ...


def decoded(decoder: msgspec.json.Decoder[Shape], data: bytes, otherwise: str) -> Shape | Malformed:
    """Return what these bytes say in a dialect's own shape, or in which words they are malformed."""
    try:
        return decoder.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        return Malformed(f"{otherwise} ({type(error).__name__})")


def called(calls: Iterable[ToolCall]) -> tuple[ToolCall, ...] | Malformed:
    """Return the calls of a reply, each of which must say what is to be called."""
    found = tuple(calls)
    return found if all(call.name for call in found) else Malformed("has a tool call without a name")


def is_stream(body: bytes) -> bool:
    """Say whether a reply came as events: a server that does not know streams answers in one piece."""
    return body.lstrip()[:1] != b"{"


def events(body: bytes) -> Iterator[bytes]:
    """Yield the data of each server-sent event; other fields and comments are left out."""
    lines: list[bytes] = []
    for line in body.splitlines():
        if line.startswith(b"data:"):
            lines.append(line[5:].removeprefix(b" "))
        elif not line and lines:
            yield b"\n".join(lines)
            lines = []
    if lines:
        yield b"\n".join(lines)


def complains(error: msgspec.Raw) -> bool:
    """Say whether an `error` field holds one."""
    return bytes(error) not in (b"", b"null", b"{}", b'""')


def complaint_of(error: msgspec.Raw) -> Complaint:
    """Return what an `error` field says."""
    return read_complaint(b'{"error":%b}' % bytes(error)) or Complaint()


def bounded(bill: Bill) -> Bill | None:
    """Return a bill that can be right: cached tokens are no more than the input, and nothing is negative."""
    if min(bill.input_tokens, bill.output_tokens, bill.cached_tokens, bill.cache_written_tokens) < 0:
        return None
    if bill.cached_tokens <= bill.input_tokens:
        return bill
    return msgspec.structs.replace(bill, cached_tokens=bill.input_tokens)
