from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest

from skillopt.agents.claude_code.adapter import ClaudeCode
from skillopt.agents.program import Heard
from skillopt.kernel.process import Finished
from tests.architecture.source_tree import ROOT
from tests.unit.agents.claude_code.stand import JOB, ended
from tests.unit.agents.sdks import driven, python_with

CLAUDE = ClaudeCode()
DRIVER = ROOT / "src" / "skillopt" / "agents" / "claude_code" / "driver.py"
SDK = """
from dataclasses import dataclass, field
from typing import Any
__version__ = "0.2.999"

class ClaudeSDKError(Exception): pass

@dataclass
class TextBlock:
    text: str

@dataclass
class ThinkingBlock:
    thinking: str
    signature: str = ""

@dataclass
class ToolUseBlock:
    id: str
    name: str
    input: dict

@dataclass
class ToolResultBlock:
    tool_use_id: str
    content: Any = None
    is_error: bool | None = None

@dataclass
class NovelBlock:
    what: str = "?"

@dataclass
class AssistantMessage:
    content: list
    model: str = "m-1"
    usage: dict | None = None
    message_id: str | None = "msg"
    session_id: str | None = "s-1"
    uuid: str | None = None

@dataclass
class UserMessage:
    content: Any
    uuid: str | None = None

@dataclass
class SystemMessage:
    subtype: str
    data: dict

@dataclass
class NovelMessage:
    what: str = "?"

@dataclass
class ResultMessage:
    subtype: str = "success"
    is_error: bool = False
    num_turns: int = 1
    session_id: str = "s-1"
    usage: dict | None = None
    result: str | None = None
    structured_output: Any = None
    model_usage: dict | None = None
    api_error_status: int | None = None
    terminal_reason: str | None = "completed"

class ClaudeAgentOptions:
    def __init__(self, *, cli_path, **others):
        self.cli_path = cli_path

def call(number, value):
    return AssistantMessage([ToolUseBlock(str(number), "StructuredOutput", {"n": value})])

def result(number, is_error=None):
    return UserMessage([ToolResultBlock(str(number), "said", is_error)])

USED = {"m-1": {"inputTokens": 10, "outputTokens": 2}}
FAILED = ResultMessage(is_error=True, api_error_status=500, terminal_reason="api_error", result="API Error: 500",
                       model_usage=USED)

async def query(*, prompt, options):
    yield SystemMessage("init", {"type": "system", "subtype": "init", "session_id": "s-1"})
    yield NovelMessage()
    if prompt == "break":
        raise ClaudeSDKError("no such program: " + options.cli_path)
    if prompt == "stop":
        return
    if prompt == "words":
        yield AssistantMessage([ThinkingBlock("hm"), NovelBlock(), TextBlock("h\u00f6lle \U0001f600")])
        yield AssistantMessage([ToolUseBlock("1", "Bash", {"command": "cat task.md"})])
        yield UserMessage([ToolResultBlock("1", [{"type": "text", "text": "Exit code 3"}], True)])
        yield UserMessage("as text")
        yield SystemMessage("permission_denied", {"type": "system", "subtype": "permission_denied",
                                                  "tool_name": "Write", "tool_use_id": "9"})
        yield ResultMessage(result="Done.", model_usage=USED)
    if prompt == "late error":
        yield call(1, 1); yield result(1)
        yield call(2, "no"); yield result(2, True)
        yield call(3, 7); yield result(3)
        yield FAILED
        raise ClaudeSDKError("it ended with exit code 1")
    if prompt == "early error":
        yield call(1, "no"); yield result(1, True)
        yield FAILED
        raise ClaudeSDKError("it ended with exit code 1")
"""


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return python_with(tmp_path_factory.mktemp("sdk"), {"claude_agent_sdk/__init__.py": SDK})


def ran(python: Path, prompt: str) -> Finished:
    told = json.dumps({"prompt": prompt, "options": {"cli_path": "/opt/claude", "cwd": "/job"}}).encode()
    return driven(python, DRIVER, told=told)


def heard(python: Path, prompt: str, home: Path, *, schema: str | None = None, by_sdk: bool = True) -> Heard:
    finished = ran(python, prompt)
    job = msgspec.structs.replace(JOB, schema=schema, driven="/opt/claude" if by_sdk else "")
    return CLAUDE.heard(
        ended(home, finished.stdout, job=job, exit_code=finished.exit_code or 0, stderr=finished.stderr)
    )


def test_what_the_sdk_tells_is_heard_as_what_the_program_tells(python: Path, tmp_path: Path) -> None:
    told = heard(python, "words", tmp_path)
    assert (told.text, told.problem, told.session, told.model) == ("Done.", None, "s-1", "m-1")
    assert [(each.kind, each.text, each.status) for each in told.actions] == [
        ("thought", "hm", ""),
        ("said", "hölle 😀", ""),
        ("ran", "cat task.md", "exit 3"),
        ("error", "Exit code 3", ""),
    ]
    assert (told.calls, told.denied, told.task_read) == ((("Bash", 1),), ("Write",), "failed")
    assert told.usage is not None
    assert (told.usage.input_tokens, told.usage.output_tokens) == (10, 2)


def test_an_answer_by_a_schema_is_recovered_newest_first_though_the_run_ended_in_an_error(
    python: Path, tmp_path: Path
) -> None:
    told = heard(python, "late error", tmp_path, schema="{}")
    assert (json.loads(told.text), told.problem) == ({"n": 7}, None)
    assert told.usage is not None
    assert told.usage.input_tokens == 10


@pytest.mark.parametrize(
    ("prompt", "schema", "by_sdk"),
    [("early error", "{}", True), ("late error", None, True), ("late error", "{}", False)],
    ids=["nothing was accepted", "no schema was asked for", "by its command line"],
)
def test_an_error_is_an_error_where_nothing_can_be_recovered(
    python: Path, tmp_path: Path, prompt: str, schema: str | None, by_sdk: bool
) -> None:
    told = heard(python, prompt, tmp_path, schema=schema, by_sdk=by_sdk)
    assert told.problem is not None
    assert (told.problem.cause, told.problem.status) == ("unavailable", 500)


@pytest.mark.parametrize(
    ("prompt", "says"),
    [("break", "ClaudeSDKError: no such program: /opt/claude"), ("stop", "The SDK ended without a result")],
)
def test_an_sdk_that_ends_without_a_result_has_crashed(python: Path, tmp_path: Path, prompt: str, says: str) -> None:
    assert ran(python, prompt).exit_code == 1
    told = heard(python, prompt, tmp_path)
    assert told.problem is not None
    assert told.problem.cause == "crashed"
    assert says in told.problem.message


def test_it_says_which_sdk_it_has_and_where(python: Path) -> None:
    about = json.loads(driven(python, DRIVER, "--about").stdout)
    assert about["version"] == "0.2.999"
    assert str(python.parent.parent) in about["prefixes"]
    assert about["packages"].startswith(str(python.parent.parent / "lib"))
