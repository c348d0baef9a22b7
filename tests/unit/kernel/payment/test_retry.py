from __future__ import annotations

import pytest

from skillopt.domain.errors import (
    AgentTimeoutError,
    AuthError,
    ContextTooLongError,
    EmptyReplyError,
    QuotaExhaustedError,
    RateLimitedError,
    RefusedError,
    SkilloptError,
    TruncatedError,
    UnavailableError,
)
from skillopt.kernel.payment.retry import RetrySettings, wait_before_retry

SETTINGS = RetrySettings(attempts=5, seconds=100.0, first_wait=1.0, longest_wait=8.0)


def wait(
    error: SkilloptError, *, attempt: int = 1, elapsed: float = 0.0, settings: RetrySettings = SETTINGS
) -> float | None:
    return wait_before_retry(settings, error=error, attempt=attempt, elapsed=elapsed, key=b"key")


@pytest.mark.parametrize(
    ("error", "again"),
    [
        (UnavailableError("x"), True),
        (EmptyReplyError("x"), True),
        (RateLimitedError("x"), True),
        (AuthError("x"), False),
        (QuotaExhaustedError("x"), False),
        (ContextTooLongError("x"), False),
        (RefusedError("x"), False),
        (TruncatedError("x"), False),
        (AgentTimeoutError("x"), False),
        (SkilloptError("x"), False),
    ],
)
def test_only_what_may_pass_is_tried_again(error: SkilloptError, again: bool) -> None:
    assert (wait(error) is not None) is again


@pytest.mark.parametrize(("attempt", "full"), [(1, 1.0), (2, 2.0), (3, 4.0), (4, 8.0)])
def test_waits_double_up_to_the_longest_and_spread_over_their_upper_half(attempt: int, full: float) -> None:
    seconds = wait(UnavailableError("x"), attempt=attempt)
    assert seconds is not None
    assert full / 2 <= seconds <= full


def test_the_last_attempt_is_the_last() -> None:
    assert wait(UnavailableError("x"), attempt=4) is not None
    assert wait(UnavailableError("x"), attempt=5) is None


def test_very_many_attempts_are_no_overflow() -> None:
    patient = RetrySettings(attempts=5000, seconds=1e9)
    assert wait(UnavailableError("x"), attempt=4000, settings=patient) is not None


def test_the_providers_word_is_the_least_that_is_waited() -> None:
    assert wait(RateLimitedError("x", retry_after=42.0)) == 42.0
    shorter = wait(RateLimitedError("x", retry_after=0.1))
    assert shorter is not None
    assert shorter >= 0.5


def test_a_wait_that_would_end_too_late_is_not_begun() -> None:
    assert wait(RateLimitedError("x", retry_after=100.0)) == 100.0
    assert wait(RateLimitedError("x", retry_after=100.1)) is None
    assert wait(RateLimitedError("x", retry_after=50.0), elapsed=60.0) is None


def test_the_same_work_waits_the_same_and_others_differently() -> None:
    def waits(key: bytes) -> list[float | None]:
        error = UnavailableError("x")
        return [wait_before_retry(SETTINGS, error=error, attempt=n, elapsed=0.0, key=key) for n in (1, 2, 3)]

    assert waits(b"one") == waits(b"one")
    assert waits(b"one") != waits(b"other")
