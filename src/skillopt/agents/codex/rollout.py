"""The rollout file that Codex keeps of a session below its home: every call and its output, and every reply's tokens.
Owns where it lies and its shapes; refuses to follow what an agent may have put in its place, such as a link.
A line that is cut, or of a kind or shape that a later version invents, is passed over."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path

import msgspec

from skillopt.agents.codex.events import Tokens, rows
from skillopt.agents.codex.steps import Call, Step
from skillopt.domain.transcripts import Action

_ROLLOUTS = ".codex/sessions/*/*/*/rollout-*.jsonl"
_EXIT = re.compile(r"^(?:Process exited with code|Exit code:) (-?\d+)$", re.MULTILINE)
_PATCHED = re.compile(r"^Wall time: [^\n]*\nOutput:\n(?=Exit code: )")  # a patch is told in a second envelope
_REFUSED = re.compile(r"approval policy is|.*rejected by user|patch rejected", re.IGNORECASE)
_FAILED = re.compile(r"unsupported |failed |unable |error|unknown ", re.IGNORECASE)
_LISTING = {"list_files", "search"}
_LONGEST_STATUS = 100


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


class _Parsed(msgspec.Struct):
    type: str = ""


class _Done(msgspec.Struct):
    id: str = ""
    parsed_cmd: list[_Parsed] = []


class _Message(msgspec.Struct):
    type: str = ""
    item: _Done | None = None
    last_agent_message: str | None = None


class _Item(msgspec.Struct):
    type: str = ""
    role: str = ""
    content: object = None
    summary: object = None
    name: str = ""
    call_id: str = ""
    arguments: object = ""
    input: object = ""
    action: object = None
    output: object = ""


class _Arguments(msgspec.Struct):
    cmd: str
    workdir: str | None = None


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
    return left_file(home, mine[-1].relative_to(home)) if len(mine) == 1 else b""


def left_file(home: Path, path: Path | str) -> bytes:
    """Return what a plain file of the home holds; a link that leads out of it, or a pipe, counts as no file."""
    try:
        place = (home / path).resolve(strict=True)
        if place.is_relative_to(home.resolve()) and place.is_file():
            return place.read_bytes()
    except (OSError, RuntimeError):  # missing, unreadable, or links in a circle
        return b""
    return b""


def recorded(data: bytes) -> Recorded:
    """Read a rollout file, however much of it there is."""
    model, last, complete, tokens, requests = "", "", False, None, 0
    items: list[_Item] = []
    reported: dict[str, bool] = {}
    for row in rows(data, _Row):
        match row.type:
            case "response_item":
                items.extend(rows(bytes(row.payload), _Item))
            case "event_msg":
                for message in rows(bytes(row.payload), _Message):
                    if message.item is not None:
                        reported[message.item.id] = _lists(message.item)
                    if message.type == "task_complete" and message.last_agent_message is not None:
                        complete, last = True, message.last_agent_message
            case "token_usage_record":
                for counted in rows(bytes(row.payload), _Counted):
                    requests, tokens = requests + 1, counted.thread_token_usage
            case "turn_context":
                model = next((context.model for context in rows(bytes(row.payload), _Context)), model)
    steps = tuple(_steps(items, reported))
    return Recorded(model=model, last=last, complete=complete, tokens=tokens, requests=requests, steps=steps)


def _lists(done: _Done) -> bool:
    return bool(done.parsed_cmd) and all(part.type in _LISTING for part in done.parsed_cmd)


def _steps(items: Iterable[_Item], reported: Mapping[str, bool]) -> list[Step]:
    """Put each output to its call."""
    steps: list[Step] = []
    places: dict[str, int] = {}
    for item in items:
        match item.type:
            case "message" if item.role == "assistant":
                steps.append(Action(kind="said", text=_words(item.content)))
            case "reasoning":
                if thought := _words(item.summary) or _words(item.content):
                    steps.append(Action(kind="thought", text=thought))
            case "web_search_call":
                steps.append(Call(tool="web_search", text=_words(item.action), status="done"))
            case "function_call" | "custom_tool_call":
                places[item.call_id] = len(steps)
                given = _given(item.arguments or item.input)
                steps.append(Call(tool=item.name, text=given, lists=reported.get(item.call_id, False)))
            case "function_call_output" | "custom_tool_call_output" if item.call_id in places:
                place = places[item.call_id]
                call = steps[place]
                if isinstance(call, Call):
                    steps[place] = _ended(call, _words(item.output), reported=item.call_id in reported)
    return steps


def _given(given: object) -> str:
    """Return the command of a call, or its arguments as they are."""
    words = _words(given)
    try:
        arguments = msgspec.json.decode(words, type=_Arguments)
    except (msgspec.DecodeError, RecursionError):
        return words
    return arguments.cmd if arguments.workdir is None else f"cd {arguments.workdir} && {arguments.cmd}"


def _ended(call: Call, output: str, *, reported: bool) -> Call:
    """Tell from its output how a call ended. A failed command that Codex does not report is one its sandbox refused."""
    head = _PATCHED.sub("", output).partition("\nOutput:\n")[0]
    exited = _EXIT.search(head)
    if exited is not None:
        failed = exited[1] != "0"
        refused = failed and not reported
        return msgspec.structs.replace(
            call, status="denied" if refused else f"exit {exited[1]}", failed=failed, denied=refused
        )
    if _REFUSED.match(output):
        return msgspec.structs.replace(call, status="denied", failed=True, denied=True)
    if _FAILED.match(output):
        return msgspec.structs.replace(call, status=output.split("\n", 1)[0][:_LONGEST_STATUS], failed=True)
    return msgspec.structs.replace(call, status="running" if "Process running" in head else "done")


def _words(value: object) -> str:
    """Return the text in a value that may be text, or parts with text in them."""
    parts = value if isinstance(value, list) else [value]
    texts = (part.get("text") or part.get("query") if isinstance(part, dict) else part for part in parts)
    return "\n".join(text for text in texts if isinstance(text, str))
