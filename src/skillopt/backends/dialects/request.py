"""Writes request bodies in which messages are a list, and refuses what a backend cannot be asked.
Owns what is encoded once and kept; refuses to know addresses, keys and replies."""

from __future__ import annotations

import base64
from collections.abc import Callable, Collection

import msgspec

from skillopt.backends.settings import JsonFields
from skillopt.domain.chat import ChatRequest, Feature, Image, Message
from skillopt.domain.errors import RefusedError

_KEPT_PROMPTS = 8


class Names(msgspec.Struct, frozen=True, kw_only=True):
    """What a dialect or a provider calls the fields of a request."""

    messages: str = "messages"
    limit: str = "max_tokens"
    seed: str = "seed"


class Turns(msgspec.Struct, frozen=True, kw_only=True):
    """How a dialect writes what is more than text: a message with images or calls, the fields of schema and tools."""

    message: Callable[[Message], bytes]
    fields: Callable[[ChatRequest], JsonFields]


class Bounds(msgspec.Struct, frozen=True, kw_only=True):
    """What a model behind some settings cannot be asked, and which fields they have taken; `who` is for messages."""

    who: str = ""
    lacks: frozenset[Feature] = frozenset()
    taken: frozenset[str] = frozenset()

    def check(self, request: ChatRequest) -> None:
        """Refuse a request for what this model lacks: left out in silence, it would be another request."""
        for feature in request.wants:
            if feature in self.lacks:
                raise RefusedError(
                    f"{self.who} takes no {feature}, and this request has {'one' if feature == 'schema' else 'some'}.",
                    hint="Choose another model or backend for this role.",
                )

    def encoded(self, fields: JsonFields) -> bytes:
        """Return the fields of a request's own, each after a comma; one that extra_body has as well is refused."""
        clash = sorted(self.taken & fields.keys())
        if clash:
            raise RefusedError(
                f"extra_body sets {', '.join(clash)}, and this request brings its own.",
                hint="Take it out of extra_body.",
            )
        try:
            return b"," + msgspec.json.encode(fields)[1:-1] if fields else b""
        except UnicodeEncodeError as error:
            raise RefusedError(
                "A tool or a schema has half a character (a lone surrogate), which no server can read.",
                hint="Clean its name and its description.",
            ) from error


class RequestWriter:
    """Writes request bodies of one model; what does not change between requests is encoded once.

    The system prompt of thousands of calls is one long text, so the last few are kept in encoded form.
    """

    def __init__(
        self, model: str, names: Names, turns: Turns, *, constants: bytes = b"", bounds: Bounds = Bounds()
    ) -> None:
        """Take the model's name, the names of fields and, each after a comma, the fields that never change."""
        self._start = b'{"model":%b,"%b":[' % (msgspec.json.encode(model), names.messages.encode())
        self._limit = b'],"%b":%%d' % names.limit.encode()
        self._seed = b',"%b":%%d' % names.seed.encode()
        self._turns = turns
        self._bounds = bounds
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
        if request.is_text:
            messages = b",".join([self._message(message) for message in request.messages])
        else:
            self._bounds.check(request)
            messages = b",".join([guarded(message, self._turns.message) for message in request.messages])
            parts.append(self._bounds.encoded(self._turns.fields(request)))
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
    """Return a message of text as JSON; half a character is refused."""
    try:
        return msgspec.json.encode(message)
    except UnicodeEncodeError as error:
        raise _halved(message) from error


def guarded(message: Message, write: Callable[[Message], bytes]) -> bytes:
    """Return what this writes of a message; half a character is refused."""
    try:
        return write(message)
    except UnicodeEncodeError as error:
        raise _halved(message) from error


def _halved(message: Message) -> RefusedError:
    return RefusedError(
        f"A {message.role} message has half a character (a lone surrogate), which no server can read.",
        hint="Clean the task or the skill it comes from.",
    )


def base64_of(image: Image) -> str:
    """Return the bytes of an image as JSON can hold them."""
    return base64.b64encode(image.data).decode("ascii")


def data_url(image: Image) -> str:
    """Return an image as an address that holds all of it."""
    return f"data:{image.media_type};base64,{base64_of(image)}"


def bounds(who: str, lacks: Collection[Feature], extra: JsonFields) -> Bounds:
    """Return the bounds of a model."""
    return Bounds(who=who, lacks=frozenset(lacks), taken=frozenset(extra))
