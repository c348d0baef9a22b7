from __future__ import annotations

from pathlib import Path

from skillopt.agents.copilot.adapter import Copilot
from tests.unit.agents.endings import ended, lines


def test_a_call_without_an_end_is_unfinished_and_told_once(tmp_path: Path) -> None:
    start: dict[str, object] = {"toolCallId": "c", "toolName": "bash", "arguments": {"command": "sleep 9"}}
    began: dict[str, object] = {"type": "tool.execution_start", "data": start}
    heard = Copilot().heard(ended(tmp_path, lines(began, began)))
    assert [action.line for action in heard.actions] == ["ran bash: sleep 9 [unfinished]"]


def test_what_an_agent_below_the_main_one_says_is_no_answer(tmp_path: Path) -> None:
    below: dict[str, object] = {"type": "assistant.message", "agentId": "x", "data": {"content": "Mine."}}
    main: dict[str, object] = {"type": "assistant.message", "data": {"content": "Ours.", "reasoningText": "Hm."}}
    heard = Copilot().heard(ended(tmp_path, lines(main, below)))
    assert heard.text == "Ours."
    assert [action.kind for action in heard.actions] == ["thought", "said", "said"]


def test_tokens_of_a_run_that_was_cut_off_are_those_told_so_far(tmp_path: Path) -> None:
    usage = {"inputTokens": 10, "outputTokens": 2, "cacheReadTokens": 4, "cacheWriteTokens": 1}
    record: dict[str, object] = {"type": "session.usage_record", "data": {"usage": usage}}
    heard = Copilot().heard(ended(tmp_path, lines(record, record)))
    assert heard.usage is not None
    assert (heard.usage.input_tokens, heard.usage.cached_tokens, heard.usage.output_tokens) == (20, 8, 4)
    assert heard.requests == 2


def test_a_tool_that_it_does_not_know_is_an_error_but_for_ours_that_stands_for_none(tmp_path: Path) -> None:
    def unknown(tool: str) -> dict[str, object]:
        message = f'Unknown tool name in the tool allowlist: "{tool}"'
        return {"type": "session.info", "data": {"infoType": "configuration", "message": message}}

    heard = Copilot().heard(ended(tmp_path, lines(unknown("none"), unknown("saw"))))
    assert [action.text[-5:] for action in heard.actions] == ['"saw"']


def test_an_event_of_a_later_version_is_passed_over(tmp_path: Path) -> None:
    odd = lines(
        {"type": "session.dreamt", "data": {"of": "sheep"}},
        {"type": "assistant.message", "data": {"content": {"parts": []}}},
        {"type": "assistant.message", "data": {"content": "Here.", "model": "m", "new": 1}},
        {"type": "result", "sessionId": "s", "exitCode": 0},
    )
    heard = Copilot().heard(ended(tmp_path, b'[1]\n{"type": 3}\nnonsense\n' + odd))
    assert (heard.text, heard.problem, heard.session) == ("Here.", None, "s")
