from __future__ import annotations

import typing
from pathlib import Path

import msgspec
import pytest

from skillopt.agents.program import Cause, Ended, Heard, Job, Model, Problem
from skillopt.agents.settling import failure
from skillopt.domain.errors import (
    AgentError,
    AgentTimeoutError,
    AuthError,
    ContextTooLongError,
    CrashedError,
    EmptyReplyError,
    NotLoggedInError,
    ProviderError,
    QuotaExhaustedError,
    RateLimitedError,
    RefusedError,
    TruncatedError,
    UnavailableError,
)
from skillopt.domain.usage import Usage
from skillopt.kernel.process import Finished
from tests.unit.agents.programs import ScriptedAdapter

BECOMES: dict[Cause, tuple[type[AgentError | ProviderError], str]] = {
    "auth": (AuthError, "provider"),
    "rate_limited": (RateLimitedError, "provider"),
    "quota": (QuotaExhaustedError, "provider"),
    "context": (ContextTooLongError, "provider"),
    "refused": (RefusedError, "provider"),
    "filtered": (RefusedError, "provider"),
    "truncated": (TruncatedError, "provider"),
    "unavailable": (UnavailableError, "provider"),
    "empty": (EmptyReplyError, "provider"),
    "login": (NotLoggedInError, "agent"),
    "crashed": (CrashedError, "agent"),
}
SPENT = Usage(calls=1, output_tokens=3)
MODEL = Model(name="m", base_url=None, key="sk-secret")


def ended(**how: object) -> Ended:
    usual = {"exit_code": 0, "stdout": b"", "stderr": b"", "stdout_truncated": False, "stderr_truncated": False}
    finished = msgspec.convert(usual | {"timed_out": False, "seconds": 2.0} | how, Finished)
    return Ended(
        job=Job(prompt="", work="/job", home="/home", model=MODEL, agent=None), finished=finished, home=Path("/home")
    )


def what_of(heard: Heard, **how: object) -> AgentError | ProviderError | None:
    return failure(ScriptedAdapter(), ended(**how), heard)


@pytest.mark.parametrize("cause", typing.get_args(Cause))
def test_every_cause_is_the_error_of_whoever_must_act(cause: Cause) -> None:
    problem = Problem(cause=cause, message="so it said", status=418, retry_after=7.0)
    error = what_of(Heard(text="42", problem=problem, usage=SPENT), exit_code=1)
    kind, who = BECOMES[cause]
    assert type(error) is kind
    assert (error.who, error.usage, error.message) == (who, SPENT, "scripted_program: so it said.")
    if isinstance(error, ProviderError):
        assert (error.status, error.retry_after) == (418, 7.0)


def test_an_answer_of_a_program_that_ended_well_is_no_failure() -> None:
    assert what_of(Heard(text="42")) is None


def test_at_its_deadline_a_run_failed_whatever_it_said_and_whatever_went_wrong_before() -> None:
    problem = Problem(cause="auth", message="no")
    error = what_of(Heard(text="42", problem=problem, usage=SPENT), timed_out=True, exit_code=-15)
    assert isinstance(error, AgentTimeoutError)
    assert error.usage == SPENT
    assert "after 2 s" in error.message


@pytest.mark.parametrize(
    ("said", "stderr", "words"),
    [
        ("", b"", "without a word"),
        ("half", b"", "half"),
        ("half", b"no \xff disk", "no \N{REPLACEMENT CHARACTER} disk"),
    ],
)
def test_an_exit_code_alone_is_a_crash_in_the_words_of_the_program(said: str, stderr: bytes, words: str) -> None:
    error = what_of(Heard(text=said, usage=SPENT), exit_code=3, stderr=stderr)
    assert isinstance(error, CrashedError)
    assert error.message == f"scripted_program ended with exit code 3: {words}."
    assert error.usage == SPENT


def test_long_words_are_cut() -> None:
    error = what_of(Heard(problem=Problem(cause="refused", message="x" * 10_000)))
    assert error is not None
    assert len(error.message) < 1000
