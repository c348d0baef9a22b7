"""What a run of Copilot did on the way: what was said and called, tokens, and the errors it told.
Owns reading this from its events; refuses to know what they come to."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TypeVar

import msgspec

from skillopt.agents.copilot.events import (
    Completed,
    Event,
    Failure,
    Info,
    Metrics,
    Said,
    SessionError,
    Shutdown,
    Started,
    UsageRecord,
    Used,
)
from skillopt.agents.copilot.starting import NO_TOOLS
from skillopt.agents.telling.calls import LONGEST_TEXT, Call, Outcome
from skillopt.agents.telling.lines import decoded
from skillopt.agents.telling.tokens import Tokens
from skillopt.domain.agency.transcripts import Action

T = TypeVar("T", bound=msgspec.Struct)
_SKILL = "skill"
_READERS = frozenset({"bash", "view"})
_UNKNOWN_TOOL = "Unknown tool name"


class Arguments(msgspec.Struct, frozen=True):
    """What a tool is called with, as far as it says in short what the call does."""

    command: str | None = None
    path: str | None = None
    skill: str | None = None
    pattern: str | None = None
    url: str | None = None

    @property
    def told(self) -> str:
        """The one that there is."""
        return next((each for each in (self.command, self.path, self.skill, self.pattern, self.url) if each), "")


class Ran(msgspec.Struct, frozen=True, kw_only=True):
    """All that the events tell of a run; `used` is None where no event told tokens."""

    text: str
    model: str
    actions: tuple[Action, ...]
    calls: tuple[Call, ...]
    used: Tokens | None
    requests: int
    filtered: bool
    failure: Failure | None
    error: SessionError | None
    exit_code: int | None


_arguments = msgspec.json.Decoder(Arguments)
_said = msgspec.json.Decoder(Said)
_started = msgspec.json.Decoder(Started)
_completed = msgspec.json.Decoder(Completed)
_record = msgspec.json.Decoder(UsageRecord)
_shutdown = msgspec.json.Decoder(Shutdown)
_failure = msgspec.json.Decoder(Failure)
_error = msgspec.json.Decoder(SessionError)
_info = msgspec.json.Decoder(Info)


def ran(events: Sequence[Event]) -> Ran:
    """Return what the events tell."""
    ends = {end.tool_call_id: end for _, end in _all(events, "tool.execution_complete", _completed)}
    starts: dict[str, Started] = {}
    for _, start in _all(events, "tool.execution_start", _started):
        starts.setdefault(start.tool_call_id, start)  # output and transcript may both tell of it
    calls = {id: _call(start, ends.get(id)) for id, start in starts.items()}
    said = [words for event, words in _all(events, "assistant.message", _said) if event.agent_id is None]
    records = [record.usage for _, record in _all(events, "session.usage_record", _record)]
    errors = [error for _, error in _all(events, "session.error", _error)]
    used, requests = _used(records, [end for _, end in _all(events, "session.shutdown", _shutdown)])
    return Ran(
        text=said[-1].content if said else "",
        model=next((words.model for words in reversed(said) if words.model), ""),
        actions=tuple(_actions(events, calls)),
        calls=tuple(calls.values()),
        used=used,
        requests=requests,
        filtered=bool(records) and records[-1].filtered,
        failure=_unanswered(events),
        error=errors[-1] if errors else None,
        exit_code=next((event.exit_code for event in reversed(events) if event.type == "result"), None),
    )


def _all(events: Iterable[Event], type: str, decoder: msgspec.json.Decoder[T]) -> Iterator[tuple[Event, T]]:
    for event in events:
        held = event.holds(decoder) if event.type == type else None
        if held is not None:
            yield event, held


def _call(start: Started, end: Completed | None) -> Call:
    given = decoded(start.arguments, _arguments) or Arguments()
    outcome: Outcome = "unfinished"
    if end is not None:
        denied = end.error is not None and end.error.code == "denied"
        outcome = "ok" if end.success else "denied" if denied else "failed"
    return Call(
        tool=start.tool_name,
        told=given.told or bytes(start.arguments).decode(errors="replace"),
        outcome=outcome,
        exit_code=None if end is None or end.shell_execution is None else end.shell_execution.exit_code,
        error="" if end is None or end.error is None else end.error.message,
        skill=given.skill or "" if start.tool_name == _SKILL else "",
        reads=start.tool_name in _READERS,
    )


def _actions(events: Sequence[Event], calls: dict[str, Call]) -> Iterator[Action]:
    untold = dict(calls)
    for event in events:
        if event.type == "assistant.message":
            yield from _words(event)
        elif event.type == "tool.execution_start":
            start = event.holds(_started)
            call = None if start is None else untold.pop(start.tool_call_id, None)
            if call is not None:
                yield from call.steps()
        elif event.type == "session.error":
            error = event.holds(_error)
            yield Action(kind="error", text="" if error is None else error.message[:LONGEST_TEXT])
        elif event.type == "session.info":
            info = event.holds(_info)
            if info is not None and info.message.startswith(_UNKNOWN_TOOL) and f'"{NO_TOOLS}"' not in info.message:
                yield Action(kind="error", text=info.message[:LONGEST_TEXT])


def _words(event: Event) -> Iterator[Action]:
    words = event.holds(_said)
    if words is None:
        return
    if words.reasoning_text:
        yield Action(kind="thought", text=words.reasoning_text[:LONGEST_TEXT])
    if words.content:
        yield Action(kind="said", text=words.content[:LONGEST_TEXT])


def _unanswered(events: Sequence[Event]) -> Failure | None:
    """Return the request that failed last, if nothing was answered after it."""
    for event in reversed(events):
        if event.type == "assistant.message":
            return None
        if event.type == "model.call_failure":
            return event.holds(_failure)
    return None


def _used(records: Sequence[Used], ends: Sequence[Shutdown]) -> tuple[Tokens | None, int]:
    """Return the tokens and the number of requests: the sums at the end, or what was told before it was cut off."""
    sums: list[Metrics] = [each for end in ends[-1:] for each in end.model_metrics.values()]
    if sums:
        return sum((each.usage.tokens for each in sums), Tokens()), sum(each.requests.count for each in sums)
    return (sum((record.tokens for record in records), Tokens()) if records else None), len(records)
