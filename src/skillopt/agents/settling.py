"""What a run of an agent's program comes to: an answer, or the error of whoever must act.
Owns that judgement, the same for every program; refuses to know how any of them tells it."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from skillopt.agents.program import Adapter, Cause, Ended, Heard, Problem
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
from skillopt.domain.texts import clipped
from skillopt.domain.usage import Usage

_LONGEST_WORDS = 600
_ENDS = (".", "!", "?", "…")
_THE_PROGRAM: Mapping[Cause, tuple[type[AgentError], str]] = MappingProxyType(
    {
        "login": (NotLoggedInError, "Give api_key: a run has a home of its own, without your login."),
        "crashed": (CrashedError, "Run it by hand with the same model to see more."),
    }
)
_ITS_PROVIDER: Mapping[Cause, tuple[type[ProviderError], str | None]] = MappingProxyType(
    {
        "auth": (AuthError, "Look at api_key and base_url of this model."),
        "rate_limited": (RateLimitedError, None),
        "quota": (QuotaExhaustedError, "Go on when there is credit again."),
        "context": (ContextTooLongError, "Shorten the task or its files."),
        "refused": (RefusedError, "Look at the model's name and settings."),
        "filtered": (RefusedError, "Reword the task or the skill, or leave the task out."),
        "truncated": (TruncatedError, "Ask for less in one answer, or of a model that may write more."),
        "unavailable": (UnavailableError, None),
        "empty": (EmptyReplyError, None),
    }
)


def failure(adapter: Adapter, ended: Ended, heard: Heard) -> AgentError | ProviderError | None:
    """Return why this run gave no answer, or None when it gave one.

    A deadline and an exit code that is not 0 are failures whatever was said before; what a program tells of its
    provider says who must act.
    """
    finished = ended.finished
    if finished.timed_out:
        return AgentTimeoutError(
            f"{adapter.name} was still at work after {finished.seconds:.0f} s and was ended.",
            hint="Raise the timeout, or look whether its model answers: skillopt doctor CONFIG --call.",
            usage=heard.usage,
        )
    if heard.problem is not None:
        return _error(adapter, heard.problem, heard.usage)
    if finished.exit_code != 0:
        words = clipped(finished.stderr.decode(errors="replace") or heard.text, _LONGEST_WORDS)
        return CrashedError(
            f"{adapter.name} ended with exit code {finished.exit_code}: {words or 'without a word'}.",
            hint="Run it by hand with the same model to see more.",
            usage=heard.usage,
        )
    return None


def _error(adapter: Adapter, problem: Problem, usage: Usage | None) -> AgentError | ProviderError:
    said = f"{adapter.name}: {clipped(problem.message, _LONGEST_WORDS)}"
    said += "" if said.endswith(_ENDS) else "."  # a hint comes after it
    if problem.cause in _THE_PROGRAM:
        program, hint = _THE_PROGRAM[problem.cause]
        return program(said, hint=hint, usage=usage)
    provider, advice = _ITS_PROVIDER[problem.cause]
    return provider(said, hint=advice, status=problem.status, retry_after=problem.retry_after, usage=usage)
