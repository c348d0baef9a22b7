"""The lines that Claude Code writes: events on its output, and records in the transcript that it keeps in its home.
Owns their shapes, as far as we read them, and reading them one by one; a line that is cut or new is left out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

import msgspec

SYNTHETIC = "<synthetic>"
Count = Annotated[int, msgspec.Meta(ge=0, le=1 << 53)]  # what else is told is no count


class Tokens(msgspec.Struct, frozen=True):
    """What one message, or the run, used in tokens."""

    input_tokens: Count | None = None
    output_tokens: Count | None = None
    cache_read_input_tokens: Count | None = None
    cache_creation_input_tokens: Count | None = None


class ModelTokens(msgspec.Struct, frozen=True, rename="camel"):
    """What the whole run used of one model."""

    input_tokens: Count = 0
    output_tokens: Count = 0
    cache_read_input_tokens: Count = 0
    cache_creation_input_tokens: Count = 0


class Block(msgspec.Struct, frozen=True):
    """A part of a message: text, thinking, the call of a tool, or its result."""

    type: str = ""
    text: str | None = None
    thinking: str | None = None
    id: str | None = None
    name: str | None = None
    input: msgspec.Raw = msgspec.Raw()
    tool_use_id: str | None = None
    content: str | list[Block] | None = None
    is_error: bool | None = None

    @property
    def words(self) -> str:
        """The text of a result."""
        if isinstance(self.content, str):
            return self.content
        return "\n".join(block.text or "" for block in self.content or ())


class Message(msgspec.Struct, frozen=True):
    """What was said by the model, or to it."""

    id: str | None = None
    model: str | None = None
    content: str | list[Block] | None = None
    usage: Tokens | None = None

    @property
    def blocks(self) -> list[Block]:
        """The parts; a plain text, which only a prompt is, has none."""
        return self.content if isinstance(self.content, list) else []


class Denial(msgspec.Struct, frozen=True):
    """A call that was not permitted."""

    tool_name: str | None = None
    tool_use_id: str | None = None


class Line(msgspec.Struct, frozen=True):
    """One line of either kind; which fields are set depends on its type; `noted_…` are of the transcript."""

    type: str = ""
    subtype: str | None = None
    uuid: str | None = None
    session_id: str | None = None
    message: Message | None = None
    tool_name: str | None = None
    tool_use_id: str | None = None
    is_error: bool | None = None
    api_error_status: int | None = None
    api_error: str | None = None
    api_error_type: str | None = None
    result: str | None = None
    structured_output: msgspec.Raw = msgspec.Raw()
    terminal_reason: str | None = None
    stop_reason: str | None = None
    num_turns: int | None = None
    errors: list[str] | None = None
    permission_denials: list[Denial] | None = None
    usage: Tokens | None = None
    model_usage: dict[str, ModelTokens] | None = msgspec.field(default=None, name="modelUsage")
    noted_status: int | None = msgspec.field(default=None, name="apiErrorStatus")
    noted_type: str | None = msgspec.field(default=None, name="apiErrorType")
    noted_denial: str | None = msgspec.field(default=None, name="toolDenialKind")

    @property
    def is_synthetic(self) -> bool:
        """Whether the program itself speaks in its model's place, as it does of an error."""
        return self.message is not None and self.message.model == SYNTHETIC


_decoder = msgspec.json.Decoder(Line)


def lines(data: bytes) -> Iterator[Line]:
    """Yield what can be read of an output; what is no event of a shape we know is passed over."""
    for raw in data.splitlines():
        line = read_line(raw)
        if line is not None:
            yield line


def read_line(raw: bytes) -> Line | None:
    """Read one line, or return None."""
    try:
        return _decoder.decode(raw)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return None
