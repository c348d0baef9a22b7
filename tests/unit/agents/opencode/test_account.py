from __future__ import annotations

from pathlib import Path

import pytest

from skillopt.agents.opencode.adapter import OpenCode
from skillopt.agents.program import Cause, Heard
from tests.unit.agents.endings import FAILED, STOPPED, How, ended, lines

SAID: dict[str, object] = {"type": "text", "part": {"text": "Here.", "messageID": "m1"}}
DONE: dict[str, object] = {"type": "step_finish", "part": {"reason": "stop"}}


def error(name: str, **data: object) -> dict[str, object]:
    return {"type": "error", "error": {"name": name, "data": data}}


def tool(tool_name: str, status: str, failure: str = "", **given: object) -> dict[str, object]:
    state = {"status": status, "input": given, "error": failure}
    return {"type": "tool_use", "part": {"tool": tool_name, "state": state}}


def heard(home: Path, *events: dict[str, object], how: How = How()) -> Heard:
    return OpenCode().heard(ended(home, lines(*events), how))


@pytest.mark.parametrize(
    ("event", "cause", "status"),
    [
        (error("APIError", message="The key is not valid.", statusCode=401), "auth", 401),
        (error("APIError", message="It may not.", statusCode=403), "auth", 403),
        (error("APIError", message="Gone.", statusCode=404), "refused", 404),
        (error("APIError", message="Paid out.", statusCode=402), "quota", 402),
        (error("APIError", message="Paid out.", statusCode=429, responseBody="insufficient_quota"), "quota", 429),
        (error("APIError", message="Broken.", statusCode=500), "unavailable", 500),
        (error("ContextOverflowError", message="The prompt is too long."), "context", None),
        (error("ContentFilterError", message="Withheld."), "filtered", None),
        (error("MessageOutputLengthError"), "truncated", None),
        (error("UnknownError", message="The operation timed out."), "unavailable", None),
        (error("UnknownError", message="Model not found: a/b."), "refused", None),
        ({"type": "error", "error": {"_tag": "BadRequest"}}, "crashed", None),
    ],
)
def test_an_error_says_who_must_act(tmp_path: Path, event: dict[str, object], cause: Cause, status: int | None) -> None:
    problem = heard(tmp_path, event, how=FAILED).problem
    assert problem is not None
    assert (problem.cause, problem.status) == (cause, status)
    assert problem.message


def test_the_time_until_another_try_is_the_providers(tmp_path: Path) -> None:
    limited = error("APIError", message="Slow down.", statusCode=429, responseHeaders={"retry-after": "7"})
    problem = heard(tmp_path, limited, how=FAILED).problem
    assert problem is not None
    assert (problem.cause, problem.retry_after) == ("rate_limited", 7.0)


def test_an_error_that_was_overcome_is_none(tmp_path: Path) -> None:
    assert heard(tmp_path, error("ContextOverflowError"), SAID, DONE).problem is None


@pytest.mark.parametrize(
    ("events", "how", "cause"),
    [
        ((SAID,), How(), "crashed"),
        ((SAID, DONE), FAILED, "crashed"),
        ((DONE,), How(), "empty"),
        ((SAID, {"type": "step_finish", "part": {"reason": "tool-calls"}}), How(), "empty"),
        ((SAID, {"type": "step_finish", "part": {"reason": "length"}}), How(), "truncated"),
        ((), STOPPED, "unavailable"),
        ((), How(exit_code=1, stderr=b"Error: no such thing"), "crashed"),
    ],
)
def test_exit_code_events_and_words_must_agree(
    tmp_path: Path, events: tuple[dict[str, object], ...], how: How, cause: Cause
) -> None:
    problem = heard(tmp_path, *events, how=how).problem
    assert problem is not None
    assert problem.cause == cause
    assert problem.message


def test_a_machine_without_ripgrep_is_no_fault_of_the_skill(tmp_path: Path) -> None:
    broken = tool("skill", "error", "ripgrep execution failed", name="tide-claude")
    run = heard(tmp_path, broken, SAID, DONE)
    assert run.problem is not None
    assert run.problem.cause == "crashed"
    assert "ripgrep" in run.problem.message
    assert run.skill_opened == "failed"


def test_what_is_not_permitted_is_denied_and_what_fails_is_not(tmp_path: Path) -> None:
    rule = "The user has specified a rule which prevents you from using this specific tool call."
    run = heard(tmp_path, tool("read", "error", rule, filePath="/etc/x"), tool("bash", "error", "Oh.", command="a"))
    assert run.denied == ("read: /etc/x",)
    assert [action.status for action in run.actions if action.kind == "ran"] == ["denied", "failed"]


def test_thoughts_are_told_apart_from_words_and_only_the_last_message_is_the_answer(tmp_path: Path) -> None:
    thought: dict[str, object] = {"type": "reasoning", "part": {"text": "Hm.", "messageID": "m1"}}
    last: dict[str, object] = {"type": "text", "part": {"text": "There.", "messageID": "m2"}}
    run = heard(tmp_path, thought, SAID, last, DONE)
    assert [action.kind for action in run.actions] == ["thought", "said", "said"]
    assert run.text == "There."
