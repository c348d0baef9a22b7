"""What a provider says when it does not answer, turned into the error that names who must act.
Owns the reading of statuses, error bodies and Retry-After; refuses to know requests and transports."""

from __future__ import annotations

import enum
import math
from email.utils import parsedate_to_datetime

import msgspec

from skillopt.backends.connection import Response
from skillopt.domain.errors import (
    AuthError,
    ContextTooLongError,
    ProviderError,
    QuotaExhaustedError,
    RateLimitedError,
    RefusedError,
    UnavailableError,
)

WORDS_LIMIT = 300
_BODY_LIMIT = 64 * 1024
_SHORTEST_SECRET = 4


class Complaint(msgspec.Struct, frozen=True, kw_only=True):
    """The provider's own words, unbounded and unclean; `code` and `type` are "" where it gave none."""

    message: str = ""
    code: str = ""
    type: str = ""

    @property
    def names(self) -> str:
        """Code and type together, for matching."""
        return f"{self.code} {self.type}".lower()


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """Who was asked, for messages; `secrets` are what no message may repeat."""

    model: str
    address: str
    secrets: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"Asked(model={self.model!r}, address={self.address!r})"


class _Detail(msgspec.Struct):
    message: str | None = None
    code: str | int | None = None
    type: str | None = None


class _Base(msgspec.Struct):
    status_code: int = 0
    status_msg: str | None = None


class _Envelope(msgspec.Struct):
    error: _Detail | str | None = None
    message: str | None = None
    detail: str | None = None
    code: str | int | None = None
    type: str | None = None
    base_resp: _Base | None = None


class _Kind(enum.Enum):
    AUTH = enum.auto()
    QUOTA = enum.auto()
    RATE = enum.auto()
    CONTEXT = enum.auto()
    FILTER = enum.auto()
    REDIRECT = enum.auto()
    REFUSED = enum.auto()
    UNAVAILABLE = enum.auto()


_ENVELOPES = msgspec.json.Decoder(_Envelope | list[_Envelope] | str)

# MiniMax says 200, and what went wrong by a number of its own.
_BASE_CODES = {
    1002: "rate_limit",
    1004: "authentication",
    1008: "insufficient_balance",
    1026: "content_filter",
    1027: "content_filter",
    1039: "rate_limit",
    2013: "invalid_request",
    2049: "invalid_api_key",
}
_QUOTA_NAMES = ("insufficient_quota", "billing", "insufficient_balance", "credit")
_QUOTA_WORDS = ("insufficient balance", "insufficient credits", "credit balance is too low")
_CONTEXT_NAMES = ("context_length", "context_size", "context_window", "string_above_max_length")
_CONTEXT_WORDS = (
    "context length",
    "context window",
    "context size",
    "prompt is too long",
    "input is too long",
    "too many tokens",
)
_FILTER_NAMES = ("content_filter", "content_policy", "moderation")
# What the names mean when there is no status to go by, in the order they are tried.
_NAMED = (
    (("rate_limit", "too_many_requests"), _Kind.RATE),
    (("authentication", "invalid_api_key", "permission", "unauthorized"), _Kind.AUTH),
    (("invalid_request", "not_found", "badrequest", "bad_request"), _Kind.REFUSED),
)
_STATUSES = {
    401: _Kind.AUTH,
    402: _Kind.QUOTA,
    403: _Kind.AUTH,
    408: _Kind.UNAVAILABLE,
    409: _Kind.UNAVAILABLE,
    413: _Kind.CONTEXT,
    425: _Kind.UNAVAILABLE,
    429: _Kind.RATE,
}
_ERRORS: dict[_Kind, tuple[type[ProviderError], str, str]] = {
    _Kind.AUTH: (AuthError, "refused the key", "Check this model's api_key and that it belongs to this base_url."),
    _Kind.QUOTA: (
        QuotaExhaustedError,
        "has no credit or quota left",
        "Add credit or wait until the quota is renewed, then run the same command again.",
    ),
    _Kind.RATE: (RateLimitedError, "had too many requests", "Lower limits.concurrency if waiting does not help."),
    _Kind.CONTEXT: (
        ContextTooLongError,
        "cannot take a request this long",
        "Shorten the skill or the task, lower max_tokens, or choose a model with a larger context window.",
    ),
    _Kind.FILTER: (RefusedError, "filtered this request", "Reword the task or the skill, or leave the task out."),
    _Kind.REDIRECT: (
        RefusedError,
        "answered with a redirect, which is not followed",
        "Set base_url to the final address.",
    ),
    _Kind.REFUSED: (RefusedError, "refused the request", "Check model, base_url and the sampling settings."),
    _Kind.UNAVAILABLE: (UnavailableError, "is not available", "Try again later; check the provider's status."),
}


def read_complaint(body: bytes) -> Complaint | None:
    """Return what an error body says; None when it is JSON that complains of nothing."""
    text = body[:_BODY_LIMIT].decode("utf-8", "replace")
    try:
        found = _ENVELOPES.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return Complaint(message=text)
    if isinstance(found, list):
        found = found[0] if found else _Envelope()
    if isinstance(found, str):
        return Complaint(message=found)
    error = found.error if found.error is not None else (found.message or found.detail)
    if error is None:
        return _base_complaint(found.base_resp)
    if isinstance(error, str):
        return Complaint(message=error, code=_text(found.code), type=_text(found.type))
    return Complaint(message=_text(error.message) or text, code=_text(error.code), type=_text(error.type))


def _base_complaint(base: _Base | None) -> Complaint | None:
    if base is None or not base.status_code:
        return None
    return Complaint(message=base.status_msg or "", code=_BASE_CODES.get(base.status_code, ""))


def provider_error(asked: Asked, response: Response, complaint: Complaint) -> ProviderError:
    """Return the typed error for a reply that is no answer, whether its status or only its body says so."""
    status = response.status
    if status < 300 and complaint.code.isdecimal() and 300 <= int(complaint.code) < 600:
        status = int(complaint.code)  # some gateways put the real status into the body of a 200
    kind = _kind(status, complaint)
    error, happened, hint = _ERRORS[kind]
    words = plain(complaint.message, asked.secrets)
    said = f": “{words}”" if words else ""
    return error(
        f"{asked.model} at {asked.address} {happened} (HTTP {response.status}){said}.",
        hint=hint,
        status=response.status,  # of the transport: it tells whether the provider may have billed
        retry_after=retry_after(response),
    )


def plain(text: str, secrets: tuple[str, ...] = ()) -> str:
    """Return somebody else's words fit for a message: printable, on one line, without secrets, of bounded length."""
    printable = "".join(character if character.isprintable() else " " for character in text)
    line = " ".join(printable.split())
    for secret in secrets:
        if len(secret) >= _SHORTEST_SECRET:
            line = line.replace(secret, "[secret]")
    return line if len(line) <= WORDS_LIMIT else line[: WORDS_LIMIT - 1] + "…"


def retry_after(response: Response) -> float | None:
    """Return the seconds the provider asks to wait; a date is measured against the reply's own Date, not our clock."""
    milliseconds = _seconds(response.header("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    asked = response.header("retry-after")
    seconds = _seconds(asked)
    if seconds is not None or asked is None:
        return seconds
    try:
        wait = parsedate_to_datetime(asked) - parsedate_to_datetime(response.header("date") or "")
    except (ValueError, TypeError):
        return None
    return max(0.0, wait.total_seconds())


def _seconds(text: str | None) -> float | None:
    try:
        value = float(text) if text is not None else math.nan
    except ValueError:
        return None
    return max(0.0, value) if math.isfinite(value) else None


def _kind(status: int, complaint: Complaint) -> _Kind:
    names, words = complaint.names, complaint.message.lower()
    if status in (200, 400, 403, 429) and (_any(_QUOTA_NAMES, names) or _any(_QUOTA_WORDS, words)):
        return _Kind.QUOTA
    if status in (200, 400, 422, 500) and (_any(_CONTEXT_NAMES, names) or _any(_CONTEXT_WORDS, words)):
        return _Kind.CONTEXT
    if status in (200, 400, 422) and _any(_FILTER_NAMES, names):
        return _Kind.FILTER
    if status < 300:
        return next((kind for marks, kind in _NAMED if _any(marks, names)), _Kind.UNAVAILABLE)
    if status < 400:
        return _Kind.REDIRECT
    return _STATUSES.get(status, _Kind.REFUSED if status < 500 else _Kind.UNAVAILABLE)


def _any(marks: tuple[str, ...], text: str) -> bool:
    return any(mark in text for mark in marks)


def _text(value: str | int | None) -> str:
    return "" if value is None else str(value)
