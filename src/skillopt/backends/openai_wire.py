"""The chat-completions dialect: how a request is written and a reply, whole or streamed, is read.
Owns the JSON shapes; refuses to know connections, keys, money and which error a fault becomes."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from skillopt.backends.faults import Complaint, read_complaint
from skillopt.domain.chat import ChatRequest, Message
from skillopt.domain.errors import RefusedError

_KEPT_PROMPTS = 8


class Bill(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The tokens a reply says it used."""

    input_tokens: int
    cached_tokens: int
    output_tokens: int


class Completion(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """What a reply says, not yet judged: `finish` in the provider's word, `bill` None when it named no usage."""

    text: str
    refusal: str = ""
    finish: str = ""
    model: str = ""
    id: str = ""
    bill: Bill | None = None


class Malformed(msgspec.Struct, frozen=True):
    """A reply that is not what this dialect promises."""

    reason: str


class _Details(msgspec.Struct, gc=False):
    cached_tokens: int | None = None


class _Usage(msgspec.Struct, gc=False):
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    total_tokens: int | None = None
    prompt_tokens_details: _Details | None = None


class _Part(msgspec.Struct, gc=False):
    type: str | None = None
    text: str | None = None


class _Said(msgspec.Struct, gc=False):
    content: str | list[_Part] | None = None
    refusal: str | None = None


class _Choice(msgspec.Struct, gc=False):
    index: int | None = None
    message: _Said | None = None
    delta: _Said | None = None
    finish_reason: str | None = None
    error: msgspec.Raw = msgspec.Raw()


class _Body(msgspec.Struct, gc=False):
    choices: list[_Choice] | None = None
    usage: _Usage | None = None
    model: str | None = None
    id: str | int | None = None
    error: msgspec.Raw = msgspec.Raw()


_BODIES = msgspec.json.Decoder(_Body)


class RequestWriter:
    """Writes request bodies of one model; what does not change between requests is encoded once.

    The system prompt of thousands of calls is one long text, so the last few are kept in encoded form.
    """

    def __init__(self, model: str, *, max_tokens_field: str, constants: bytes = b"") -> None:
        """Take the model's name and, already encoded and each after a comma, the fields that never change."""
        self._start = b'{"model":%b,"messages":[' % msgspec.json.encode(model)
        self._limit = b'],"%b":%%d' % max_tokens_field.encode()
        self._end = constants + b"}"
        self._prompts: dict[str, bytes] = {}

    def body(self, request: ChatRequest, *, temperature: float | None, seed: int | None) -> bytes:
        """Return the JSON of a request; the two settings are used where the request leaves them open."""
        temperature = temperature if request.temperature is None else request.temperature
        seed = seed if request.seed is None else request.seed
        parts = [self._limit % request.max_tokens]
        if temperature is not None:
            parts.append(b',"temperature":%b' % msgspec.json.encode(temperature))
        if seed is not None:
            parts.append(b',"seed":%d' % seed)
        messages = b",".join([self._message(message) for message in request.messages])
        return b"".join((self._start, messages, *parts, self._end))

    def _message(self, message: Message) -> bytes:
        if message.role != "system":
            return _encoded(message)
        known = self._prompts.get(message.content)
        if known is None:
            if len(self._prompts) >= _KEPT_PROMPTS:
                del self._prompts[next(iter(self._prompts))]
            known = self._prompts[message.content] = _encoded(message)
        return known


def read_completion(body: bytes) -> Completion | Complaint | Malformed:
    """Read a whole reply."""
    found = _decoded(body)
    if isinstance(found, Malformed):
        return found
    choice = found.choices[0] if found.choices else None
    if _complains(found.error) or choice is None:
        return read_complaint(body) or Malformed("has no choices")
    if _complains(choice.error):
        return _complaint_of(choice.error)
    if choice.message is None:
        return Malformed("has a choice without a message")
    return Completion(
        text=_words(choice.message.content),
        refusal=choice.message.refusal or "",
        finish=choice.finish_reason or "",
        model=found.model or "",
        id=_name(found),
        bill=_bill(found.usage),
    )


def read_stream(body: bytes) -> Completion | Complaint | Malformed:
    """Read a streamed reply, all of it; one that does not end with [DONE] was cut."""
    texts: list[str] = []
    refusals: list[str] = []
    finish, model, name, bill = "", "", "", None
    for data in _events(body):
        if data == b"[DONE]":
            return Completion(
                text="".join(texts), refusal="".join(refusals), finish=finish, model=model, id=name, bill=bill
            )
        chunk = _decoded(data)
        if isinstance(chunk, Malformed):
            return chunk
        if _complains(chunk.error):
            return read_complaint(data) or Malformed("has an error without words")
        model, name, bill = chunk.model or model, _name(chunk) or name, _bill(chunk.usage) or bill
        for choice in chunk.choices or ():
            if _complains(choice.error):
                return _complaint_of(choice.error)
            if choice.index:  # only the first answer was asked for
                continue
            finish = choice.finish_reason or finish
            if choice.delta is not None:
                texts.append(_words(choice.delta.content))
                refusals.append(choice.delta.refusal or "")
    return Malformed("was cut: its stream has no end mark")


def _events(body: bytes) -> Iterator[bytes]:
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


def _encoded(message: Message) -> bytes:
    try:
        return msgspec.json.encode(message)
    except UnicodeEncodeError as error:
        raise RefusedError(
            f"A {message.role} message has half a character (a lone surrogate), which no server can read.",
            hint="Clean the task or the skill it comes from.",
        ) from error


def _decoded(body: bytes) -> _Body | Malformed:
    try:
        return _BODIES.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        return Malformed(f"is not a chat completion ({type(error).__name__})")


def _complains(error: msgspec.Raw) -> bool:
    return bytes(error) not in (b"", b"null", b"{}", b'""')


def _complaint_of(error: msgspec.Raw) -> Complaint:
    return read_complaint(b'{"error":%b}' % bytes(error)) or Complaint()


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
    details = usage.prompt_tokens_details
    cached = 0 if details is None or details.cached_tokens is None else details.cached_tokens
    if min(given, written, cached) < 0:
        return None
    return Bill(input_tokens=given, cached_tokens=min(cached, given), output_tokens=written)
