from __future__ import annotations

import json
from pathlib import Path

import pytest

from skillopt.agents.codex.adapter import Codex
from skillopt.agents.program import Ended, Heard, Job, Model
from skillopt.agents.settings import AgentSettings
from skillopt.kernel.process import Finished
from tests.architecture.source_tree import ROOT
from tests.unit.agents.sdks import driven, python_with

CODEX = Codex()
DRIVER = ROOT / "src" / "skillopt" / "agents" / "codex" / "driver.py"
INFO = "openai_codex_sdk-0.1.99.dist-info/METADATA"
ERRORS = "class CodexSdkError(Exception): pass\n"
SDK = """
import asyncio
import sys
from .errors import CodexSdkError

TURNS = {
    "plain": [
        {"type": "thread.started", "thread_id": "t-1"},
        {"type": "novel.event"},
        {"type": "item.completed", "item": {"type": "command_execution", "command": "cat task.md", "exit_code": 3}},
        {"type": "item.completed", "item": {"type": "agent_message", "text": "H\\u00f6lle."}},
        {"type": "turn.completed", "usage": {"input_tokens": 5, "cached_input_tokens": 1, "output_tokens": 2}},
    ],
    "refused": [
        {"type": "thread.started", "thread_id": "t-1"},
        {"type": "turn.failed", "error": {"message": "unexpected status 401 Unauthorized"}},
    ],
    "cut": [{"type": "thread.started", "thread_id": "t-1"}],
}

class Event:
    def __init__(self, told):
        self.told = told
        self.type = told["type"]
    def model_dump(self, exclude_none):
        return self.told

class Streamed:
    def __init__(self, prompt):
        self.events = self._events(prompt)
    async def _events(self, prompt):
        for told in TURNS.get(prompt, []):
            yield Event(told)
        if prompt == "by the line":
            program = await asyncio.create_subprocess_exec(
                sys.executable, "-c", "print('x' * 300_000)", stdout=asyncio.subprocess.PIPE
            )
            line = await program.stdout.readline()
            await program.wait()
            yield Event({"type": "item.completed", "item": {"type": "agent_message", "text": str(len(line))}})
            yield Event({"type": "turn.completed"})
            return
        if prompt == "long":
            raise ValueError("Separator is found, but chunk is longer than limit")
        if prompt != "plain":
            raise CodexSdkError("exited with code 1")

class Thread:
    async def run_streamed(self, given, turn):
        assert turn == {"output_schema": None}
        return Streamed(given[0]["text"])

class Codex:
    def __init__(self, options):
        assert options == {"codex_path_override": "/opt/codex"}
    def start_thread(self, options):
        assert options["working_directory"] == "/job"
        return Thread()
"""


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    files = {"openai_codex_sdk/__init__.py": SDK, "openai_codex_sdk/errors.py": ERRORS, INFO: ""}
    return python_with(tmp_path_factory.mktemp("sdk"), files)


def heard(python: Path, prompt: str, home: Path) -> tuple[Finished, Heard]:
    model = Model(name="m", base_url="http://127.0.0.1:9/v1", key="k")
    job = Job(
        prompt=prompt, work="/job", home=str(home), model=model, agent=AgentSettings(mode="sdk"), driven="/opt/codex"
    )
    finished = driven(python, DRIVER, told=CODEX.command(job).stdin)
    return finished, CODEX.heard(Ended(job=job, finished=finished, home=home))


def test_what_the_sdk_tells_is_heard_as_what_the_program_tells(python: Path, tmp_path: Path) -> None:
    finished, told = heard(python, "plain", tmp_path)
    assert (finished.exit_code, told.text, told.problem, told.session) == (0, "Hölle.", None, "t-1")
    assert told.calls == (("exec_command", 1),)
    assert told.usage is not None
    assert (told.usage.input_tokens, told.usage.cached_tokens, told.usage.output_tokens) == (5, 1, 2)


def test_a_turn_that_failed_says_why_and_not_the_sdk(python: Path, tmp_path: Path) -> None:
    finished, told = heard(python, "refused", tmp_path)
    assert finished.exit_code == 0
    assert told.problem is not None
    assert told.problem.cause == "auth"


@pytest.mark.parametrize(
    ("prompt", "says"), [("cut", "CodexSdkError: exited with code 1"), ("long", "ValueError: Separator is found")]
)
def test_an_sdk_that_ends_before_the_turn_does_has_failed(python: Path, tmp_path: Path, prompt: str, says: str) -> None:
    finished, told = heard(python, prompt, tmp_path)
    assert finished.exit_code == 1
    assert told.problem is not None
    assert says in told.problem.message


def test_a_program_that_is_read_by_lines_may_write_long_ones(python: Path, tmp_path: Path) -> None:
    assert heard(python, "by the line", tmp_path)[1].text == "300001"


def test_it_says_which_sdk_it_has_and_where(python: Path) -> None:
    about = json.loads(driven(python, DRIVER, "--about").stdout)
    assert about["version"] == "0.1.99"
    assert str(python.parent.parent) in about["prefixes"]
    assert about["packages"].startswith(str(python.parent.parent / "lib"))
