"""Writes request bodies in which messages are a list of roles and contents.
Owns what is encoded once and kept; refuses to know addresses, keys and replies."""

from __future__ import annotations

import msgspec

from skillopt.domain.chat import ChatRequest, Message
from skillopt.domain.errors import RefusedError

_KEPT_PROMPTS = 8


class Names(msgspec.Struct, frozen=True, kw_only=True):
    """What a dialect or a provider calls the fields of a request."""

    messages: str = "messages"
    limit: str = "max_tokens"
    seed: str = "seed"


class RequestWriter:
    """Writes request bodies of one model; what does not change between requests is encoded once.

    The system prompt of thousands of calls is one long text, so the last few are kept in encoded form.
    """

    def __init__(self, model: str, names: Names, *, constants: bytes = b"") -> None:
        """Take the model's name, the names of fields and, each after a comma, the fields that never change."""
        self._start = b'{"model":%b,"%b":[' % (msgspec.json.encode(model), names.messages.encode())
        self._limit = b'],"%b":%%d' % names.limit.encode()
        self._seed = b',"%b":%%d' % names.seed.encode()
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
            parts.append(self._seed % seed)
        messages = b",".join([self._message(message) for message in request.messages])
        return b"".join((self._start, messages, *parts, self._end))

    def _message(self, message: Message) -> bytes:
        if message.role != "system":
            return encoded(message)
        known = self._prompts.get(message.content)
        if known is None:
            if len(self._prompts) >= _KEPT_PROMPTS:
                del self._prompts[next(iter(self._prompts))]
            known = self._prompts[message.content] = encoded(message)
        return known


def encoded(message: Message) -> bytes:
    """Return a message as JSON; half a character is refused."""
    try:
        return msgspec.json.encode(message)
    except UnicodeEncodeError as error:
        raise RefusedError(
            f"A {message.role} message has half a character (a lone surrogate), which no server can read.",
            hint="Clean the task or the skill it comes from.",
        ) from error
