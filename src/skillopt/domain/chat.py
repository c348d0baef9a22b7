"""What is said to a model and what it says back, whatever the wire format.
Owns the request and reply values, and how an image counts in a key; refuses to know providers, skills or scores."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Literal

import msgspec

from skillopt.domain.agency.transcripts import Transcript
from skillopt.domain.texts import changed_texts
from skillopt.domain.usage import Usage

Role = Literal["system", "user", "assistant", "tool"]
Finish = Literal["stop", "length", "filtered", "tool", "unknown"]
Feature = Literal["images", "schema", "tools"]
MediaType = Literal["image/png", "image/jpeg", "image/gif", "image/webp"]
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|/)")


def without_halves(text: str) -> str:
    """Return the text with lone surrogates replaced: JSON can spell them, but no file or request can hold them."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


class Image:
    """A picture that goes with a message, known by the digest of its bytes; they are fetched only when it is sent.

    Two images with the same bytes are equal wherever they come from, and an answer that is replayed opens no file.
    """

    __slots__ = ("_fetch", "digest", "media_type")

    def __init__(self, *, media_type: MediaType, digest: str, fetch: Callable[[], bytes]) -> None:
        self.media_type = media_type
        self.digest = digest
        self._fetch = fetch

    @property
    def data(self) -> bytes:
        """The bytes, fetched anew."""
        return self._fetch()

    def __eq__(self, other: object) -> bool:
        """Say whether this is the same picture."""
        return isinstance(other, Image) and (self.media_type, self.digest) == (other.media_type, other.digest)

    def __hash__(self) -> int:
        """Return the hash of the digest."""
        return hash(self.digest)

    def __repr__(self) -> str:
        """Return what is known without the bytes."""
        return f"Image({self.media_type}, {self.digest[:12]}…)"


def in_key(value: object) -> tuple[str, str]:
    """Return how an image stands in the digest of a request: an `enc_hook` for msgspec."""
    if isinstance(value, Image):
        return value.media_type, value.digest
    raise NotImplementedError(f"a {type(value).__name__} cannot be part of a key")


class ToolCall(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A call that a model wants made; `arguments` is the JSON text as it wrote it, right or not."""

    id: str
    name: str
    arguments: str

    def scrubbed(self, scrub: Callable[[str], str]) -> ToolCall:
        """Return this call without secrets and half characters, also such as JSON spells in ways of its own."""

        def clean(text: str) -> str:
            return scrub(without_halves(text))

        arguments = _changed_json(without_halves(self.arguments), clean)
        return ToolCall(id=clean(self.id), name=clean(self.name), arguments=scrub(arguments))


class Tool(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A tool that a model may call; `parameters` is the JSON schema of its arguments, as text."""

    name: str
    description: str
    parameters: str

    def __post_init__(self) -> None:
        _check_object(self.parameters, f"the parameters of the tool {self.name!r}")


class JsonSchema(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """What a reply must look like; `definition` is the JSON schema, as text.

    With `strict` the provider holds the model to it, if the definition keeps to what the provider can hold to.
    """

    name: str
    definition: str
    strict: bool = True

    def __post_init__(self) -> None:
        _check_object(self.definition, f"the definition of the schema {self.name!r}")


class Message(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """One turn of a conversation: a user's may show images, an assistant's ask for calls, a tool's answers a call."""

    role: Role
    content: str
    images: tuple[Image, ...] = ()
    calls: tuple[ToolCall, ...] = ()
    call_id: str = ""

    def __post_init__(self) -> None:
        if self.images or self.calls or self.call_id or self.role == "tool":
            self._check()

    def _check(self) -> None:
        if self.images and self.role != "user":
            raise ValueError("only a user message has images")
        if self.calls and self.role != "assistant":
            raise ValueError("only an assistant message has calls")
        if (self.role == "tool") is not bool(self.call_id):
            raise ValueError("a tool message, and no other, has the call_id that it answers")


class ChatRequest(msgspec.Struct, frozen=True, kw_only=True, gc=False, omit_defaults=True):
    """One request, complete: everything here may change the answer and so is part of its key.

    What is left out counts for nothing in a key, except that temperature and seed always count: answers recorded
    before requests had a schema and tools keep their keys.
    """

    messages: tuple[Message, ...]
    max_tokens: int
    temperature: float | None = msgspec.field(default_factory=type(None))  # a made default is never omitted
    seed: int | None = msgspec.field(default_factory=type(None))
    schema: JsonSchema | None = None
    tools: tuple[Tool, ...] = ()

    @property
    def images(self) -> tuple[Image, ...]:
        """Every image of every message."""
        return tuple([image for message in self.messages for image in message.images])

    @property
    def is_text(self) -> bool:
        """Whether there is nothing to it but texts, to be answered by a text."""
        if self.tools or self.schema is not None:
            return False
        # asked of every request: this is the quickest way to say it
        return not any([message.images or message.calls or message.call_id for message in self.messages])

    @property
    def wants(self) -> tuple[Feature, ...]:
        """What it takes to answer it, besides text; who lacks any of it must refuse, and never leave it out."""
        tools = self.tools or any(message.calls or message.call_id for message in self.messages)
        asked: dict[Feature, object] = {"images": self.images, "schema": self.schema, "tools": tools}
        return tuple([feature for feature, wanted in asked.items() if wanted])


class Reply(msgspec.Struct, frozen=True, kw_only=True, gc=False, omit_defaults=True, tag="reply"):
    """One answer of a model. `seconds` is how long it took; nothing that decides anything reads it.

    `reasoning_tokens` are those of the output that were thought and not said; None where the provider does not tell.
    `transcript` is what an agent did on the way; a model that was only asked has none. Where tools were declared, a
    reply may be nothing but `calls`.
    """

    text: str
    usage: Usage
    finish: Finish = "stop"
    model: str = ""
    request_id: str = ""
    seconds: float = 0.0
    reasoning_tokens: int | None = None
    transcript: Transcript | None = None
    calls: tuple[ToolCall, ...] = ()

    def scrubbed(self, scrub: Callable[[str], str]) -> Reply:
        """Return this reply without secrets and half characters; the same object when there was nothing to change."""
        said = (self.text, self.model, self.request_id)
        lines = "\n".join(said)
        told = self.transcript
        calls = self.calls and tuple([call.scrubbed(scrub) for call in self.calls])
        # one look instead of three: no secret is broken by a line's end
        if told is None and calls == self.calls and scrub(without_halves(lines)) == lines:
            return self
        text, model, request_id = (scrub(without_halves(part)) for part in said)
        if told is not None:
            told = told.scrubbed(lambda part: scrub(without_halves(part)))
        return msgspec.structs.replace(
            self, text=text, model=model, request_id=request_id, transcript=told, calls=calls
        )


class ModelIdentity(msgspec.Struct, frozen=True, kw_only=True):
    """Who answers: what is part of every key, and the account whose limits are shared."""

    backend: str
    address: str
    model: str
    sampling: str = ""

    @property
    def account(self) -> str:
        """The name under which calls share slots and rate limits."""
        return f"{self.backend} {self.address}"


def _changed_json(text: str, change: Callable[[str], str]) -> str:
    """Return a JSON text with every text in it changed; of one that is broken, what its escapes spell is changed."""
    try:
        found = json.loads(text)  # not msgspec: it refuses half characters, and with them all the rest
        changed = changed_texts(found, change)
        spelled = json.dumps(changed, ensure_ascii=False)
        same = changed == found
    except (ValueError, RecursionError):
        spelled = _ESCAPE.sub(lambda escape: chr(int(escape[1], 16)) if escape[1] else "/", text)
        same = True
    return text if same and change(spelled) == spelled else change(spelled)


def _check_object(text: str, what: str) -> None:
    try:
        msgspec.json.decode(text, type=dict)
    except (msgspec.DecodeError, RecursionError) as error:
        raise ValueError(f"{what} must be the text of a JSON object") from error
