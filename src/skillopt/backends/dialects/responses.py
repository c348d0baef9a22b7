"""The responses dialect of OpenAI and Azure: requests, and replies whole or streamed.
Owns the JSON shapes; refuses to know connections, keys, money and which error a fault becomes."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import msgspec

from skillopt.backends.dialects.reply import (
    UNREADABLE_EVENT,
    Bill,
    Completion,
    Malformed,
    Reading,
    bounded,
    called,
    complains,
    complaint_of,
    decoded,
    events,
    is_stream,
)
from skillopt.backends.dialects.request import Names, RequestWriter
from skillopt.backends.faults import Complaint, read_complaint
from skillopt.domain.chat import ChatRequest, Finish, ToolCall

_FINISHES: Mapping[str, Finish] = MappingProxyType(
    {
        "completed": "stop",
        "tool": "tool",
        "max_output_tokens": "length",
        "content_filter": "filtered",
    }
)
_ENDS = ("response.completed", "response.incomplete", "response.failed")
NAMES = Names(messages="input", limit="max_output_tokens")


class _Details(msgspec.Struct, gc=False):
    cached_tokens: int | None = None
    reasoning_tokens: int | None = None


class _Usage(msgspec.Struct, gc=False):
    input_tokens: int | None = None
    output_tokens: int | None = None
    input_tokens_details: _Details | None = None
    output_tokens_details: _Details | None = None


class _Part(msgspec.Struct, gc=False):
    type: str | None = None
    text: str | None = None
    refusal: str | None = None


class _Item(msgspec.Struct, gc=False):
    type: str | None = None
    content: list[_Part] | None = None
    call_id: str | None = None
    name: str | None = None
    arguments: str | None = None


class _Why(msgspec.Struct, gc=False):
    reason: str | None = None


class _Body(msgspec.Struct, gc=False):
    status: str | None = None
    output: list[_Item] | None = None
    usage: _Usage | None = None
    model: str | None = None
    id: str | None = None
    incomplete_details: _Why | None = None
    error: msgspec.Raw = msgspec.Raw()


class _Event(msgspec.Struct, gc=False):
    type: str | None = None
    response: msgspec.Raw = msgspec.Raw()
    error: msgspec.Raw = msgspec.Raw()


_BODIES = msgspec.json.Decoder(_Body)
_EVENTS = msgspec.json.Decoder(_Event)


class Responses:
    """The dialect of `/responses`, for one model with its settings; it knows no seed."""

    name = "responses"
    finishes = _FINISHES

    def __init__(self, writer: RequestWriter, *, temperature: float | None = None, stream: bool = False) -> None:
        self._writer = writer
        self._temperature = temperature
        self._stream = stream

    def body(self, request: ChatRequest) -> bytes:
        """Return the JSON of a request."""
        return self._writer.body(request, temperature=self._temperature, seed=None)

    def read(self, body: bytes) -> Reading:
        """Read a whole reply, streamed or not."""
        return read_stream(body) if self._stream and is_stream(body) else read_response(body)


def read_response(body: bytes) -> Reading:
    """Read a whole reply."""
    found = decoded(_BODIES, body, "is not a response")
    if isinstance(found, Malformed):
        return found
    if complains(found.error):
        return complaint_of(found.error)
    if found.status == "failed":
        return Complaint(message="The response failed.")
    if found.output is None:
        return read_complaint(body) or Malformed("has no output")
    parts = [part for item in found.output if item.type == "message" for part in item.content or ()]
    calls = called(
        ToolCall(id=item.call_id or "", name=item.name or "", arguments=item.arguments or "")
        for item in found.output
        if item.type == "function_call"
    )
    if isinstance(calls, Malformed):
        return calls
    return Completion(
        text="".join(part.text or "" for part in parts if part.type == "output_text"),
        refusal="".join(part.refusal or "" for part in parts if part.type == "refusal"),
        finish=_finish(found),
        model=found.model or "",
        id=found.id or "",
        bill=_bill(found.usage),
        calls=calls,
    )


def read_stream(body: bytes) -> Reading:
    """Read a streamed reply: its last event carries the whole of it; one without that event was cut."""
    for data in events(body):
        if data == b"[DONE]":
            break
        event = decoded(_EVENTS, data, UNREADABLE_EVENT)
        if isinstance(event, Malformed):
            return event
        if event.type == "error" or complains(event.error):
            return read_complaint(data) or Complaint()
        if event.type in _ENDS:
            return read_response(bytes(event.response))
    return Malformed("was cut: its stream has no last event")


def _finish(found: _Body) -> str:
    """Return how it ended in one word: a status says less than the reason beside it."""
    if found.incomplete_details is not None and found.incomplete_details.reason:
        return found.incomplete_details.reason
    if any(item.type == "function_call" for item in found.output or ()):
        return "tool"
    return found.status or ""


def _bill(usage: _Usage | None) -> Bill | None:
    if usage is None or usage.input_tokens is None or usage.output_tokens is None:
        return None
    given, written = usage.input_tokens_details, usage.output_tokens_details
    return bounded(
        Bill(
            input_tokens=usage.input_tokens,
            cached_tokens=0 if given is None or given.cached_tokens is None else given.cached_tokens,
            output_tokens=usage.output_tokens,
            reasoning_tokens=None if written is None else written.reasoning_tokens,
        )
    )
