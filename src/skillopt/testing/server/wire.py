"""What the dialects have in common: a request read, a reply to be written, and each provider's error bodies.
Owns the dialect contract; knows neither HTTP nor brains."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping
from types import MappingProxyType
from typing import Protocol

import msgspec

from skillopt.testing.conversation import BrainReply, Conversation, Schema, Tool
from skillopt.testing.faults import FAULTS, FaultKind
from skillopt.testing.server.connection import HttpReply

JsonObject = Mapping[str, object]
encode = msgspec.json.Encoder().encode


class _Url(msgspec.Struct, frozen=True, gc=False):
    url: str = ""


class Source(msgspec.Struct, frozen=True, gc=False):
    """The bytes of an image, as Anthropic has them."""

    data: str = ""


class Part(msgspec.Struct, frozen=True, gc=False):
    """A piece of content: text, or an image in a data URL or by its bytes."""

    type: str = ""
    text: str = ""
    image_url: str | _Url | None = None
    source: Source | None = None


Content = str | list[Part] | None


def text_of(content: Content) -> str:
    """Return the text of a content."""
    if content is None:
        return ""
    return content if isinstance(content, str) else "".join(part.text for part in content)


def tool_of(name: str, schema: Schema | None, namespace: str = "") -> Tool:
    """Return a declared tool as a brain sees it."""
    return Tool(name=name, fields={} if schema is None else schema.fields, namespace=namespace)


def images_of(content: Content) -> tuple[str, ...]:
    """Return the digests of the images of a content."""
    return () if content is None or isinstance(content, str) else tuple(filter(None, map(_image, content)))


def digest_of(source: Source) -> str:
    """Return the digest of an image."""
    try:
        data = base64.b64decode(source.data)
    except ValueError:  # no base64: whatever it is, it has a name
        data = source.data.encode("utf-8", "surrogatepass")
    return hashlib.sha256(data).hexdigest()


def _image(part: Part) -> str | None:
    if part.source is not None:
        return digest_of(part.source)
    if part.image_url is None:
        return None
    url = part.image_url if isinstance(part.image_url, str) else part.image_url.url
    return digest_of(Source(url.partition(";base64,")[2]))


class Call(msgspec.Struct, frozen=True, kw_only=True):
    """A request in one dialect, read. `identity` names one whose client may send it again in other bytes."""

    conversation: Conversation
    stream: bool = False
    stream_usage: bool = True
    identity: str | None = None


class Dialect(Protocol):
    """One wire format of a provider."""

    @property
    def vendor(self) -> str:
        """Whose error bodies it uses: openai or anthropic."""
        ...

    def read(self, body: bytes) -> Call:
        """Read a request; raises msgspec.DecodeError when it is not one."""
        ...

    def reply(self, call: Call, said: BrainReply, request_id: str) -> JsonObject:
        """Return the body of a reply that is not streamed."""
        ...

    def events(self, call: Call, said: BrainReply, request_id: str) -> tuple[bytes, ...]:
        """Return the frames of a streamed reply."""
        ...

    def failure(self, call: Call, kind: FaultKind, request_id: str) -> HttpReply:
        """Return a 200 reply that carries an error all the same."""
        ...


def data_frame(value: object) -> bytes:
    """Return a server-sent event without a name."""
    return b"data: " + encode(value) + b"\n\n"


def named_frame(name: str, value: JsonObject) -> bytes:
    """Return a server-sent event whose name is also the `type` of its value."""
    return f"event: {name}\n".encode() + data_frame({"type": name, **value})


def pieces(text: str) -> tuple[str, ...]:
    """Return a text cut in at most three, so that a client has something to join."""
    size = max(1, -(-len(text) // 3))
    return tuple(text[start : start + size] for start in range(0, len(text), size))


class _Names(msgspec.Struct, frozen=True):
    """What the providers call a fault: OpenAI's type and code, Anthropic's type."""

    openai_type: str
    openai_code: str | None
    anthropic_type: str


_BAD_REQUEST = _Names("invalid_request_error", None, "invalid_request_error")
_DOWN = _Names("server_error", "server_error", "api_error")
_NAMES: Mapping[FaultKind, _Names] = MappingProxyType(
    {
        FaultKind.RATE_LIMIT: _Names("requests", "rate_limit_exceeded", "rate_limit_error"),
        FaultKind.INTERNAL: _DOWN,
        FaultKind.UNAVAILABLE: _DOWN,
        FaultKind.OVERLOADED: _Names("server_error", "overloaded", "overloaded_error"),
        FaultKind.AUTH: _Names("invalid_request_error", "invalid_api_key", "authentication_error"),
        FaultKind.FORBIDDEN: _Names("request_forbidden", None, "permission_error"),
        FaultKind.QUOTA: _Names("insufficient_quota", "insufficient_quota", "billing_error"),
        FaultKind.QUOTA_429: _Names("insufficient_quota", "insufficient_quota", "billing_error"),
        FaultKind.UNKNOWN_MODEL: _Names("invalid_request_error", "model_not_found", "not_found_error"),
        FaultKind.CONTEXT: _Names("invalid_request_error", "context_length_exceeded", "invalid_request_error"),
        FaultKind.ERROR_BODY: _DOWN,
    }
)


def fault_body(vendor: str, kind: FaultKind, request_id: str) -> JsonObject:
    """Return a provider's error body for a fault that has one."""
    return _error(vendor, _NAMES[kind], FAULTS[kind].says, request_id)


def refusal_body(vendor: str, message: str, request_id: str) -> JsonObject:
    """Return a provider's error body for a request that cannot be served."""
    return _error(vendor, _BAD_REQUEST, message, request_id)


def _error(vendor: str, names: _Names, message: str, request_id: str) -> JsonObject:
    if vendor == "anthropic":
        return {
            "type": "error",
            "error": {"type": names.anthropic_type, "message": message},
            "request_id": request_id,
        }
    return {"error": {"message": message, "type": names.openai_type, "param": None, "code": names.openai_code}}
