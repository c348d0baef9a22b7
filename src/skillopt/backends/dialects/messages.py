"""Anthropic's messages dialect: requests with cache marks and thinking, and replies whole or streamed.
Owns the JSON shapes; refuses to know connections, keys, money and which error a fault becomes."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from types import MappingProxyType

import msgspec

from skillopt.backends.dialects.message_turns import request_fields, written_turns
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
from skillopt.backends.dialects.request import Bounds, encoded
from skillopt.backends.faults import read_complaint
from skillopt.domain.chat import ChatRequest, Finish, Message, ToolCall

_FINISHES: Mapping[str, Finish] = MappingProxyType(
    {
        "end_turn": "stop",
        "stop_sequence": "stop",
        "tool_use": "tool",
        "max_tokens": "length",
        "model_context_window_exceeded": "length",
        "refusal": "filtered",
    }
)
_KEPT_PROMPTS = 8
_MARK = b',"cache_control":{"type":"ephemeral"}'


class _Usage(msgspec.Struct, gc=False):
    input_tokens: int | None = None
    output_tokens: int | None = None
    cache_creation_input_tokens: int | None = None
    cache_read_input_tokens: int | None = None


class _Block(msgspec.Struct, gc=False):
    type: str | None = None
    text: str | None = None
    id: str | None = None
    name: str | None = None
    input: msgspec.Raw = msgspec.Raw()


class _Body(msgspec.Struct, gc=False):
    type: str | None = None
    content: list[_Block] | None = None
    stop_reason: str | None = None
    usage: _Usage | None = None
    model: str | None = None
    id: str | None = None
    error: msgspec.Raw = msgspec.Raw()


class _Delta(msgspec.Struct, gc=False):
    type: str | None = None
    text: str | None = None
    partial_json: str | None = None
    stop_reason: str | None = None


class _Event(msgspec.Struct, gc=False):
    type: str | None = None
    index: int | None = None
    message: _Body | None = None
    content_block: _Block | None = None
    delta: _Delta | None = None
    usage: _Usage | None = None
    error: msgspec.Raw = msgspec.Raw()


_BODIES = msgspec.json.Decoder(_Body)
_EVENTS = msgspec.json.Decoder(_Event)


class Messages:
    """The dialect of `/messages`, for one model with its settings; it knows no seed.

    The system text stands before everything else and is the same in thousands of calls: with `cache` it is marked for
    the provider to keep, and the last few are kept here in encoded form.
    """

    name = "messages"
    finishes = _FINISHES

    def __init__(
        self,
        model: str,
        *,
        temperature: float | None = None,
        cache: bool = True,
        stream: bool = False,
        constants: bytes = b"",
        bounds: Bounds = Bounds(),
    ) -> None:
        self._start = b'{"model":%b,"max_tokens":' % msgspec.json.encode(model)
        self._temperature = temperature
        self._mark = _MARK if cache else b""
        self._stream = stream
        self._bounds = bounds
        self._end = constants + b"}"
        self._prompts: dict[str, bytes] = {}

    def body(self, request: ChatRequest) -> bytes:
        """Return the JSON of a request."""
        temperature = self._temperature if request.temperature is None else request.temperature
        system = "\n\n".join(message.content for message in request.messages if message.role == "system")
        turns = [message for message in request.messages if message.role != "system"]
        plain = request.is_text
        parts = [self._start, b"%d" % request.max_tokens]
        if system:
            parts.append(self._system(system))
        said = b",".join([encoded(message) for message in turns]) if plain else written_turns(turns)
        parts.append(b',"messages":[%b]' % said)
        if temperature is not None:
            parts.append(b',"temperature":%b' % msgspec.json.encode(temperature))
        if not plain:
            self._bounds.check(request)
            parts.append(self._bounds.encoded(request_fields(request)))
        return b"".join((*parts, self._end))

    def read(self, body: bytes) -> Reading:
        """Read a whole reply, streamed or not."""
        return read_stream(body) if self._stream and is_stream(body) else read_message(body)

    def _system(self, text: str) -> bytes:
        known = self._prompts.get(text)
        if known is None:
            if len(self._prompts) >= _KEPT_PROMPTS:
                del self._prompts[next(iter(self._prompts))]
            content = encoded(Message("system", text)).removeprefix(b'{"role":"system","content":').removesuffix(b"}")
            known = self._prompts[text] = b',"system":[{"type":"text","text":%b%b}]' % (content, self._mark)
        return known


def read_message(body: bytes) -> Reading:
    """Read a whole reply."""
    found = decoded(_BODIES, body, "is not a message")
    if isinstance(found, Malformed):
        return found
    if complains(found.error):
        return complaint_of(found.error)
    if found.content is None:
        return read_complaint(body) or Malformed("has no content")
    return _completion(found, found.content, found.stop_reason or "", _bill(found.usage, None))


def read_stream(body: bytes) -> Reading:
    """Read a streamed reply; one that does not end with message_stop was cut."""
    blocks: dict[int | None, _Block] = {}
    begun = _Body()
    finish, written = "", None
    for data in events(body):
        event = decoded(_EVENTS, data, UNREADABLE_EVENT)
        if isinstance(event, Malformed):
            return event
        if complains(event.error):
            return complaint_of(event.error)
        begun = event.message or begun
        if event.type == "message_stop":
            return _completion(begun, blocks.values(), finish, _bill(begun.usage, written))
        if event.content_block is not None:
            blocks[event.index] = event.content_block
        if event.delta is not None:
            _extend(blocks.setdefault(event.index, _Block(type="text")), event.delta)
            finish = event.delta.stop_reason or finish
        if event.type == "message_delta":
            written = event.usage
    return Malformed("was cut: its stream has no message_stop")


def _extend(block: _Block, delta: _Delta) -> None:
    """Put a piece of a stream to its block; arguments come as pieces of their JSON."""
    block.text = (block.text or "") + (delta.text or "")
    if delta.partial_json:
        known = bytes(block.input)
        block.input = msgspec.Raw((b"" if known == b"{}" else known) + delta.partial_json.encode())


def _completion(said: _Body, blocks: Collection[_Block], finish: str, bill: Bill | None) -> Reading:
    calls = called(
        ToolCall(id=block.id or "", name=block.name or "", arguments=bytes(block.input).decode() or "{}")
        for block in blocks
        if block.type == "tool_use"
    )
    if isinstance(calls, Malformed):
        return calls
    return Completion(
        text="".join([block.text or "" for block in blocks if block.type == "text"]),
        finish=finish,
        model=said.model or "",
        id=said.id or "",
        bill=bill,
        calls=calls,
    )


def _bill(usage: _Usage | None, last: _Usage | None) -> Bill | None:
    """Return what is billed; `last` is the final word of a stream, and counts where it says something.

    What was read from the cache and what was written to it stand beside the input tokens, not among them.
    """
    if usage is None:
        return None
    output = usage.output_tokens if last is None or last.output_tokens is None else last.output_tokens
    if usage.input_tokens is None or output is None:
        return None
    cached = usage.cache_read_input_tokens
    written = usage.cache_creation_input_tokens
    kept, made = 0 if cached is None else cached, 0 if written is None else written
    return bounded(
        Bill(
            input_tokens=usage.input_tokens + kept + made,
            cached_tokens=kept,
            output_tokens=output,
            cache_written_tokens=made,
        )
    )
