from __future__ import annotations

import json

import msgspec
import pytest

from skillopt.agents.claude_code.adapter import ClaudeCode
from skillopt.agents.claude_code.starting import command
from skillopt.agents.program import Job
from skillopt.agents.settings import AgentSettings
from skillopt.domain.errors import UsageError
from tests.unit.agents.claude_code.stand import AGENT, JOB

CLAUDE = ClaudeCode()
DRIVEN = msgspec.structs.replace(JOB, driven="/opt/claude/claude")
SCHEMA = '{"type":"object","properties":{"n":{"type":"integer"}}}'


def options(job: Job) -> dict[str, object]:
    told = json.loads(CLAUDE.command(job).stdin)["options"]
    assert isinstance(told, dict)
    return told


def test_the_sdk_is_told_what_the_program_would_be_told() -> None:
    told = options(msgspec.structs.replace(DRIVEN, effort="low", schema=SCHEMA, data_dirs=("/job/data/a", "/data/b")))
    assert told["cli_path"] == "/opt/claude/claude"  # never the one that is part of the SDK
    assert (told["cwd"], told["model"], told["effort"]) == ("/job", "claude-sonnet-4-5", "low")
    assert (told["setting_sources"], told["strict_mcp_config"]) == (["project"], True)
    assert (told["permission_mode"], told["tools"], told["add_dirs"]) == ("dontAsk", told["allowed_tools"], ["/data/b"])
    assert set(json.loads(json.dumps(told["disallowed_tools"]))) == {"WebFetch", "WebSearch"}
    assert told["output_format"] == {"type": "json_schema", "schema": json.loads(SCHEMA)}
    assert told["system_prompt"] == {"type": "preset", "preset": "claude_code"}


def test_environment_files_and_prompt_are_the_same_both_ways() -> None:
    job = msgspec.structs.replace(
        DRIVEN, prompt="/compact now", system="Be brief.", agent=AgentSettings(thinking_tokens=9)
    )
    mine, plain = CLAUDE.command(job), command(job)
    assert mine.env.items() > plain.env.items()
    assert mine.env["MAX_THINKING_TOKENS"] == "9"
    assert mine.home_files == plain.home_files
    assert json.loads(mine.stdin)["prompt"] == plain.stdin.decode() == "\n/compact now"
    assert options(job)["extra_args"] == {"append-system-prompt-file": f"{job.home}/system.md"}
    assert mine.args == ()


def test_nothing_more_is_told_than_there_is() -> None:
    told = options(msgspec.structs.replace(DRIVEN, agent=msgspec.structs.replace(AGENT, files="read")))
    assert (told["output_format"], told["effort"], told["extra_args"]) == (None, None, {})
    assert "Bash" in json.dumps(told["disallowed_tools"])


def test_what_the_program_cannot_do_the_sdk_cannot() -> None:
    with pytest.raises(UsageError, match=r"agent\.profile"):
        CLAUDE.command(msgspec.structs.replace(DRIVEN, agent=AgentSettings(profile="mine")))


def test_a_model_that_is_asked_once_is_asked_by_the_command_line() -> None:
    job = msgspec.structs.replace(DRIVEN, agent=None, skill="")
    assert CLAUDE.command(job) == command(job)
