"""What a scripted model is asked and what it says: one value for every wire format and for the in-process port.
Owns the token count that stands in for a tokenizer; knows no rule, world or server."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from typing import Literal

import msgspec

from skillopt.domain.chat import ChatRequest, Finish
from skillopt.testing.faults import FaultKind

_Properties = Mapping[str, object]
Speaker = Literal["user", "assistant", "tool"]


class Turn(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """One thing that was said after the system text; a tool's output is a turn of its own.

    `images` are the digests of what was shown with it.
    """

    speaker: Speaker
    text: str
    images: tuple[str, ...] = ()


class Tool(msgspec.Struct, frozen=True, kw_only=True):
    """A tool that the caller offers: the fields of its arguments, each with its JSON type where that is one word.

    A `free` one has no fields: it takes text as it is, such as a script.
    """

    name: str
    fields: dict[str, str] = {}
    namespace: str = ""
    free: bool = False


class Schema(msgspec.Struct, frozen=True):
    """As much of a JSON schema as a brain may look at."""

    properties: _Properties | None = None

    @classmethod
    def read(cls, text: str) -> Schema:
        """Read a schema's text."""
        return msgspec.json.decode(text, type=cls)

    @property
    def fields(self) -> dict[str, str]:
        """Each property with its type; a type that is not one word counts as none."""
        return {} if self.properties is None else {name: _type_of(value) for name, value in self.properties.items()}


def _type_of(value: object) -> str:
    found = value.get("type") if isinstance(value, dict) else None
    return found if isinstance(found, str) else ""


class ToolCall(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A call that the model wants made; `arguments` is JSON text, broken on purpose perhaps, or a free tool's text."""

    name: str
    arguments: str
    namespace: str = ""
    free: bool = False


class Conversation(msgspec.Struct, frozen=True, kw_only=True):
    """All that a brain may look at. `form` has the fields of the JSON object in which the answer is wanted, if it is.

    An unset form is not part of the digest, so that conversations without one keep their names.
    """

    model: str
    system: str
    turns: tuple[Turn, ...]
    tools: tuple[Tool, ...] = ()
    max_tokens: int | None = None
    seed: int | None = None
    form: dict[str, str] | msgspec.UnsetType = msgspec.UNSET

    @property
    def role(self) -> str:
        """The part this model plays, told by its name: optimizer, judge or target."""
        if "opt" in self.model:
            return "optimizer"
        return "judge" if "judge" in self.model else "target"

    @property
    def asked(self) -> str:
        """The last thing the user said."""
        return next((turn.text for turn in reversed(self.turns) if turn.speaker == "user"), "")

    @property
    def everything(self) -> str:
        """The system text and all turns."""
        return "\n\n".join((self.system, *(turn.text for turn in self.turns)))

    @property
    def digest(self) -> str:
        """A name for exactly this conversation."""
        return hashlib.blake2b(msgspec.json.encode(self), digest_size=16).hexdigest()

    @property
    def input_tokens(self) -> int:
        """What reading this conversation is said to cost; at least one."""
        return max(1, count_tokens("", len(self.system) + sum(len(turn.text) for turn in self.turns)))


class BrainReply(msgspec.Struct, frozen=True, kw_only=True):
    """What a brain answers: text, tool calls, or a fault that the provider should show instead."""

    text: str = ""
    calls: tuple[ToolCall, ...] = ()
    finish: Finish = "stop"
    fault: FaultKind | None = None

    @property
    def output_tokens(self) -> int:
        """What saying this is said to cost; at least one, as with real models, which always emit an end."""
        return max(1, count_tokens(self.text, sum(len(call.name) + len(call.arguments) for call in self.calls)))

    def within(self, max_tokens: int | None) -> BrainReply:
        """Return this reply as a model with so many output tokens gives it: whole, or stopped for length."""
        if max_tokens is None or self.output_tokens <= max_tokens:
            return self
        return BrainReply(text=self.text[: max_tokens * 4], finish="length")


Brain = Callable[[Conversation], BrainReply]


def count_tokens(text: str, more: int = 0) -> int:
    """Return the scripted token count: a quarter of the characters, rounded up."""
    return -(-(len(text) + more) // 4)


def conversation_of(request: ChatRequest, model: str) -> Conversation:
    """Return a port's request as a brain sees it."""
    system = "\n\n".join(message.content for message in request.messages if message.role == "system")
    turns = tuple(
        Turn(message.role, message.content, tuple(image.digest for image in message.images))
        for message in request.messages
        if message.role != "system"
    )
    return Conversation(
        model=model,
        system=system,
        turns=turns,
        tools=tuple(Tool(name=tool.name, fields=Schema.read(tool.parameters).fields) for tool in request.tools),
        max_tokens=request.max_tokens,
        seed=request.seed,
        form=msgspec.UNSET if request.schema is None else Schema.read(request.schema.definition).fields,
    )
