from __future__ import annotations

import json

import pytest

from skillopt.testing.conversation import BrainReply, Conversation, Tool, ToolCall, Turn
from skillopt.testing.faults import FaultKind
from skillopt.testing.tooluse.toolbox import (
    answer_call,
    broken_call,
    hand_in,
    results,
    shell_call,
    skill_call,
    skill_file,
    tool_call,
)

CODEX = Tool(name="exec_command", fields={"cmd": "string", "workdir": "string"})
CLAUDE = Tool(name="Bash", fields={"command": "string", "description": "string"})
SHELL = Tool(name="shell", fields={"command": "array"})
READ = Tool(name="Read", fields={"file_path": "string"})
PROMPT = """### Skill roots
- `r0` = `/home/user/.codex/skills/.system`
- `r1` = `/home/user/my project/.agents/skills`
### Available skills
- old-tides: Compute. (file: r0/old-tides/SKILL.md)
- tides: Compute. (file: r1/tides/SKILL.md)"""


def asked(*tools: Tool, system: str = "", turns: tuple[Turn, ...] = (Turn("user", "go"),)) -> Conversation:
    return Conversation(model="m", system=system, turns=turns, tools=tools)


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        (CODEX, {"cmd": "ls"}),
        (CLAUDE, {"command": "ls", "description": "A step of the scripted model."}),
        (SHELL, {"command": ["bash", "-lc", "ls"]}),
        (Tool(name="bash", fields={"command": "string"}), {"command": "ls"}),
    ],
)
def test_a_command_goes_to_the_shell_that_the_caller_declares(tool: Tool, arguments: dict[str, object]) -> None:
    call = shell_call(asked(READ, tool), "ls")
    assert call is not None
    assert (call.name, json.loads(call.arguments)) == (tool.name, arguments)


def test_a_command_goes_into_a_script_where_the_caller_runs_those() -> None:
    call = shell_call(asked(READ, Tool(name="exec", namespace="functions", free=True)), "ls")
    assert call is not None
    assert (call.name, call.free, call.namespace) == ("exec", True, "functions")
    assert call.arguments == 'text(await tools.exec_command({"cmd":"ls"}))'
    assert shell_call(asked(Tool(name="exec")), "ls") is None


def test_without_a_shell_there_is_no_call() -> None:
    assert shell_call(asked(READ), "ls") is None
    assert broken_call(asked(READ), "{") is None
    assert skill_call(asked(READ), "tides") is None
    assert answer_call(asked(READ), {}) is None


def test_broken_arguments_go_to_the_shell_as_they_are() -> None:
    call = broken_call(asked(CODEX), '{"cmd": ')
    assert call is not None
    assert (call.name, call.arguments) == ("exec_command", '{"cmd": ')


@pytest.mark.parametrize(("name", "field"), [("Skill", "skill"), ("skill", "skill"), ("skill", "name")])
def test_a_skill_goes_to_the_tool_for_it(name: str, field: str) -> None:
    call = skill_call(asked(CLAUDE, Tool(name=name, fields={field: "string", "args": "string"})), "tides")
    assert call is not None
    assert (call.name, json.loads(call.arguments)) == (name, {field: "tides"})


def test_without_that_tool_the_shell_reads_the_file_that_the_prompt_names() -> None:
    call = skill_call(asked(CODEX, system=PROMPT), "tides")
    assert call is not None
    assert json.loads(call.arguments) == {"cmd": "cat '/home/user/my project/.agents/skills/tides/SKILL.md'"}


@pytest.mark.parametrize(
    ("prompt", "path"),
    [
        (PROMPT, "/home/user/my project/.agents/skills/tides/SKILL.md"),
        ("- tides: x (file: /w/.agents/skills/tides/SKILL.md)", "/w/.agents/skills/tides/SKILL.md"),
        ("<location>/w/skills/tides/SKILL.md</location>", "/w/skills/tides/SKILL.md"),
        ("nothing", ".agents/skills/tides/SKILL.md"),
    ],
)
def test_a_skills_file_is_found_in_the_prompt(prompt: str, path: str) -> None:
    assert skill_file(prompt, "tides") == path


def test_an_answer_is_handed_in_with_the_tool_for_it() -> None:
    call = answer_call(asked(CLAUDE, Tool(name="StructuredOutput", fields={"n": "integer"})), {"n": 1})
    assert call is not None
    assert (call.name, call.arguments) == ("StructuredOutput", '{"n":1}')


def test_a_call_carries_the_namespace_of_its_tool_and_an_unknown_tool_has_none() -> None:
    conversation = asked(Tool(name="spawn", namespace="agents"))
    assert tool_call(conversation, "spawn", "{}").namespace == "agents"
    assert (tool_call(conversation, "fly", "{}").name, tool_call(conversation, "fly", "{}").namespace) == ("fly", "")


def test_steps_are_counted_by_tool_results() -> None:
    assert results(asked(turns=(Turn("user", "a"), Turn("tool", "b"), Turn("user", "c"), Turn("tool", "d")))) == 2


def test_a_reply_without_a_form_a_call_and_a_fault_stay_as_they_are() -> None:
    said = BrainReply(text="hello")
    assert hand_in(asked(CLAUDE), said) is said
    formed = Conversation(model="m", system="", turns=(), form={"a": "string"})
    for reply in (BrainReply(calls=(ToolCall(name="x", arguments="{}"),)), BrainReply(fault=FaultKind.CUT)):
        assert hand_in(formed, reply) is reply


@pytest.mark.parametrize(
    ("form", "text", "answer"),
    [
        ({"a": "string", "b": "string"}, "hello", {"a": "hello", "b": ""}),
        ({"n": "number", "l": "array", "x": "", "a": "string"}, "[1]", {"n": 0, "l": [], "x": None, "a": "[1]"}),
        ({"n": "integer"}, "hello", {"n": 0}),
        ({"a": "string"}, '{"b": 1}', {"b": 1}),
    ],
)
def test_a_text_takes_the_form_that_is_wanted(form: dict[str, str], text: str, answer: dict[str, object]) -> None:
    formed = Conversation(model="m", system="", turns=(), form=form)
    assert json.loads(hand_in(formed, BrainReply(text=text)).text) == answer
