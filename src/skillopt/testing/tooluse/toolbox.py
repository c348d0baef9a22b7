"""From what a scripted model wants done to a call of one of the caller's own tools.
Owns the names that coding agents give to their shell, skill and answer tools; knows no script and no world."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from types import MappingProxyType

import msgspec

from skillopt.testing.conversation import BrainReply, Conversation, Tool, ToolCall

Arguments = Mapping[str, object]

_SHELLS = frozenset({"exec_command", "shell_command", "shell", "bash"})
_SCRIPTS = frozenset({"exec"})  # run JavaScript in which the shell is `tools.exec_command`
_COMMAND_FIELDS = ("cmd", "command")
_SKILL_FIELDS = ("skill", "name")
_ANSWER_TOOL = "StructuredOutput"
_BLANKS: Mapping[str, object] = MappingProxyType(
    {"string": "", "integer": 0, "number": 0, "boolean": False, "array": []}
)
_PURPOSE = "A step of the scripted model."
_ROOT = re.compile(r"^- `(\w+)` = `([^`]+)`", re.MULTILINE)


def results(conversation: Conversation) -> int:
    """Return how many tool results the conversation holds: the number of steps that were taken."""
    return sum(turn.speaker == "tool" for turn in conversation.turns)


def tool_call(conversation: Conversation, name: str, arguments: str) -> ToolCall:
    """Return a call of this tool, in its namespace if it is declared in one; an unknown tool is called all the same."""
    tool = next((tool for tool in conversation.tools if tool.name == name), Tool(name=name))
    return _call(tool, arguments)


def shell_call(conversation: Conversation, command: str) -> ToolCall | None:
    """Return the call that runs a command, or None where the caller offers no shell."""
    for tool in conversation.tools:
        field = _field(tool, _COMMAND_FIELDS) if tool.name.lower() in _SHELLS else None
        if field is not None:
            arguments: dict[str, object] = {
                field: ["bash", "-lc", command] if tool.fields[field] == "array" else command
            }
            if "description" in tool.fields:
                arguments["description"] = _PURPOSE
            return _call(tool, _json(arguments))
        if tool.free and tool.name in _SCRIPTS:
            return _call(tool, f"text(await tools.exec_command({_json({'cmd': command})}))")
    return None


def broken_call(conversation: Conversation, arguments: str) -> ToolCall | None:
    """Return a call of the shell whose arguments are this text, whatever it is; None where there is no shell."""
    whole = shell_call(conversation, "")
    return None if whole is None else msgspec.structs.replace(whole, arguments=arguments)


def skill_call(conversation: Conversation, skill: str) -> ToolCall | None:
    """Return the call that opens a skill: the tool for it, else the shell on the file that the prompt names."""
    for tool in conversation.tools:
        field = _field(tool, _SKILL_FIELDS) if tool.name.lower() == "skill" else None
        if field is not None:
            return _call(tool, _json({field: skill}))
    return shell_call(conversation, f"cat {shlex.quote(skill_file(conversation.everything, skill))}")


def answer_call(conversation: Conversation, answer: Arguments) -> ToolCall | None:
    """Return the call that hands in a structured answer; None where the answer is to be said."""
    tool = next((tool for tool in conversation.tools if tool.name == _ANSWER_TOOL), None)
    return None if tool is None else _call(tool, _json(answer))


def hand_in(conversation: Conversation, said: BrainReply) -> BrainReply:
    """Return a reply in the form that the caller wants: a JSON object if it wants one, by its tool if it has one.

    A text that is no object yet becomes the value of the form's first text field.
    """
    tool = next((tool for tool in conversation.tools if tool.name == _ANSWER_TOOL), None)
    form = conversation.form if tool is None else tool.fields
    if isinstance(form, msgspec.UnsetType) or said.calls or said.fault is not None:
        return said
    answer = said.text if _is_object(said.text) else _json(_filled(form, said.text))
    if tool is None:
        return BrainReply(text=answer)
    return BrainReply(calls=(_call(tool, answer),), finish="tool")


def _filled(form: Mapping[str, str], text: str) -> Arguments:
    blank: dict[str, object] = {name: _BLANKS.get(kind) for name, kind in form.items()}
    first = next((name for name, kind in form.items() if kind == "string"), None)
    return blank if first is None else {**blank, first: text}


def _is_object(text: str) -> bool:
    try:
        return isinstance(msgspec.json.decode(text), dict)
    except msgspec.DecodeError:
        return False


def skill_file(prompt: str, skill: str) -> str:
    """Return the path of a skill's document as the prompt tells it, with a short root written out.

    A prompt that does not tell it gets the place where agents share their skills.
    """
    found = re.search(rf"([^\s`'\"<>(]*/{re.escape(skill)}/SKILL\.md)", prompt)
    if found is None:
        return f".agents/skills/{skill}/SKILL.md"
    root, slash, rest = found[1].partition("/")
    return f"{dict(_ROOT.findall(prompt)).get(root, root)}{slash}{rest}"


def _field(tool: Tool, names: tuple[str, ...]) -> str | None:
    return next((name for name in names if name in tool.fields), None)


def _call(tool: Tool, arguments: str) -> ToolCall:
    return ToolCall(name=tool.name, arguments=arguments, namespace=tool.namespace, free=tool.free)


def _json(arguments: Arguments) -> str:
    return msgspec.json.encode(arguments).decode()
