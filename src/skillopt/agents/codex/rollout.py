"""The rollout file that Codex keeps of a session below its home: every call and its output, and every reply's tokens.
Owns where it lies and its rows; refuses to follow what an agent may have put in its place, such as a link.
A line that is cut, or of a kind or shape that a later version invents, is passed over."""

from __future__ import annotations

from pathlib import Path

import msgspec

from skillopt.agents.codex.events import Tokens, rows
from skillopt.agents.codex.folding import Done, Folding, Item
from skillopt.agents.codex.steps import Step
from skillopt.agents.telling.lines import left_file

_ROLLOUTS = ".codex/sessions/*/*/*/rollout-*.jsonl"


class Recorded(msgspec.Struct, frozen=True, kw_only=True):
    """What a rollout file says. `last` is the answer that the turn ended with; `requests` counts the replies it had."""

    model: str = ""
    last: str = ""
    complete: bool = False
    tokens: Tokens | None = None
    requests: int = 0
    steps: tuple[Step, ...] = ()


class _Row(msgspec.Struct):
    type: str = ""
    payload: msgspec.Raw = msgspec.Raw(b"{}")


class _Message(msgspec.Struct):
    type: str = ""
    item: Done | None = None
    last_agent_message: str | None = None


class _Counted(msgspec.Struct):
    thread_token_usage: Tokens | None = None


class _Context(msgspec.Struct):
    model: str = ""


def rollout(home: Path, thread: str) -> bytes:
    """Return the rollout file of this thread, or of the only one there is; empty where there is none to be trusted."""
    try:
        found = sorted(home.glob(_ROLLOUTS))
    except OSError:
        return b""
    mine = [path for path in found if thread and path.name.endswith(f"-{thread}.jsonl")] or found
    return left_file(home, mine[-1]) if len(mine) == 1 else b""


def recorded(data: bytes) -> Recorded:
    """Read a rollout file, however much of it there is."""
    model, last, tokens, requests = "", None, None, 0
    folding = Folding()
    for row in rows(data, _Row):
        payload = bytes(row.payload)
        match row.type:
            case "response_item":
                for item in rows(payload, Item):
                    folding.take(item)
            case "event_msg":
                last = _event(payload, folding) or last
            case "token_usage_record":
                for counted in rows(payload, _Counted):
                    requests, tokens = requests + 1, counted.thread_token_usage
            case "turn_context":
                model = next((context.model for context in rows(payload, _Context)), model)
    complete = last is not None
    steps = tuple(folding.steps)
    return Recorded(model=model, last=last or "", complete=complete, tokens=tokens, requests=requests, steps=steps)


def _event(payload: bytes, folding: Folding) -> str | None:
    """Take an event; the end of the turn returns the answer, unless the turn failed."""
    for message in rows(payload, _Message):
        if message.item is not None:
            folding.report(message.item)
        if message.type == "task_complete":
            return message.last_agent_message
    return None
