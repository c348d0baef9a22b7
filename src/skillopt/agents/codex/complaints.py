"""What Codex complains of, sorted by who must act.
Owns the words and numbers it is told by; refuses to know where the complaint was written.
Codex tells the status of a reply in its message for some statuses, and words of its own for the others."""

from __future__ import annotations

import re

import msgspec

from skillopt.agents.program import Cause, Problem

_STATUS = re.compile(r"(?:unexpected|last) status:? (\d{3})\b")
_RETRY = re.compile(r"try again in (\d+(?:\.\d+)?) ?(ms|s)\b")
_LONGEST = 2000

# the first that fits counts: words are surer than a status, which several complaints share
_WORDS: tuple[tuple[Cause, tuple[str, ...]], ...] = (
    ("login", ("missing environment variable", "not logged in", "log in again", "codex login", "refresh token")),
    ("quota", ("quota exceeded", "insufficient_quota", "usage limit", "billing", "out of credits", "credit balance")),
    ("context", ("context window", "context_length_exceeded", "maximum context length")),
    ("rate_limited", ("rate limit", "rate_limit")),
    ("truncated", ("reason: max_output_tokens",)),
    ("filtered", ("reason: content_filter",)),
    ("refused", ("does not exist", "not supported when using codex", "incomplete response returned")),
    ("unavailable", ("high demand", "at capacity", "overloaded", "stream disconnected", "connection failed")),
    ("unavailable", ("waiting for network", "timed out", "timeout", "error sending request", "server_error")),
)
_STATUSES: dict[int, Cause] = {401: "auth", 402: "quota", 403: "auth", 413: "context", 429: "rate_limited"}


class _Detail(msgspec.Struct):
    message: str = ""
    code: str | int | None = None
    type: str | None = None


class _Body(msgspec.Struct):
    error: _Detail


def problem(message: str, *, keyed: bool, otherwise: Cause = "crashed") -> Problem:
    """Return what a complaint comes to. Without a key a refused login is the person's own, to be done again."""
    words = message.strip()
    body = _body(words)
    if body is not None:
        otherwise = "refused"  # a request that was refused is told by the body of the reply
        words = body.message or words
    found = _STATUS.search(words)
    status = None if found is None else int(found[1])
    told = f"{words} {'' if body is None else body.code}".lower()
    cause = next((cause for cause, signs in _WORDS if any(sign in told for sign in signs)), None)
    if status in {401, 403}:
        cause = "auth" if keyed else "login"
    again = _RETRY.search(words)
    return Problem(
        cause=cause or _by_status(status) or otherwise,
        message=words[:_LONGEST],
        status=status,
        retry_after=None if again is None else float(again[1]) / (1000 if again[2] == "ms" else 1),
    )


def _by_status(status: int | None) -> Cause | None:
    if status is None or status < 400:
        return None
    return _STATUSES.get(status) or ("unavailable" if status >= 500 or status in {408, 409, 425} else "refused")


def _body(words: str) -> _Detail | None:
    """Return the error that a reply's body tells of, where Codex passes it on as it is."""
    try:
        return msgspec.json.decode(words, type=_Body).error
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
        return None
