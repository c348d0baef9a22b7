from __future__ import annotations

from collections.abc import Callable

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillopt.agents.codex.events import Tokens, Told, told
from skillopt.agents.codex.steps import Call
from skillopt.domain.transcripts import Action

Sample = Callable[[str], bytes]


@pytest.mark.parametrize(
    ("name", "text", "failure", "steps", "tokens"),
    [
        ("exec_json_text", "HELLO from scripted model", "", 1, 5360),
        ("exec_json_tool", "DONE n=42", "", 3, 10915),
        ("exec_json_badcmd", "saw failure", "", 2, 10856),
        ("exec_json_esc2", "probe done", "", 2, 11258),
        ("exec_json_schema", '{"answer": 42, "why": "scripted"}', "", 1, 5369),
        ("exec_json_overr", '{"answer": 42, "why": "scripted"}', "", 1, 5368),
        ("exec_json_e429once", "recovered after one 429", "", 1, 5368),
        ("exec_json_e401", "", "unexpected status 401", 0, None),
        ("exec_json_e429", "", "exceeded retry limit, last status: 429", 0, None),
        ("exec_json_garbage", "", "stream disconnected before completion: UTF8", 0, None),
        ("exec_json_midhang", "", "stream disconnected before completion: idle", 0, None),
        ("exec_json_nokey", "", "Missing environment variable", 0, None),
        ("exec_json_unreach", "", "", 0, None),
    ],
)
def test_every_sample_is_read(
    sample: Sample, name: str, text: str, failure: str, steps: int, tokens: int | None
) -> None:
    output = told(sample(f"{name}.jsonl"))
    assert output.text == text
    assert output.failure.startswith(failure)
    assert bool(output.failure) == bool(failure)
    assert output.completed == (tokens is not None)
    assert len(output.steps) == steps
    assert output.tokens is None if tokens is None else output.tokens is not None
    if output.tokens is not None:
        assert output.tokens.input_tokens + output.tokens.output_tokens == tokens
    assert output.thread.startswith("01a1f0")


def test_a_warning_is_no_error_and_an_error_is_told_once(sample: Sample) -> None:
    assert told(sample("exec_json_text.jsonl")).errors == ()
    assert len(told(sample("exec_json_unreach.jsonl")).errors) == 1
    assert len(told(sample("exec_json_e401.jsonl")).errors) == 2


def test_a_failed_command_is_a_failed_call(sample: Sample) -> None:
    call = told(sample("exec_json_badcmd.jsonl")).steps[0]
    assert call == Call(
        tool="exec_command", text="/bin/bash -lc 'cat /nonexistent; exit 3'", status="exit 3", failed=True
    )


def lines(*events: object) -> bytes:
    return b"\n".join(msgspec.json.encode(event) for event in events)


def item(**fields: object) -> dict[str, object]:
    return {"type": "item.completed", "item": fields}


def test_what_was_said_before_a_call_is_no_answer() -> None:
    output = told(
        lines(
            item(type="agent_message", text="I will look."),
            item(type="command_execution", command="ls", exit_code=0, status="completed"),
            {"type": "turn.completed", "usage": {"input_tokens": 3}},
        )
    )
    assert (output.text, output.completed, output.tokens) == ("", True, Tokens(input_tokens=3))


def test_other_items_are_steps_too() -> None:
    output = told(
        lines(
            item(type="reasoning", text="so it is"),
            item(type="file_change", changes=[{"path": "a", "kind": "add"}, {"path": "b"}], status="failed"),
            item(type="web_search", query="tides"),
            item(type="mcp_tool_call", tool="look", status="completed"),
        )
    )
    assert output.steps == (
        Action(kind="thought", text="so it is"),
        Call(tool="apply_patch", text="a, b", status="failed", failed=True),
        Call(tool="web_search", text="tides"),
        Call(tool="look", text="", status="completed"),
    )


def test_events_of_a_later_version_are_passed_over() -> None:
    known = lines(item(type="agent_message", text="done"), {"type": "turn.completed", "usage": {}})
    strange = lines({"type": "turn.paused", "why": [1]}, item(type="hologram"), {"type": ["odd"]}, ["no", "object"])
    assert told(strange + b"\n{" + b"\n\xff\xfe\n" + known) == told(known)


@given(st.binary(max_size=300))
def test_any_bytes_are_read(data: bytes) -> None:
    assert isinstance(told(data), Told)
    assert isinstance(told(b'{"type":"item.completed","item":' + data + b"}\n"), Told)


def test_deep_nesting_is_passed_over() -> None:
    assert told(b'{"type":"error","message":' + b"[" * 100_000) == Told()
