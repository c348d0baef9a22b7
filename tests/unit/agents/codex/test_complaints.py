from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillopt.agents.codex.complaints import problem
from skillopt.agents.program import Cause, Problem

# as Codex 0.169 words them
SEEN: list[tuple[str, Cause, int | None]] = [
    ("unexpected status 401 Unauthorized: Incorrect API key provided, url: http://h/v1/responses", "auth", 401),
    ("unexpected status 403 Forbidden: Country not supported, url: http://h/v1/responses", "auth", 403),
    ("unexpected status 402 Payment Required: Insufficient credits, url: http://h/v1/responses", "quota", 402),
    ("unexpected status 413 Payload Too Large: Request too large, url: http://h/v1/responses", "context", 413),
    ("unexpected status 529 <unknown status code>: Overloaded, url: http://h/v1", "unavailable", 529),
    ("unexpected status 422 Unprocessable Entity: no, url: http://h/v1/responses", "refused", 422),
    ("The model `x` does not exist or you do not have access to it.", "refused", None),
    ('{"error": {"message": "Invalid value: bad", "type": "invalid_request_error", "code": null}}', "refused", None),
    ('{"error": {"message": "Too much.", "code": "context_length_exceeded"}}', "context", None),
    (
        "Codex ran out of room in the model's context window. Start a new thread or clear earlier history.",
        "context",
        None,
    ),
    ("exceeded retry limit, last status: 429 Too Many Requests", "rate_limited", 429),
    ("rate limit exceeded: words. Please try again in 11.5s.", "rate_limited", None),
    ("Quota exceeded. Check your plan and billing details.", "quota", None),
    ("You've hit your usage limit. Try again later.", "quota", None),
    ("We’re currently experiencing high demand, which may cause temporary errors.", "unavailable", None),
    ("Selected model is at capacity. Please try a different model.", "unavailable", None),
    ("stream disconnected before completion: stream closed before response.completed", "unavailable", None),
    ("stream disconnected before completion: idle timeout waiting for SSE", "unavailable", None),
    (
        "Reconnecting... waiting for network (Connection failed: error sending request)",
        "unavailable",
        None,
    ),
    ("Incomplete response returned, reason: max_output_tokens", "truncated", None),
    ("stream disconnected before completion: Incomplete response returned, reason: content_filter", "filtered", None),
    ("Incomplete response returned, reason: unknown", "refused", None),
    ("Missing environment variable: `SKILLOPT_MODEL_KEY`.", "login", None),
    ("Error loading config.toml:\nunknown configuration field `a.b`", "crashed", None),
    ("", "crashed", None),
]


@pytest.mark.parametrize(("message", "cause", "status"), SEEN)
def test_a_complaint_says_who_must_act(message: str, cause: Cause, status: int | None) -> None:
    found = problem(message, keyed=True)
    assert (found.cause, found.status) == (cause, status)


def test_without_a_key_a_refused_login_is_to_be_done_again() -> None:
    assert problem("unexpected status 401 Unauthorized: no", keyed=False).cause == "login"


def test_a_body_that_is_passed_on_is_told_by_its_message() -> None:
    message = '{"error": {"message": "Invalid value: bad", "code": null}}'
    assert problem(message, keyed=True) == Problem(cause="refused", message="Invalid value: bad")


@pytest.mark.parametrize(("words", "seconds"), [("in 11.5s.", 11.5), ("in 250ms", 0.25), ("in a while", None)])
def test_when_to_try_again_is_the_providers_own_word(words: str, seconds: float | None) -> None:
    assert problem(f"rate limit exceeded: try again {words}", keyed=True).retry_after == seconds


@given(st.text())
def test_any_words_are_a_problem(words: str) -> None:
    assert isinstance(problem(words, keyed=True), Problem)
