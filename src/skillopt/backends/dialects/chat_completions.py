"""The chat-completions dialect: how a request is written and a reply, whole or streamed, is read.
Owns the JSON shapes; refuses to know connections, keys, money and which error a fault becomes."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import msgspec

from skillopt.backends.dialects.reply import (
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
from skillopt.backends.dialects.request import RequestWriter
from skillopt.backends.faults import read_complaint
from skillopt.domain.chat import ChatRequest, Finish, ToolCall

_FINISHES: Mapping[str, Finish] = MappingProxyType(
    {
        "stop": "stop",
        "tool_calls": "tool",
        "function_call": "tool",
        "length": "length",
        "content_filter": "filtered",
    }
)


class _Details(msgspec.Struct, gc=False):
    cached_tokens: int | None = None


class _Written(msgspec.Struct, gc=False):
    reasoning_tokens: int | None = None


class _Usage(msgspec.Struct, gc=False):
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    total_tokens: int | None = None
    prompt_tokens_details: _Details | None = None
    completion_tokens_details: _Written | None = None


class _Part(msgspec.Struct, gc=False):
    type: str | None = None
    text: str | None = None


class _Function(msgspec.Struct, gc=False):
    name: str | None = None
    arguments: msgspec.Raw = msgspec.Raw()  # a text that holds JSON; some servers send the object itself


class _Call(msgspec.Struct, gc=False):
    index: int | None = None
    id: str | None = None
    function: _Function | None = None


class _Said(msgspec.Struct, gc=False):
    content: str | list[_Part] | None = None
    refusal: str | None = None
    tool_calls: list[_Call] | None = None


class _Choice(msgspec.Struct, gc=False):
    index: int | None = None
    message: _Said | None = None
    delta: _Said | None = None
    text: str | None = None  # what base models say, who know no messages
    finish_reason: str | None = None
    error: msgspec.Raw = msgspec.Raw()


class _Body(msgspec.Struct, gc=False):
    choices: list[_Choice] | None = None
    usage: _Usage | None = None
    model: str | None = None
    id: str | int | None = None
    error: msgspec.Raw = msgspec.Raw()


_BODIES = msgspec.json.Decoder(_Body)
_NO_COMPLETION = "is not a chat completion"


class ChatCompletions:
    """The dialect of `/chat/completions`, for one model with its settings."""

    name = "chat-completions"
    finishes = _FINISHES

    def __init__(
        self, writer: RequestWriter, *, temperature: float | None = None, seed: int | None = None, stream: bool = False
    ) -> None:
        self._writer = writer
        self._temperature = temperature
        self._seed = seed
        self._stream = stream

    def body(self, request: ChatRequest) -> bytes:
        """Return the JSON of a request."""
        return self._writer.body(request, temperature=self._temperature, seed=self._seed)

    def read(self, body: bytes) -> Reading:
        """Read a whole reply, streamed or not."""
        return read_stream(body) if self._stream and is_stream(body) else read_completion(body)


def read_completion(body: bytes) -> Reading:
    """Read a whole reply."""
    found = decoded(_BODIES, body, _NO_COMPLETION)
    if isinstance(found, Malformed):
        return found
    choice = found.choices[0] if found.choices else None
    if complains(found.error) or choice is None:
        return read_complaint(body) or Malformed("has no choices")
    if complains(choice.error):
        return complaint_of(choice.error)
    said = _Said(content=choice.text) if choice.message is None else choice.message
    if choice.message is None and choice.text is None:
        return Malformed("has a choice without a message")
    calls = _called([[each] for each in said.tool_calls]) if said.tool_calls else ()
    if isinstance(calls, Malformed):
        return calls
    return Completion(
        text=_words(said.content),
        refusal=said.refusal or "",
        finish=choice.finish_reason or "",
        model=found.model or "",
        id=_name(found),
        bill=_bill(found.usage),
        calls=calls,
    )


def read_stream(body: bytes) -> Reading:
    """Read a streamed reply, all of it; one that does not end with [DONE] was cut."""
    texts: list[str] = []
    refusals: list[str] = []
    pieces: list[list[_Call]] = []
    finish, model, name, bill = "", "", "", None
    for data in events(body):
        if data == b"[DONE]":
            calls = _called(pieces)
            if isinstance(calls, Malformed):
                return calls
            return Completion(
                text="".join(texts),
                refusal="".join(refusals),
                finish=finish,
                model=model,
                id=name,
                bill=bill,
                calls=calls,
            )
        chunk = decoded(_BODIES, data, _NO_COMPLETION)
        if isinstance(chunk, Malformed):
            return chunk
        if complains(chunk.error):
            return read_complaint(data) or Malformed("has an error without words")
        model, name, bill = chunk.model or model, _name(chunk) or name, _bill(chunk.usage) or bill
        for choice in chunk.choices or ():
            if complains(choice.error):
                return complaint_of(choice.error)
            if choice.index:  # only the first answer was asked for
                continue
            finish = choice.finish_reason or finish
            said = _Said(content=choice.text) if choice.delta is None else choice.delta
            texts.append(_words(said.content))
            refusals.append(said.refusal or "")
            for piece in said.tool_calls or ():
                _collect(pieces, piece)
    return Malformed("was cut: its stream has no end mark")


def _collect(calls: list[list[_Call]], piece: _Call) -> None:
    """Put a piece to the call it belongs to: the one of its number, or the last one where there are no numbers."""
    for begun in calls:
        if piece.index is not None and begun[0].index == piece.index:
            begun.append(piece)
            return
    if piece.index is None and piece.id is None and calls:
        calls[-1].append(piece)
    else:
        calls.append([piece])


def _called(calls: list[list[_Call]]) -> tuple[ToolCall, ...] | Malformed:
    """Return whole calls from their pieces."""
    return called(
        ToolCall(
            id=next((piece.id for piece in pieces if piece.id), ""),
            name="".join([piece.function.name or "" for piece in pieces if piece.function is not None]),
            arguments="".join([_arguments(piece.function) for piece in pieces if piece.function is not None]),
        )
        for pieces in calls
    )


def _arguments(function: _Function) -> str:
    given = bytes(function.arguments)
    if given.startswith(b'"'):
        return msgspec.json.decode(given, type=str)
    return "" if given in (b"", b"null") else given.decode()


def _words(content: str | list[_Part] | None) -> str:
    if isinstance(content, list):
        return "".join(part.text or "" for part in content if part.type == "text")
    return content or ""


def _name(found: _Body) -> str:
    return "" if found.id is None else str(found.id)


def _bill(usage: _Usage | None) -> Bill | None:
    """Return what is billed: some providers leave reasoning out of the completion but not out of the total."""
    if usage is None or usage.prompt_tokens is None or usage.completion_tokens is None:
        return None
    given, written = usage.prompt_tokens, usage.completion_tokens
    if usage.total_tokens is not None:
        written = max(written, usage.total_tokens - given)
    details, written_details = usage.prompt_tokens_details, usage.completion_tokens_details
    cached = 0 if details is None or details.cached_tokens is None else details.cached_tokens
    reasoning = None if written_details is None else written_details.reasoning_tokens
    return bounded(Bill(input_tokens=given, cached_tokens=cached, output_tokens=written, reasoning_tokens=reasoning))
