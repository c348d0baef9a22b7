"""What the real program wrote, file by file, and cut at every byte."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillopt.agents.claude_code.adapter import ClaudeCode
from skillopt.agents.program import Adapter, Cause, Heard
from skillopt.domain.agency.transcripts import Seen
from tests.unit.agents.claude_code.stand import JOB, SAMPLES, ended, result, said, sample

STEPS = ((2_000, 1), (10_000, 7))  # a sample of up to so many bytes is cut at every so many
LONG_STEP = 1999


class Told(msgspec.Struct, frozen=True, kw_only=True):
    """What a sample comes to; `dollars` are the program's own, by the list price that we give the model."""

    text: str = ""
    cause: Cause | None = None
    status: int | None = None
    dollars: float = 0.0
    calls: dict[str, int] = {}
    requests: int = 0
    denied: tuple[str, ...] = ()
    opened: Seen = "no"


CALLED = {"Bash": 1}
OUTPUTS = {
    "result_json_budget.json": Told(cause="crashed", dollars=0.0628296, opened="unknown"),
    "result_json_e401_r0.json": Told(cause="auth", status=401, opened="unknown"),
    "result_json_e404.json": Told(cause="refused", status=404, opened="unknown"),
    "result_json_maxturns.json": Told(cause="crashed", dollars=0.0625932, opened="unknown"),
    "result_json_nokey.json": Told(cause="login", opened="unknown"),
    "result_json_notools.json": Told(text="I will run it.", dollars=0.0227952, opened="unknown"),
    "result_json_stdin.json": Told(text="HELLO from scripted model", dollars=0.0309798, opened="unknown"),
    "result_json_structbad.json": Told(text='{"answer": 42, "why": "second try"}', dollars=0.0625395, opened="unknown"),
    "stream_json_bare.jsonl": Told(text="DONE n=42", dollars=0.0017151, calls=CALLED, requests=2),
    "stream_json_cut.jsonl": Told(text="partial answer that is cut", dollars=0.0309672, requests=2),
    "stream_json_denied.jsonl": Told(text="DONE n=42", dollars=0.0628503, calls=CALLED, requests=2, denied=("Bash",)),
    "stream_json_e429_r1.jsonl": Told(cause="rate_limited", status=429, requests=1),
    "stream_json_e500_r1.jsonl": Told(cause="unavailable", status=500, requests=1),
    "stream_json_garbage.jsonl": Told(cause="unavailable"),
    "stream_json_noset.jsonl": Told(text="DONE n=42", dollars=0.0619683, calls=CALLED, requests=2),
    "stream_json_noskills.jsonl": Told(text="DONE n=42", dollars=0.0521655, calls=CALLED, requests=2),
    "stream_json_skill.jsonl": Told(text="skill used", dollars=0.0623766, calls={"Skill": 1}, requests=2, opened="yes"),
    "stream_json_tool.jsonl": Told(text="DONE n=42", dollars=0.0628062, calls=CALLED, requests=2),
    "stream_json_unk.jsonl": Told(text="after unknown tool", dollars=0.0623106, calls={"no_such_tool": 1}, requests=2),
    "stream_json_unreach.jsonl": Told(cause="unavailable", requests=1),
}
TRANSCRIPTS = {
    "session_denied.jsonl": Told(cause="crashed", dollars=0.0628503, calls=CALLED, requests=2, denied=("Bash",)),
    "session_e403.jsonl": Told(cause="auth", status=403, requests=1),
    "session_skill.jsonl": Told(cause="crashed", dollars=0.0623766, calls={"Skill": 1}, requests=2, opened="yes"),
    "session_tool.jsonl": Told(cause="crashed", dollars=0.0628062, calls=CALLED, requests=2),
}
SCHEMA = msgspec.structs.replace(JOB, schema="{}")


def exit_code(told: Told) -> int:
    return 0 if told.cause is None else 1


def told_by(heard: Heard) -> Told:
    problem, usage = heard.problem, heard.usage
    assert usage is not None
    return Told(
        text=heard.text,
        cause=None if problem is None else problem.cause,
        status=None if problem is None else problem.status,
        dollars=usage.usd,
        calls=dict(heard.calls),
        requests=heard.requests,
        denied=heard.denied,
        opened=heard.skill_opened,
    )


def test_it_is_an_adapter() -> None:
    adapter: Adapter = ClaudeCode()
    assert adapter.name == "claude_code"


def test_every_sample_is_in_the_tables() -> None:
    sample("stream_json_tool.jsonl")
    assert {path.name for path in SAMPLES.iterdir()} == {*OUTPUTS, *TRANSCRIPTS}


@pytest.mark.parametrize("name", OUTPUTS)
def test_an_output_is_heard(tmp_path: Path, name: str) -> None:
    wanted = OUTPUTS[name]
    job = SCHEMA if "struct" in name else JOB
    heard = ClaudeCode().heard(ended(tmp_path, sample(name), job=job, exit_code=exit_code(wanted)))
    assert told_by(heard) == wanted


@pytest.mark.parametrize("name", TRANSCRIPTS)
def test_a_transcript_is_read_where_there_is_no_output(tmp_path: Path, name: str) -> None:
    heard = ClaudeCode().heard(ended(tmp_path, transcript=sample(name), exit_code=1))
    assert told_by(heard) == TRANSCRIPTS[name]


def test_output_and_transcript_together_count_nothing_twice(tmp_path: Path) -> None:
    both = ended(tmp_path, sample("stream_json_skill.jsonl"), transcript=sample("session_skill.jsonl"))
    heard = ClaudeCode().heard(both)
    assert told_by(heard) == OUTPUTS["stream_json_skill.jsonl"]
    assert [action.kind for action in heard.actions] == ["ran", "said"]
    assert heard.model == "claude-sonnet-4-5"


@pytest.mark.parametrize("name", [*OUTPUTS, *TRANSCRIPTS])
def test_a_cut_is_no_obstacle(tmp_path: Path, name: str) -> None:
    """At every byte, or every 7th or 1999th of a larger sample, and there at every end of a line and beside it."""
    data = sample(name)
    step = next((step for size, step in STEPS if len(data) <= size), LONG_STEP)
    ends = {place + near for place, byte in enumerate(data) if byte == ord("\n") for near in (-1, 0, 1)}
    cuts = sorted({cut for cut in (*ends, *range(0, len(data), step)) if 0 <= cut < len(data)})
    adapter = ClaudeCode()
    for cut in cuts:
        part = data[:cut]
        if name in TRANSCRIPTS:
            heard = adapter.heard(ended(tmp_path, transcript=part, exit_code=-9))
        else:
            heard = adapter.heard(ended(tmp_path, part, exit_code=-9))
        assert heard.problem is not None


FIELDS = (
    "type",
    "message",
    "content",
    "id",
    "name",
    "input",
    "text",
    "uuid",
    "usage",
    "modelUsage",
    "result",
    "errors",
)
WORDS = ("assistant", "user", "result", "tool_use", "tool_result", "StructuredOutput", "t1", "\ud800", "")
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.sampled_from(WORDS),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(FIELDS), inner, max_size=4),
    max_leaves=12,
)


@given(lines=st.lists(st.dictionaries(st.sampled_from(FIELDS), VALUES), max_size=4), noise=st.binary(max_size=4))
def test_whatever_the_program_writes_something_is_heard(
    tmp_path_factory: pytest.TempPathFactory, lines: list[dict[str, object]], noise: bytes
) -> None:
    data = b"\n".join(json.dumps(each).encode().replace(b"t1", noise) for each in lines)
    heard = ClaudeCode().heard(ended(tmp_path_factory.getbasetemp(), data, job=SCHEMA))
    assert heard.problem is not None or heard.text.strip()


def test_arguments_that_are_no_text_are_heard(tmp_path: Path) -> None:
    call = said({"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "BYTE"}}).replace(
        b"BYTE", b"\xff"
    )
    heard = ClaudeCode().heard(ended(tmp_path, call + result()))
    assert (heard.calls, heard.text) == ((("Bash", 1),), "Done.")


@pytest.mark.parametrize("count", [-1, 10**30])
def test_what_is_no_count_is_not_charged(tmp_path: Path, count: int) -> None:
    heard = ClaudeCode().heard(
        ended(tmp_path, result(modelUsage={"m": {"inputTokens": 1}}).replace(b":1}", b":%d}" % count))
    )
    assert (heard.usage, heard.problem is not None) == (None, True)


def test_a_login_is_seen_by_its_file_alone(tmp_path: Path) -> None:
    assert not ClaudeCode().login(tmp_path)
    (tmp_path / ".claude").mkdir()
    (tmp_path / ".claude" / ".credentials.json").touch(mode=0o000)
    assert ClaudeCode().login(tmp_path)


def test_an_empty_skill_name_leaves_its_use_unknown(tmp_path: Path) -> None:
    job = msgspec.structs.replace(JOB, skill="")
    heard = ClaudeCode().heard(ended(tmp_path, said({"type": "text", "text": "a"}) + result(), job=job))
    assert (heard.skill_opened, heard.task_read) == ("unknown", "no")
