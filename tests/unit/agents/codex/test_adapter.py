from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from skillopt.agents.codex.adapter import Codex, CodexSettings
from skillopt.agents.program import Adapter, Cause, Ended, Job, Model
from skillopt.agents.settings import AgentSettings
from skillopt.domain.agency.transcripts import Seen
from skillopt.domain.usage import Price, Usage
from skillopt.kernel.process import Finished

Sample = Callable[[str], bytes]
CODEX: Adapter = Codex()
MODEL = Model(name="some-model", base_url="http://127.0.0.1:9/v1", key="a-key", price=Price(input=1.0, output=10.0))


def job(agent: AgentSettings | None = None, *, schema: str | None = None, images: tuple[str, ...] = ()) -> Job:
    return Job(
        prompt="Do it.",
        work="/job",
        home="/home/agent",
        model=MODEL,
        agent=agent,
        system="Be brief.",
        skill="" if agent is None else "tide-tables",
        schema=schema,
        images=images,
    )


def ended(
    home: Path, stdout: bytes = b"", *, exit_code: int = 0, stderr: bytes = b"", timed_out: bool = False
) -> Ended:
    finished = Finished(
        exit_code=exit_code,
        stdout=stdout,
        stderr=stderr,
        stdout_truncated=False,
        stderr_truncated=False,
        timed_out=timed_out,
        seconds=1.0,
    )
    return Ended(job=job(AgentSettings()), finished=finished, home=home)


def keep(home: Path, data: bytes) -> None:
    path = home / ".codex" / "sessions" / "2026" / "11" / "19" / "rollout-x.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


def test_a_login_is_a_file_that_is_there(tmp_path: Path) -> None:
    assert not CODEX.login(tmp_path)
    (tmp_path / ".codex").mkdir()
    (tmp_path / ".codex" / "auth.json").write_text("{}")
    assert CODEX.login(tmp_path)


def test_its_settings_go_by_its_name() -> None:
    assert CodexSettings().__struct_config__.tag == CODEX.name == "codex"


def test_an_agent_is_started_in_its_folder_with_the_prompt_as_input() -> None:
    command = CODEX.command(job(AgentSettings(), schema='{"type":"object"}', images=("/job/a.png", "/job/b.png")))
    assert command.args == (
        *("exec", "--image", "/job/a.png", "--image", "/job/b.png"),
        *("--json", "--strict-config", "--skip-git-repo-check", "--color", "never", "--cd", "/job"),
        *("--output-last-message", "/home/agent/last_message.txt"),
        *("--output-schema", "/home/agent/.codex/answer.schema.json", "-"),
    )
    assert command.stdin == b"Do it."
    assert command.env == {
        "CODEX_HOME": "/home/agent/.codex",
        "TMPDIR": "/home/agent/tmp",
        "SKILLOPT_MODEL_KEY": "a-key",
    }
    assert set(command.home_files) == {".codex/config.toml", "tmp/.keep", ".codex/answer.schema.json"}


def test_who_is_only_asked_is_told_the_system_text_and_leaves_no_session() -> None:
    command = CODEX.command(job())
    assert "--ephemeral" in command.args
    assert command.home_files[".codex/system.md"] == "Be brief."
    assert ".codex/models.json" in command.home_files
    wordless = Job(prompt="p", work="/job", home="/h", model=Model(name=None, base_url=None, key=None), agent=None)
    assert CODEX.command(wordless).home_files[".codex/system.md"].strip()
    assert "SKILLOPT_MODEL_KEY" not in CODEX.command(wordless).env


RAN = (("exec_command", 1),)


@pytest.mark.parametrize(
    ("name", "text", "cause", "calls"),
    [
        ("text", "HELLO from scripted model", None, ()),
        ("tool", "DONE n=42", None, RAN),
        ("badcmd", "saw failure", None, RAN),
        ("esc2", "probe done", None, RAN),
        ("schema", '{"answer": 42, "why": "scripted"}', None, ()),
        ("overr", '{"answer": 42, "why": "scripted"}', None, ()),
        ("e429once", "recovered after one 429", None, ()),
        ("e401", "", "auth", ()),
        ("e429", "", "rate_limited", ()),
        ("garbage", "", "unavailable", ()),
        ("midhang", "", "unavailable", ()),
        ("nokey", "", "login", ()),
        ("unreach", "", "unavailable", ()),
    ],
)
def test_every_sample_of_output_is_heard(
    sample: Sample, tmp_path: Path, name: str, text: str, cause: Cause | None, calls: tuple[tuple[str, int], ...]
) -> None:
    left = ended(tmp_path, sample(f"exec_json_{name}.jsonl"), exit_code=0 if cause is None else 1)
    heard = CODEX.heard(left)
    assert (heard.text, heard.problem and heard.problem.cause, heard.calls) == (text, cause, calls)
    assert heard.skill_opened == "unknown"


@pytest.mark.parametrize(
    ("name", "text", "opened", "denied"),
    [
        ("rollout_tool", "DONE n=42", "no", ()),
        ("rollout_skill", "skill used", "yes", ()),
        ("rollout_badcmd", "saw failure", "no", ()),
        ("rollout_ro1", "DONE n=42", "no", ("exec_command",)),
    ],
)
def test_every_sample_of_a_rollout_file_is_heard(
    sample: Sample, tmp_path: Path, name: str, text: str, opened: Seen, denied: tuple[str, ...]
) -> None:
    keep(tmp_path, sample(f"{name}.jsonl"))
    heard = CODEX.heard(ended(tmp_path))
    assert (heard.text, heard.problem, heard.calls) == (text, None, (("exec_command", 1),))
    assert (heard.skill_opened, heard.task_read, heard.denied) == (opened, "no", denied)
    assert (heard.requests, heard.model) == (2, "scripted-1")


def test_output_and_rollout_file_are_one_account(sample: Sample, tmp_path: Path) -> None:
    keep(tmp_path, sample("rollout_tool.jsonl"))
    heard = CODEX.heard(ended(tmp_path, sample("exec_json_tool.jsonl")))
    assert [action.kind for action in heard.actions] == ["said", "ran", "said"]
    assert heard.usage == Usage(
        calls=1, input_tokens=10878, cached_tokens=5438, output_tokens=37, nano_usd=10878 * 1000 + 37 * 10_000
    )


@pytest.mark.parametrize(
    ("exit_code", "stderr", "timed_out", "cause"),
    [
        (0, b"", False, "empty"),
        (0, b"", True, "unavailable"),
        (1, b"Error loading config.toml: no", False, "crashed"),
        (-9, b"", False, "crashed"),
    ],
)
def test_no_answer_is_a_problem(tmp_path: Path, exit_code: int, stderr: bytes, timed_out: bool, cause: Cause) -> None:
    output = b'{"type":"turn.completed","usage":{}}'
    heard = CODEX.heard(ended(tmp_path, output, exit_code=exit_code, stderr=stderr, timed_out=timed_out))
    assert heard.problem is not None
    assert heard.problem.cause == cause
    assert heard.problem.message


def test_an_answer_counts_only_with_the_end_of_its_turn_and_a_good_exit(sample: Sample, tmp_path: Path) -> None:
    whole = sample("exec_json_text.jsonl")
    cut = CODEX.heard(ended(tmp_path, whole.rpartition(b'{"type": "turn.completed"')[0]))
    killed = CODEX.heard(ended(tmp_path, whole, exit_code=-9))
    for heard in (cut, killed):
        assert heard.text == "HELLO from scripted model"
        assert heard.problem is not None
        assert heard.problem.cause == "crashed"


def test_the_last_message_that_was_left_is_the_answer(sample: Sample, tmp_path: Path) -> None:
    (tmp_path / "last_message.txt").write_bytes(b"the whole answer \xff")
    heard = CODEX.heard(ended(tmp_path, sample("exec_json_text.jsonl")))
    assert heard.text == "the whole answer \ufffd"


@pytest.mark.parametrize("name", ["text", "tool", "badcmd", "esc2", "e401", "e429once", "unreach", "schema", "nokey"])
def test_output_that_is_cut_at_any_byte_is_heard(sample: Sample, tmp_path: Path, name: str) -> None:
    whole = sample(f"exec_json_{name}.jsonl")
    for cut in range(len(whole)):
        heard = CODEX.heard(ended(tmp_path, whole[:cut]))
        assert heard.problem is not None or b"turn.completed" in whole[:cut]


@pytest.mark.parametrize("name", ["tool", "skill", "badcmd", "ro1"])
def test_a_rollout_file_that_is_cut_after_any_line_is_heard(sample: Sample, tmp_path: Path, name: str) -> None:
    lines = sample(f"rollout_{name}.jsonl").splitlines(keepends=True)
    for count in range(len(lines)):
        keep(tmp_path, b"".join(lines[:count]))
        problem = CODEX.heard(ended(tmp_path)).problem
        assert problem is not None
        assert problem.cause == "crashed"
