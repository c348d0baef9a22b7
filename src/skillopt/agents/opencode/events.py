"""The events that OpenCode writes on its output, and the errors that stand in its log only.
Owns their shapes; refuses to know what a run of them comes to, and the database with its history: the output tells
every call of a tool, and a database is opened in store/ only."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TypeVar

import msgspec

from skillopt.agents.telling.lines import decoded, left_file
from skillopt.agents.telling.tokens import Tokens

T = TypeVar("T", bound=msgspec.Struct)
_LOG = Path(".local/share/opencode/log/opencode.log")
_STREAM_ERROR = re.compile(rb'message="stream error".*? error\.error="((?:[^"\\\n]|\\.)*)', re.ASCII)
_EMPTY = msgspec.Raw(b"{}")


class Event(msgspec.Struct, frozen=True, rename={"session": "sessionID"}):
    """One event; what its part or its error holds is read once its type is known."""

    type: str = ""
    session: str = ""
    part: msgspec.Raw = _EMPTY
    error: msgspec.Raw = _EMPTY


class Text(msgspec.Struct, frozen=True, rename={"message": "messageID"}):
    """Something the model said or thought, within one message of it."""

    text: str = ""
    message: str = ""


class Metadata(msgspec.Struct, frozen=True):
    """How a command ended."""

    exit: int | None = None


class State(msgspec.Struct, frozen=True):
    """How a call of a tool went, and with what it was made."""

    status: str = ""
    input: msgspec.Raw = _EMPTY
    error: str = ""
    metadata: msgspec.Raw = _EMPTY


class Tool(msgspec.Struct, frozen=True, rename={"id": "callID"}):
    """A call of a tool, told when it is over."""

    tool: str
    state: State = State()
    id: str = ""


class Cache(msgspec.Struct, frozen=True):
    """Tokens of the provider's cache."""

    read: int = 0
    write: int = 0


class Spent(msgspec.Struct, frozen=True):
    """Tokens of one request; here those of the cache are no part of the input."""

    total: int | None = None
    input: int = 0
    output: int = 0
    reasoning: int = 0
    cache: Cache = Cache()

    @property
    def tokens(self) -> Tokens:
        """The tokens as they are counted everywhere else."""
        read = self.input + self.cache.read + self.cache.write
        written = self.output + self.reasoning if self.total is None else max(self.output, self.total - read)
        return Tokens(input=read, output=written, cached=self.cache.read, cache_written=self.cache.write)


class Finish(msgspec.Struct, frozen=True):
    """The end of one request."""

    reason: str = ""
    tokens: Spent | None = None


class Detail(msgspec.Struct, frozen=True, rename="camel"):
    """What is known of an error."""

    message: str = ""
    status_code: int | None = None
    response_body: str = ""
    response_headers: dict[str, str] = {}


class Fault(msgspec.Struct, frozen=True):
    """An error."""

    name: str = ""
    data: Detail = Detail()


EVENTS = msgspec.json.Decoder(Event)
TEXT = msgspec.json.Decoder(Text)
TOOL = msgspec.json.Decoder(Tool)
FINISH = msgspec.json.Decoder(Finish)
METADATA = msgspec.json.Decoder(Metadata)
_FAULT = msgspec.json.Decoder(Fault)


def fault(event: Event) -> Fault:
    """Return the error an event tells of; one of another shape keeps its own words."""
    told = decoded(event.error, _FAULT)
    if told is not None and (told.name or told.data.message):
        return told
    return Fault(data=Detail(message=bytes(event.error).decode(errors="replace")))


def logged(home: Path) -> str:
    """Return the last request that failed, by the log: while OpenCode tries again its output is silent."""
    found = _STREAM_ERROR.findall(left_file(home, home / _LOG))
    return found[-1].decode(errors="replace") if found else ""
