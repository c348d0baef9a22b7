from __future__ import annotations

import pytest

from skillopt.agents.program import Cause
from skillopt.agents.telling.complaints import complaint


@pytest.mark.parametrize(
    ("message", "status", "details", "cause"),
    [
        ("No.", 401, "rate limit", "auth"),
        ("No.", 403, "", "auth"),
        ("No.", 429, "", "rate_limited"),
        ("No.", 429, "insufficient_quota", "quota"),
        ("No.", 400, "context_length_exceeded", "context"),
        ("No.", 400, "", "refused"),
        ("The content filter withheld it.", None, "", "filtered"),
        ("No.", 408, "", "unavailable"),
        ("No.", 503, "", "unavailable"),
        ("Not logged in.", None, "", "login"),
        ("Connection reset: socket closed", None, "", "unavailable"),
        ("Nothing that anybody knows.", None, "", "crashed"),
        ("Nothing that anybody knows.", 200, "", "crashed"),
    ],
)
def test_a_complaint_is_sorted_by_who_must_act(message: str, status: int | None, details: str, cause: Cause) -> None:
    problem = complaint(message, status=status, details=details)
    assert (problem.cause, problem.message, problem.status) == (cause, message, status)


def test_a_complaint_that_nobody_knows_is_what_its_teller_thinks() -> None:
    assert complaint("Odd.", otherwise="unavailable").cause == "unavailable"


def test_a_long_complaint_is_cut() -> None:
    assert len(complaint("x" * 100_000).message) == 2000
