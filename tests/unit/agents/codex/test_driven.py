from __future__ import annotations

import json

import msgspec

from skillopt.agents.codex.adapter import Codex
from skillopt.agents.program import Job, Model
from skillopt.agents.settings import AgentSettings

CODEX = Codex()
MODEL = Model(name="m", base_url="http://127.0.0.1:9/v1", key="a-key")
JOB = Job(
    prompt="Do it.\ud800",
    work="/job",
    home="/home/agent",
    model=MODEL,
    agent=AgentSettings(mode="sdk"),
    schema='{"type":"object"}',
    images=("/job/a.png",),
    effort="high",
    driven="/opt/codex",
)


def test_the_sdk_is_told_the_job_and_the_rest_stands_in_the_same_config() -> None:
    mine = CODEX.command(JOB)
    plain = CODEX.command(msgspec.structs.replace(JOB, driven=""))
    assert json.loads(mine.stdin) == {
        "codex": {"codex_path_override": "/opt/codex"},
        "thread": {"working_directory": "/job", "skip_git_repo_check": True},
        "turn": {"output_schema": {"type": "object"}},
        "input": [{"type": "text", "text": "Do it.?"}, {"type": "local_image", "path": "/job/a.png"}],
    }
    assert (mine.args, mine.env, mine.home_files) == ((), plain.env, plain.home_files)
    assert '"model_reasoning_effort" = "high"' in mine.home_files[".codex/config.toml"]
    assert b"a-key" not in mine.stdin


def test_without_a_schema_none_is_told() -> None:
    assert json.loads(CODEX.command(msgspec.structs.replace(JOB, schema=None)).stdin)["turn"] == {"output_schema": None}


def test_a_model_that_is_asked_once_is_asked_by_the_command_line() -> None:
    asked = msgspec.structs.replace(JOB, agent=None)
    assert CODEX.command(asked) == CODEX.command(msgspec.structs.replace(asked, driven=""))
    assert CODEX.command(asked).args[0] == "exec"
