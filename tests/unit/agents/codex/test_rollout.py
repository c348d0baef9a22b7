from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillopt.agents.codex.rollout import Recorded, recorded, rollout
from skillopt.agents.codex.steps import Call
from skillopt.agents.telling.lines import left_file
from skillopt.domain.agency.transcripts import Action

Sample = Callable[[str], bytes]
COMMAND = "printf 'n=%s\\n' $(( 6 * 7 )) > result.txt && cat result.txt && ls"
SKILL = "cat .agents/skills/tide-tables/SKILL.md"


@pytest.mark.parametrize(
    ("name", "last", "tokens", "calls"),
    [
        ("rollout_tool", "DONE n=42", 10915, [Call(tool="exec_command", text=COMMAND, status="exit 0")]),
        ("rollout_skill", "skill used", None, [Call(tool="exec_command", text=SKILL, status="exit 0")]),
        (
            "rollout_badcmd",
            "saw failure",
            10856,
            [Call(tool="exec_command", text="cat /nonexistent; exit 3", status="exit 3", failed=True)],
        ),
        (
            "rollout_ro1",
            "DONE n=42",
            None,
            [Call(tool="exec_command", text=COMMAND, status="denied", failed=True, denied=True)],
        ),
    ],
)
def test_every_sample_is_read(sample: Sample, name: str, last: str, tokens: int | None, calls: list[Call]) -> None:
    record = recorded(sample(f"{name}.jsonl"))
    assert (record.model, record.last, record.complete, record.requests) == ("scripted-1", last, True, 2)
    assert [step for step in record.steps if isinstance(step, Call)] == calls
    assert record.steps[-1] == Action(kind="said", text=last)
    assert record.tokens is not None
    if tokens is not None:
        assert record.tokens.input_tokens + record.tokens.output_tokens == tokens


@pytest.mark.parametrize("name", ["tool", "skill", "badcmd", "ro1"])
def test_a_file_that_is_cut_at_every_seventh_byte_is_read(sample: Sample, name: str) -> None:
    whole = sample(f"rollout_{name}.jsonl")
    steps = 0
    for cut in range(0, len(whole), 7):
        record = recorded(whole[:cut])
        assert len(record.steps) >= steps
        steps = len(record.steps)
    assert steps > 0


def test_a_failed_turn_is_not_complete() -> None:
    rows = [{"type": "event_msg", "payload": {"type": "task_complete", "last_agent_message": None}}]
    assert recorded(b"\n".join(map(msgspec.json.encode, rows))) == Recorded()


@given(st.binary(max_size=200))
def test_any_bytes_are_read(data: bytes) -> None:
    assert isinstance(recorded(data), Recorded)
    for kind in (b"response_item", b"event_msg", b"token_usage_record", b"turn_context"):
        assert isinstance(recorded(b'{"type":"' + kind + b'","payload":{"type":"message",' + data + b"}}"), Recorded)


def kept(home: Path, name: str, data: bytes = b"{}") -> Path:
    path = home / ".codex" / "sessions" / "2026" / "11" / "19" / f"rollout-2026-11-19T00-00-00-{name}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


def test_the_file_of_the_thread_is_read_or_the_only_one(tmp_path: Path) -> None:
    assert rollout(tmp_path, "") == b""
    kept(tmp_path, "one", b"1")
    assert rollout(tmp_path, "") == b"1"
    kept(tmp_path, "two", b"2")
    assert rollout(tmp_path, "two") == b"2"
    assert rollout(tmp_path, "") == b""


def test_what_an_agent_put_in_its_place_is_not_followed(tmp_path: Path) -> None:
    home, secret = tmp_path / "home", tmp_path / "secret"
    secret.write_text("of this machine")
    path = kept(home, "one")
    path.unlink()
    path.symlink_to(secret)
    assert rollout(home, "one") == b""
    (home / "outside").symlink_to(tmp_path)
    (home / "circle").symlink_to(home / "circle")
    os.mkfifo(home / "pipe")
    for name in ("outside/secret", "circle", "pipe", ".", "missing"):
        assert left_file(home, home / name) == b""
    (home / "plain").write_text("mine")
    assert left_file(home, home / "plain") == b"mine"
