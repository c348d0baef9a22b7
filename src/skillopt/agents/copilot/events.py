"""The events that Copilot writes on its output and into its home, which share their ids.
Owns their shapes and their order; refuses to know what a run of them comes to."""

from __future__ import annotations

from pathlib import Path
from typing import TypeVar

import msgspec

from skillopt.agents.copilot.starting import HOME
from skillopt.agents.telling.lines import decoded, left_file, read_lines
from skillopt.agents.telling.tokens import Tokens

T = TypeVar("T", bound=msgspec.Struct)
_SESSIONS = "session-state"
_FILE = "events.jsonl"


class Event(msgspec.Struct, frozen=True, rename="camel"):
    """One event. What it holds is read once its type is known; `agent_id` is that of an agent below the main one."""

    type: str = ""
    data: msgspec.Raw = msgspec.Raw(b"{}")
    id: str = ""
    timestamp: str = ""
    agent_id: str | None = None
    session_id: str | None = None
    exit_code: int | None = None

    def holds(self, decoder: msgspec.json.Decoder[T]) -> T | None:
        """Return what the event holds, or None where it has another shape."""
        return decoded(self.data, decoder)


class Session(msgspec.Struct, frozen=True, rename="camel"):
    """The beginning of a session."""

    session_id: str = ""


class Said(msgspec.Struct, frozen=True, rename="camel"):
    """A whole message of the model."""

    content: str = ""
    model: str = ""
    reasoning_text: str | None = None


class Started(msgspec.Struct, frozen=True, rename="camel"):
    """A call of a tool."""

    tool_call_id: str
    tool_name: str
    arguments: msgspec.Raw = msgspec.Raw(b"{}")


class Fault(msgspec.Struct, frozen=True):
    """Why a call failed; the code `denied` says that it was not permitted."""

    message: str = ""
    code: str | None = None


class Shell(msgspec.Struct, frozen=True, rename="camel"):
    """How a command ended."""

    exit_code: int | None = None


class Completed(msgspec.Struct, frozen=True, rename="camel"):
    """The end of a call."""

    tool_call_id: str
    success: bool = False
    error: Fault | None = None
    shell_execution: Shell | None = None


class Used(msgspec.Struct, frozen=True, rename="camel"):
    """What one request to the model used, or all of them."""

    model: str = ""
    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    finish_reason: str | None = None
    content_filter_triggered: bool = False

    @property
    def tokens(self) -> Tokens:
        """The tokens; what was read from the cache is a part of the input."""
        return Tokens(
            input=self.input_tokens,
            output=self.output_tokens,
            cached=self.cache_read_tokens,
            cache_written=self.cache_write_tokens,
        )

    @property
    def filtered(self) -> bool:
        """Whether a content filter withheld the reply."""
        return self.content_filter_triggered or "filter" in (self.finish_reason or "")


class UsageRecord(msgspec.Struct, frozen=True):
    """One request that was answered."""

    usage: Used


class Requests(msgspec.Struct, frozen=True):
    """How many requests there were."""

    count: int = 0


class Metrics(msgspec.Struct, frozen=True):
    """What a whole session used of one model."""

    requests: Requests = Requests()
    usage: Used = Used()


class Shutdown(msgspec.Struct, frozen=True, rename="camel"):
    """The end of a session, with the sums of each model."""

    model_metrics: dict[str, Metrics] = {}


class Failure(msgspec.Struct, frozen=True, rename="camel"):
    """A request that failed; Copilot may try it again."""

    status_code: int | None = None
    error_message: str = ""
    error_code: str | None = None
    error_type: str | None = None
    failure_kind: str | None = None


class SessionError(msgspec.Struct, frozen=True, rename="camel"):
    """Why the session gave up."""

    message: str = ""
    error_type: str = ""
    status_code: int | None = None
    error_code: str | None = None


class Info(msgspec.Struct, frozen=True):
    """Something it wants known."""

    message: str = ""


_decoder = msgspec.json.Decoder(Event)
_session = msgspec.json.Decoder(Session)


def events(stdout: bytes, home: Path) -> tuple[Event, ...]:
    """Return all events in order, those of the output and those of the transcript."""
    told = tuple(read_lines(stdout, _decoder))
    kept = tuple(read_lines(_transcript(home, _session_id(told)), _decoder))
    known = {event.id for event in kept if event.id}
    both = [*kept, *(event for event in told if not event.id or event.id not in known)]
    return tuple(sorted(both, key=lambda event: event.timestamp or "~"))


def _session_id(told: tuple[Event, ...]) -> str:
    """Return the name of the session, which the output tells at its very end only."""
    return next((event.session_id for event in reversed(told) if event.type == "result" and event.session_id), "")


def _transcript(home: Path, session: str) -> bytes:
    folder = home / HOME / _SESSIONS
    try:
        names = sorted(path.name for path in folder.iterdir())
    except OSError:
        return b""
    if session in names:
        names = [session]
    return left_file(home, folder / names[0] / _FILE) if len(names) == 1 else b""


def named(events: tuple[Event, ...]) -> str:
    """Return the name of the session."""
    begun = (event.holds(_session) for event in events if event.type == "session.start")
    return next((session.session_id for session in begun if session is not None), "") or _session_id(events)
