"""The events that `codex exec --json` writes on its output, one a line.
Owns their shapes; refuses to know the rollout file, which tells of calls that are missing here.
A line that is cut, or of a kind or shape that a later version invents, is passed over."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeVar

import msgspec

from skillopt.agents.codex.steps import Call, Step
from skillopt.agents.telling import tokens as telling
from skillopt.domain.agency.transcripts import Action

Row = TypeVar("Row")


class Tokens(msgspec.Struct, frozen=True):
    """What the turn used, as Codex sums it up; tokens cached, and tokens written to a cache, are part of the input."""

    input_tokens: int = 0
    cached_input_tokens: int = 0
    cache_write_input_tokens: int = 0
    output_tokens: int = 0

    @property
    def told(self) -> telling.Tokens:
        """The same in the words of every program."""
        return telling.Tokens(
            input=self.input_tokens,
            output=self.output_tokens,
            cached=self.cached_input_tokens,
            cache_written=self.cache_write_input_tokens,
        )


class Told(msgspec.Struct, frozen=True, kw_only=True):
    """What the output says. `text` is what was said last, if no tool was called after it; `errors` are in order."""

    thread: str = ""
    text: str = ""
    completed: bool = False
    failure: str = ""
    errors: tuple[str, ...] = ()
    tokens: Tokens | None = None
    steps: tuple[Step, ...] = ()


class _Change(msgspec.Struct):
    path: str = ""


class _Item(msgspec.Struct):
    type: str = ""
    text: str = ""
    command: str = ""
    exit_code: int | None = None
    status: str = ""
    changes: list[_Change] = []
    query: str = ""
    tool: str = ""


class _Failure(msgspec.Struct):
    message: str = ""


class _Event(msgspec.Struct):
    type: str = ""
    thread_id: str = ""
    message: str = ""
    item: _Item | None = None
    usage: Tokens | None = None
    error: _Failure | None = None


def rows(data: bytes, kind: type[Row]) -> Iterator[Row]:
    """Read every line that is a JSON value of this kind, and pass over the others."""
    decoder = msgspec.json.Decoder(kind)
    for line in data.split(b"\n"):
        if not line.startswith(b"{"):
            continue
        try:
            row = decoder.decode(line)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            continue
        yield row


def told(output: bytes) -> Told:
    """Read the output, however much of it there is."""
    thread, failure, completed, tokens = "", "", False, None
    errors: list[str] = []
    steps: list[Step] = []
    for event in rows(output, _Event):
        match event.type:
            case "thread.started":
                thread = event.thread_id
            case "item.completed" if event.item is not None:
                steps.extend(_steps(event.item))
            case "turn.completed":
                completed, tokens = True, event.usage
            case "turn.failed":
                failure = event.error.message if event.error is not None else "the turn failed"
            case "error":
                errors.append(event.message)
    said = steps[-1] if steps else None
    return Told(
        thread=thread,
        text=said.text if isinstance(said, Action) and said.kind == "said" else "",
        completed=completed,
        failure=failure,
        errors=tuple(dict.fromkeys(errors)),
        tokens=tokens,
        steps=tuple(steps),
    )


def _steps(item: _Item) -> Iterator[Step]:
    """Read an item. One of type `error` is a warning that harms nothing, such as of a model it has no data on."""
    failed = item.status == "failed"
    match item.type:
        case "agent_message":
            yield Action(kind="said", text=item.text)
        case "reasoning":
            yield Action(kind="thought", text=item.text)
        case "command_execution":
            status = item.status if item.exit_code is None else f"exit {item.exit_code}"
            yield Call(tool="exec_command", text=item.command, status=status, failed=failed or bool(item.exit_code))
        case "file_change":
            paths = ", ".join(change.path for change in item.changes)
            yield Call(tool="apply_patch", text=paths, status=item.status, failed=failed)
        case "web_search":
            yield Call(tool="web_search", text=item.query, status=item.status)
        case "mcp_tool_call":
            yield Call(tool=item.tool, text="", status=item.status, failed=failed)
