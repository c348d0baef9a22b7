"""From the records of a session to its steps: each output goes to its call, each event to the call it belongs to.
Owns what calls, outputs and events look like, and what a refusal is; refuses to know where they were written.
With its newer models Codex has one tool, `exec`, that runs JavaScript; commands in it are events without calls."""

from __future__ import annotations

import re

import msgspec

from skillopt.agents.codex.steps import Call, Step
from skillopt.domain.agency.transcripts import Action

_SCRIPT_TOOL = "exec"
_EXIT = re.compile(r"^(?:Process exited with code|Exit code:) (-?\d+)$", re.MULTILINE)
_EXIT_IN_SCRIPT = re.compile(r'"exit_code":(-?[1-9]\d*)')
_PATCHED = re.compile(r"^Wall time: [^\n]*\nOutput:\n(?=Exit code: )")  # a patch is told in a second envelope
_REFUSED = re.compile(r"approval policy is|.*rejected by user|patch rejected", re.IGNORECASE)
_HELD = re.compile(r"read-only file system", re.IGNORECASE)  # what the system says in a sandbox's stead
_FAILED = re.compile(r"unsupported |failed |unable |error|unknown ", re.IGNORECASE)
_SCRIPT_ERROR = "Script error:\n"
_LISTING = {"list_files", "search"}
_LONGEST_STATUS = 100


class Item(msgspec.Struct):
    """A thing said, a call or an output, as the model's server knows it."""

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


class _Parsed(msgspec.Struct):
    type: str = ""


class Done(msgspec.Struct):
    """What Codex reports of something that was done; a command that its sandbox refused is reported by chance only."""

    type: str = ""
    id: str = ""
    command: object = None
    exit_code: int | None = None
    status: str = ""
    changes: object = None
    aggregated_output: object = ""
    parsed_cmd: list[_Parsed] = []

    @property
    def reads(self) -> bool:
        """Whether the command may read a file, in Codex's own reading of it."""
        return not self.parsed_cmd or any(part.type not in _LISTING for part in self.parsed_cmd)


class _Arguments(msgspec.Struct):
    cmd: str
    workdir: str | None = None


class Folding:
    """Takes the records of a session in their order."""

    def __init__(self) -> None:
        self.steps: list[Step] = []
        self._places: dict[str, int] = {}
        self._reported: set[str] = set()
        self._open = ""

    def take(self, item: Item) -> None:
        """Take what the model said or called, or what came of a call."""
        match item.type:
            case "message" if item.role == "assistant":
                self.steps.append(Action(kind="said", text=_words(item.content)))
            case "reasoning":
                if thought := _words(item.summary) or _words(item.content):
                    self.steps.append(Action(kind="thought", text=thought))
            case "web_search_call":
                self.steps.append(Call(tool="web_search", text=_words(item.action), status="done"))
            case "function_call" | "custom_tool_call":
                self._open = item.call_id
                self._places[item.call_id] = len(self.steps)
                self.steps.append(Call(tool=item.name, text=_given(item.arguments or item.input)))
            case "function_call_output" | "custom_tool_call_output":
                self._change(item.call_id, _words(item.output))

    def report(self, done: Done) -> None:
        """Take what was done: by the call of the same number, or else by the script that was called last."""
        if done.id in self._places:
            self._reported.add(done.id)
            place = self._places[done.id]
            self.steps[place] = msgspec.structs.replace(self.steps[place], reads=done.reads)
        elif done.type == "CommandExecution":
            command = done.command[-1:] if isinstance(done.command, list) else done.command
            status = done.status if done.exit_code is None else f"exit {done.exit_code}"
            self._within("exec_command", _words(command), status, done)
        elif done.type == "FileChange":
            paths = ", ".join(map(str, done.changes)) if isinstance(done.changes, dict) else ""
            self._within("apply_patch", paths, done.status, done)

    def _within(self, tool: str, text: str, status: str, done: Done) -> None:
        failed = done.status == "failed" or bool(done.exit_code)
        call = Call(tool=tool, text=text, status=status, failed=failed, reads=done.reads)
        held = failed and _HELD.search(_words(done.aggregated_output))
        self.steps.append(_denied(call) if held else call)
        place = self._places.get(self._open)
        if place is not None:
            self._reported.add(self._open)
            self.steps[place] = msgspec.structs.replace(self.steps[place], reads=False)

    def _change(self, number: str, output: str) -> None:
        place = self._places.get(number)
        call = None if place is None else self.steps[place]
        if place is not None and isinstance(call, Call):
            ended = _script_ended if call.tool == _SCRIPT_TOOL else _ended
            self.steps[place] = ended(call, output, reported=number in self._reported)


def _given(given: object) -> str:
    """Return the command of a call, or its arguments as they are."""
    words = _words(given)
    try:
        arguments = msgspec.json.decode(words, type=_Arguments)
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
        return words
    return arguments.cmd if arguments.workdir is None else f"cd {arguments.workdir} && {arguments.cmd}"


def _ended(call: Call, output: str, *, reported: bool) -> Call:
    """Tell from its output how a call ended. A failed command that Codex does not report is one its sandbox refused."""
    head = _PATCHED.sub("", output).partition("\nOutput:\n")[0]
    exited = _EXIT.search(head)
    if exited is not None:
        failed = exited[1] != "0"
        refused = failed and (not reported or _HELD.search(output))
        return _denied(call) if refused else _with(call, f"exit {exited[1]}", failed=failed)
    if _REFUSED.match(output):
        return _denied(call)
    if _FAILED.match(output):
        return _with(call, output, failed=True)
    return _with(call, "running" if "Process running" in head else "done")


def _script_ended(call: Call, output: str, *, reported: bool) -> Call:
    """Tell how a script ended; what it ran are calls of their own, but for what was refused."""
    error = output.partition(_SCRIPT_ERROR)[2]
    if _REFUSED.match(error) or (not reported and _EXIT_IN_SCRIPT.search(output)):
        return _denied(call)
    if output.startswith("Script failed"):
        return _with(call, error or "failed", failed=True)
    return _with(call, "running" if output.startswith("Script running") else "done")


def _with(call: Call, status: str, *, failed: bool = False) -> Call:
    return msgspec.structs.replace(call, status=status.split("\n", 1)[0][:_LONGEST_STATUS], failed=failed)


def _denied(call: Call) -> Call:
    return msgspec.structs.replace(call, status="denied", failed=True, denied=True)


def _words(value: object) -> str:
    """Return the text in a value that may be text, or parts with text in them."""
    parts = value if isinstance(value, list) else [value]
    texts = (part.get("text") or part.get("query") if isinstance(part, dict) else part for part in parts)
    return "\n".join(text for text in texts if isinstance(text, str))
