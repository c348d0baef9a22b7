"""Cursor's events as its documentation tells them: no run of the program has confirmed them."""

from __future__ import annotations

from pathlib import Path

import msgspec

from skillopt.agents.cursor.adapter import Cursor, CursorSettings
from tests.unit.agents.endings import ended, lines, prefixes

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


def test_whoever_lacks_it_is_told_that_it_has_an_installer_of_its_own(tmp_path: Path) -> None:
    assert "installer" in Cursor().install
    assert not Cursor().login(tmp_path)
    assert msgspec.convert({"backend": "cursor"}, CursorSettings).model is None
