from __future__ import annotations

from pathlib import Path

import pytest

from skillopt.agents.copilot.adapter import Copilot
from skillopt.agents.program import Cause, Heard
from tests.unit.agents.endings import FAILED, STOPPED, How, ended, lines

END: dict[str, object] = {"type": "result", "sessionId": "s", "exitCode": 0}
SAID: dict[str, object] = {"type": "assistant.message", "data": {"content": "Here."}}


def failed(**data: object) -> dict[str, object]:
    return {"type": "model.call_failure", "data": data}


def gave_up(message: str, **data: object) -> dict[str, object]:
    return {"type": "session.error", "data": {"errorType": "query", "message": message, **data}}


def heard(home: Path, *events: dict[str, object], how: How = How()) -> Heard:
    return Copilot().heard(ended(home, lines(*events), how))


@pytest.mark.parametrize(
    ("events", "cause", "status"),
    [
        ((failed(statusCode=403, errorMessage="no"), gave_up("Forbidden", statusCode=403)), "auth", 403),
        (
            (failed(statusCode=402, errorCode="insufficient_quota"), gave_up("402 used up", statusCode=402)),
            "quota",
            402,
        ),
        ((failed(statusCode=429, errorCode="insufficient_quota"), gave_up("429", statusCode=429)), "quota", 429),
        ((failed(statusCode=400, errorCode="context_length_exceeded"), gave_up("too long")), "context", 400),
        ((failed(statusCode=404), gave_up("Model 'm' not found", statusCode=404)), "refused", 404),
        ((failed(statusCode=529), gave_up("529", statusCode=529)), "unavailable", 529),
        ((gave_up("No response was returned. Send it again."),), "empty", None),
        ((gave_up("The stars are wrong."),), "crashed", None),
    ],
)
def test_an_error_says_who_must_act(
    tmp_path: Path, events: tuple[dict[str, object], ...], cause: Cause, status: int | None
) -> None:
    problem = heard(tmp_path, *events, how=FAILED).problem
    assert problem is not None
    assert (problem.cause, problem.status) == (cause, status)


def test_a_request_that_failed_last_tells_why_a_run_was_ended_in_its_waiting(tmp_path: Path) -> None:
    problem = heard(tmp_path, failed(statusCode=429), how=STOPPED).problem
    assert problem is not None
    assert problem.cause == "rate_limited"


def test_a_failure_that_was_overcome_is_none(tmp_path: Path) -> None:
    assert heard(tmp_path, failed(statusCode=500), SAID, END).problem is None


@pytest.mark.parametrize(
    ("events", "how", "cause"),
    [
        ((SAID,), How(), "crashed"),
        ((SAID, END), FAILED, "crashed"),
        ((SAID, END | {"exitCode": 1}), How(), "crashed"),
        ((), STOPPED, "unavailable"),
        ((), How(exit_code=1, stderr=b"Error: No authentication information found."), "login"),
        ((END,), How(), "empty"),
    ],
)
def test_exit_code_events_and_words_must_agree(
    tmp_path: Path, events: tuple[dict[str, object], ...], how: How, cause: Cause
) -> None:
    problem = heard(tmp_path, *events, how=how).problem
    assert problem is not None
    assert problem.cause == cause
    assert problem.message


def test_a_filter_that_withheld_the_answer_is_a_refusal(tmp_path: Path) -> None:
    record: dict[str, object] = {"type": "session.usage_record", "data": {"usage": {"finishReason": "content_filter"}}}
    problem = heard(tmp_path, record, SAID, END).problem
    assert problem is not None
    assert problem.cause == "filtered"
