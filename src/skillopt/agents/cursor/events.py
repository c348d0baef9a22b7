"""The events that Cursor writes on its output, by its documentation.
Owns their shapes, and what a run of them comes to; refuses to know where they were written."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from skillopt.agents.program import Problem
from skillopt.agents.telling.calls import LONGEST_TEXT, Call, Outcome
from skillopt.agents.telling.complaints import complaint
from skillopt.agents.telling.lines import decoded
from skillopt.agents.telling.tokens import Tokens
from skillopt.domain.agency.transcripts import Action
from skillopt.kernel.process import Finished

_SUFFIX = "ToolCall"
_READERS = frozenset({"shell", "read"})


class Block(msgspec.Struct, frozen=True):
    """A piece of a message."""

    type: str = ""
    text: str = ""


class Message(msgspec.Struct, frozen=True):
    """A message of the model."""

    content: tuple[Block, ...] = ()


class Spent(msgspec.Struct, frozen=True, rename="camel"):
    """Tokens of the whole run, which newer versions tell."""

    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0


class Event(msgspec.Struct, frozen=True):
    """One event, whatever its type."""

    type: str = ""
    subtype: str = ""
    session_id: str = ""
    model: str = ""
    call_id: str = ""
    text: str = ""
    message: Message | None = None
    tool_call: dict[str, msgspec.Raw] = {}
    is_error: bool = False
    result: str | None = None
    usage: Spent | None = None


class Arguments(msgspec.Struct, frozen=True, rename={"glob_pattern": "globPattern"}):
    """What a tool is called with, as far as it says in short what the call does."""

    command: str | None = None
    path: str | None = None
    pattern: str | None = None
    glob_pattern: str | None = None


class Exit(msgspec.Struct, frozen=True, rename="camel"):
    """How a command ended."""

    exit_code: int | None = None


class ToolCall(msgspec.Struct, frozen=True):
    """A call of a tool; its result has one field, which says how it went."""

    args: msgspec.Raw = msgspec.Raw(b"{}")
    result: dict[str, msgspec.Raw] = {}


EVENTS = msgspec.json.Decoder(Event)
_tool_call = msgspec.json.Decoder(ToolCall)
_arguments = msgspec.json.Decoder(Arguments)
_exit = msgspec.json.Decoder(Exit)


class Ran:
    """All that the events tell of a run, gathered one after the other."""

    def __init__(self, events: Sequence[Event]) -> None:
        self.actions: list[Action] = []
        self.calls: dict[str, Call] = {}
        self.session = ""
        self.model = ""
        self.result: Event | None = None
        for event in events:
            self.session = self.session or event.session_id
            self.model = self.model or event.model
            self._take(event)

    @property
    def text(self) -> str:
        """The answer, which the last event repeats as a whole."""
        return "" if self.result is None else self.result.result or ""

    @property
    def used(self) -> Tokens | None:
        """The tokens, where this version tells them."""
        spent = None if self.result is None else self.result.usage
        if spent is None:
            return None
        cached, written = spent.cache_read_tokens, spent.cache_write_tokens
        read = spent.input_tokens + cached + written
        return Tokens(input=read, output=spent.output_tokens, cached=cached, cache_written=written)

    def _take(self, event: Event) -> None:
        if event.type == "assistant" and event.message is not None:
            said = "".join(block.text for block in event.message.content if block.type == "text")
            if said:
                self.actions.append(Action(kind="said", text=said[:LONGEST_TEXT]))
        elif event.type == "thinking" and event.text:
            self.actions.append(Action(kind="thought", text=event.text[:LONGEST_TEXT]))
        elif event.type == "tool_call" and event.subtype == "completed":
            self._call(event)
        elif event.type == "result":
            self.result = event

    def _call(self, event: Event) -> None:
        for name, raw in event.tool_call.items():
            told = decoded(raw, _tool_call) if name.endswith(_SUFFIX) or name == "function" else None
            if told is not None:
                call = _call(name.removesuffix(_SUFFIX), told)
                self.calls[event.call_id or str(len(self.calls))] = call
                self.actions += call.steps()


def _call(tool: str, told: ToolCall) -> Call:
    given = decoded(told.args, _arguments) or Arguments()
    words = (given.command, given.path, given.pattern, given.glob_pattern)
    how, held = next(iter(told.result.items()), ("", msgspec.Raw(b"{}")))
    outcome: Outcome = "ok" if how == "success" else "denied" if "reject" in how or "denied" in how else "failed"
    ended = decoded(held, _exit) or Exit()
    return Call(
        tool=tool,
        told=next((each for each in words if each), bytes(told.args).decode(errors="replace")),
        outcome=outcome,
        exit_code=ended.exit_code,
        error="" if outcome == "ok" else bytes(held).decode(errors="replace"),
        reads=tool in _READERS,
    )


def problem(run: Ran, finished: Finished) -> Problem | None:
    """Return why there is no answer. Where Cursor fails it ends with an exit code and words on its error output."""
    stderr = finished.stderr.decode(errors="replace").strip()
    result = run.result
    if result is not None and (result.is_error or result.subtype not in {"", "success"}):
        return complaint(run.text or stderr or f"Cursor ended with {result.subtype}.")
    if finished.timed_out:
        return Problem(cause="unavailable", message="Cursor was still running when its time was up.")
    if finished.exit_code != 0:
        return complaint(stderr or f"Cursor ended with exit code {finished.exit_code} and said nothing.")
    if result is None:
        return Problem(cause="crashed", message="Cursor's output stopped before its last event.")
    return None if run.text.strip() else Problem(cause="empty", message="Cursor ended without an answer.")
