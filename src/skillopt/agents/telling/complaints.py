"""What a program says went wrong, sorted by who must act.
Owns the words and statuses that vendors use; refuses to know where a program wrote them."""

from __future__ import annotations

from skillopt.agents.program import Cause, Problem

_LONGEST = 2000

# the first that fits counts: words are surer than a status that several complaints share
_WORDS: tuple[tuple[Cause, tuple[str, ...]], ...] = (
    ("quota", ("insufficient_quota", "quota exceeded", "out of credit", "credit balance", "billing", "usage limit")),
    ("context", ("context_length", "contextoverflow", "context limit", "maximum context", "prompt as too long")),
    ("login", ("not logged in", "authentication required", "no authentication information", "please log in")),
    ("rate_limited", ("rate_limit", "rate limit", "too many requests")),
    ("truncated", ("outputlength",)),
    ("filtered", ("content filter", "contentfilter")),
    ("refused", ("model not found", "providermodelnotfound", "cannot use this model")),
    ("unavailable", ("timed out", "timeout", "connect", "socket", "overloaded", "server_error", "econnrefused")),
)
_STATUSES: dict[int, Cause] = {401: "auth", 402: "quota", 403: "auth", 413: "context", 429: "rate_limited"}
_PASSING = frozenset({408, 409, 425})


def complaint(
    message: str,
    *,
    status: int | None = None,
    details: str = "",
    retry_after: float | None = None,
    otherwise: Cause = "crashed",
) -> Problem:
    """Return what a complaint comes to; `details` are codes and bodies that count but are not shown."""
    told = f"{message} {details}".lower()
    cause = _by_status(status) if status in {401, 403} else _by_words(told) or _by_status(status)
    return Problem(cause=cause or otherwise, message=message.strip()[:_LONGEST], status=status, retry_after=retry_after)


def _by_words(told: str) -> Cause | None:
    return next((cause for cause, signs in _WORDS if any(sign in told for sign in signs)), None)


def _by_status(status: int | None) -> Cause | None:
    if status is None or status < 400:
        return None
    return _STATUSES.get(status) or ("unavailable" if status >= 500 or status in _PASSING else "refused")
