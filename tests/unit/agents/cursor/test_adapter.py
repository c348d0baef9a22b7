"""Cursor's events as its documentation tells them: no run of the program has confirmed them."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from skillopt.agents.cursor.adapter import Cursor, CursorSettings
from skillopt.agents.program import Cause, Job
from skillopt.domain.errors import UsageError
from tests.unit.agents.endings import JOB, MODEL, agent_job, ended, lines, prefixes

OWN = msgspec.structs.replace(MODEL, base_url=None)
OUTPUT = lines(
    {"type": "system", "subtype": "init", "session_id": "s", "model": "Claude 4 Sonnet", "permissionMode": "default"},
    {"type": "user", "message": {"role": "user", "content": [{"type": "text", "text": "Do it."}]}, "session_id": "s"},
    {"type": "thinking", "subtype": "completed", "text": "Hm.", "session_id": "s"},
    {"type": "assistant", "message": {"role": "assistant", "content": [{"type": "text", "text": "I look."}]}},
    {
        "type": "tool_call",
        "subtype": "started",
        "call_id": "c1",
        "tool_call": {"readToolCall": {"args": {"path": ".agents/skills/tide-claude/SKILL.md"}}},
    },
    {
        "type": "tool_call",
        "subtype": "completed",
        "call_id": "c1",
        "tool_call": {
            "readToolCall": {
                "args": {"path": ".agents/skills/tide-claude/SKILL.md"},
                "result": {"success": {"content": "text", "totalLines": 3}},
            }
        },
    },
    {
        "type": "tool_call",
        "subtype": "completed",
        "call_id": "c2",
        "tool_call": {
            "shellToolCall": {
                "args": {"command": "cat task.md"},
                "result": {"failure": {"exitCode": 3, "stderr": "no"}},
            }
        },
    },
    {
        "type": "tool_call",
        "subtype": "completed",
        "call_id": "c3",
        "tool_call": {"writeToolCall": {"args": {"path": "x"}, "result": {"rejected": {"reason": "no"}}}},
    },
    {"type": "assistant", "message": {"role": "assistant", "content": [{"type": "text", "text": "It is 42."}]}},
    {
        "type": "result",
        "subtype": "success",
        "is_error": False,
        "result": "It is 42.",
        "session_id": "s",
        "usage": {"inputTokens": 10, "outputTokens": 2, "cacheReadTokens": 5, "cacheWriteTokens": 1},
    },
)


def own(job: Job = JOB, **changes: object) -> Job:
    return msgspec.structs.replace(job, model=OWN, **changes)


def test_a_whole_run_is_heard(tmp_path: Path) -> None:
    heard = Cursor().heard(ended(tmp_path, OUTPUT))
    assert (heard.text, heard.problem, heard.session, heard.model) == ("It is 42.", None, "s", "Claude 4 Sonnet")
    assert heard.calls == (("read", 1), ("shell", 1), ("write", 1))
    assert heard.denied == ("write: x",)
    assert (heard.skill_opened, heard.task_read) == ("yes", "failed")
    assert [action.kind for action in heard.actions if action.kind != "error"] == [
        *("thought", "said", "ran", "ran", "ran", "said"),
    ]
    assert heard.usage is not None
    assert (heard.usage.input_tokens, heard.usage.cached_tokens, heard.usage.output_tokens) == (16, 5, 2)


def test_output_that_is_cut_anywhere_is_heard(tmp_path: Path) -> None:
    for cut in prefixes(OUTPUT):
        heard = Cursor().heard(ended(tmp_path, cut))
        assert heard.problem is not None or heard.text == "It is 42."


@pytest.mark.parametrize(
    ("events", "ending", "cause"),
    [
        ((), {"exit_code": 1, "stderr": b"Authentication required. Please log in."}, "login"),
        ((), {"exit_code": 1, "stderr": b"Cannot use this model: x"}, "refused"),
        ((), {"exit_code": -15, "timed_out": True}, "unavailable"),
        ((), {}, "crashed"),
        (({"type": "result", "subtype": "success", "is_error": True, "result": "rate limit"},), {}, "rate_limited"),
        (({"type": "result", "subtype": "success", "result": " "},), {}, "empty"),
        (({"type": "result", "subtype": "success", "result": "Here."},), {"exit_code": 2}, "crashed"),
    ],
)
def test_exit_code_events_and_words_must_agree(
    tmp_path: Path, events: tuple[dict[str, object], ...], ending: dict[str, object], cause: Cause
) -> None:
    problem = Cursor().heard(ended(tmp_path, lines(*events), **ending)).problem  # type: ignore[arg-type]
    assert problem is not None
    assert problem.cause == cause


def test_all_is_allowed_only_where_files_may_change() -> None:
    confined = Cursor().command(own())
    assert confined.args[-3:] == ("--sandbox", "disabled", "--force")
    assert Cursor().command(own(agent_job(sandbox="none"))).args[-3:] == ("--sandbox", "enabled", "--force")
    assert Cursor().command(own(agent_job(files="read"))).args[-2:] == ("--mode", "ask")
    assert confined.env["CURSOR_API_KEY"] == "a-key"
    assert confined.stdin == b"Do it."


def test_asked_once_it_may_not_even_read() -> None:
    made = Cursor().command(own(agent=None, system="Be brief."))
    assert made.args[-2:] == ("--mode", "ask")
    assert "Read(**)" in made.home_files[".cursor/cli-config.json"]
    assert made.stdin == b"Be brief.\n\nDo it."


@pytest.mark.parametrize(
    ("job", "named"),
    [
        (JOB, "base_url"),
        (own(images=("a.png",)), "images"),
        (own(schema="{}"), "agent.structured"),
        (own(effort="high"), "effort"),
        (own(agent_job(tools=["Read"])), "agent.tools"),
        (own(agent_job(mode="sdk")), "agent.mode"),
    ],
)
def test_what_it_cannot_be_told_is_refused_by_its_key(job: Job, named: str) -> None:
    with pytest.raises(UsageError, match=named):
        Cursor().command(job)


def test_whoever_lacks_it_is_told_that_it_has_an_installer_of_its_own(tmp_path: Path) -> None:
    assert "installer" in Cursor().install
    assert not Cursor().login(tmp_path)
    assert msgspec.convert({"backend": "cursor"}, CursorSettings).model is None
