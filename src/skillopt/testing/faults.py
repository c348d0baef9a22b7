"""What can go wrong with a provider, and plans that say when, the same way in every run.
Owns the kinds of fault and the error each must become; refuses to know how a fault looks on a wire."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType

import msgspec

from skillopt.domain.errors import (
    AuthError,
    ContextTooLongError,
    EmptyReplyError,
    ProviderError,
    QuotaExhaustedError,
    RateLimitedError,
    RefusedError,
    TruncatedError,
    UnavailableError,
    UsageError,
    unknown_name,
)
from skillopt.domain.seeds import dice


class FaultKind(StrEnum):
    """One way in which a provider can fail."""

    RATE_LIMIT = "rate_limit"
    INTERNAL = "internal"
    UNAVAILABLE = "unavailable"
    OVERLOADED = "overloaded"
    AUTH = "auth"
    FORBIDDEN = "forbidden"
    QUOTA = "quota"
    QUOTA_429 = "quota_429"
    UNKNOWN_MODEL = "unknown_model"
    CONTEXT = "context"
    ERROR_BODY = "error_body"
    GARBAGE = "garbage"
    EMPTY = "empty"
    LENGTH = "length"
    FILTERED = "filtered"
    CUT = "cut"
    CRASH = "crash"
    HANG = "hang"
    HANG_STREAM = "hang_stream"
    SLOW = "slow"


class FaultFacts(msgspec.Struct, frozen=True, kw_only=True):
    """What a fault is: the HTTP status it has, if any, the error a backend must raise, and a sentence."""

    status: int | None = None
    error: type[ProviderError] | None
    says: str


FAULTS: Mapping[FaultKind, FaultFacts] = MappingProxyType(
    {
        FaultKind.RATE_LIMIT: FaultFacts(status=429, error=RateLimitedError, says="Too many requests, slow down."),
        FaultKind.INTERNAL: FaultFacts(status=500, error=UnavailableError, says="The server failed on this request."),
        FaultKind.UNAVAILABLE: FaultFacts(status=503, error=UnavailableError, says="The server is not ready."),
        FaultKind.OVERLOADED: FaultFacts(status=529, error=UnavailableError, says="The server is overloaded."),
        FaultKind.AUTH: FaultFacts(status=401, error=AuthError, says="The key is not valid."),
        FaultKind.FORBIDDEN: FaultFacts(status=403, error=AuthError, says="The key does not allow this request."),
        FaultKind.QUOTA: FaultFacts(status=402, error=QuotaExhaustedError, says="The credit is used up."),
        FaultKind.QUOTA_429: FaultFacts(status=429, error=QuotaExhaustedError, says="The quota is used up."),
        FaultKind.UNKNOWN_MODEL: FaultFacts(status=404, error=RefusedError, says="The model does not exist."),
        FaultKind.CONTEXT: FaultFacts(
            status=400, error=ContextTooLongError, says="The prompt is too long: it exceeds the maximum context length."
        ),
        FaultKind.ERROR_BODY: FaultFacts(
            status=200, error=UnavailableError, says="The request was taken and then failed."
        ),
        FaultKind.GARBAGE: FaultFacts(error=UnavailableError, says="The reply cannot be read."),
        FaultKind.EMPTY: FaultFacts(error=EmptyReplyError, says="The reply has no text."),
        FaultKind.LENGTH: FaultFacts(error=TruncatedError, says="The reply stopped at the output limit."),
        FaultKind.FILTERED: FaultFacts(error=RefusedError, says="The reply was filtered."),
        FaultKind.CUT: FaultFacts(error=UnavailableError, says="The connection closed inside the reply."),
        FaultKind.CRASH: FaultFacts(error=UnavailableError, says="The connection was reset."),
        FaultKind.HANG: FaultFacts(error=UnavailableError, says="There was no reply."),
        FaultKind.HANG_STREAM: FaultFacts(error=UnavailableError, says="The reply stopped coming."),
        FaultKind.SLOW: FaultFacts(error=None, says="The reply came late."),
    }
)

TRANSIENT = (
    FaultKind.RATE_LIMIT,
    FaultKind.INTERNAL,
    FaultKind.UNAVAILABLE,
    FaultKind.OVERLOADED,
    FaultKind.ERROR_BODY,
    FaultKind.GARBAGE,
    FaultKind.EMPTY,
    FaultKind.CUT,
    FaultKind.CRASH,
)


class FaultAt(msgspec.Struct, frozen=True, gc=False):
    """The call with this number, counted from 1 in order of arrival, fails in this way."""

    call: int
    kind: FaultKind


class FaultPlan(msgspec.Struct, frozen=True, kw_only=True):
    """When to fail. A rate is keyed on the request and its attempt, so arrival order changes nothing.

    A request fails at most `max_repeats` times before it is answered; None means no such promise. `at` counts calls as
    they arrive and knows no repeats. `retry_after` goes with rate limits, `slow` is how late a slow reply is.
    """

    rate: float = 0.0
    kinds: tuple[FaultKind, ...] = TRANSIENT
    seed: int = 0
    max_repeats: int | None = None
    at: tuple[FaultAt, ...] = ()
    retry_after: float = 1.0
    slow: float = 1.0

    def __post_init__(self) -> None:
        if not 0.0 <= self.rate <= 1.0:
            raise UsageError(f"A fault rate of {self.rate} is not a share.", hint="Give a number from 0 to 1.")
        if not self.kinds:
            raise UsageError("A fault plan without kinds cannot fail.", hint=f"Valid: {', '.join(FaultKind)}.")

    @classmethod
    def random(
        cls, seed: int, rate: float, kinds: tuple[FaultKind, ...] = TRANSIENT, *, max_repeats: int = 3
    ) -> FaultPlan:
        """Return a plan in which this share of all attempts fails, in ways drawn from the kinds."""
        return cls(seed=seed, rate=rate, kinds=kinds, max_repeats=max_repeats)

    @classmethod
    def always(cls, kind: FaultKind, *, max_repeats: int | None = None) -> FaultPlan:
        """Return a plan in which every request fails in this way, each for its first `max_repeats` attempts."""
        return cls(rate=1.0, kinds=(kind,), max_repeats=max_repeats)

    @classmethod
    def at_calls(cls, faults: Mapping[int, FaultKind]) -> FaultPlan:
        """Return a plan in which exactly these calls fail, counted from 1."""
        return cls(at=tuple(FaultAt(call, kind) for call, kind in sorted(faults.items())))

    def fault(self, *, digest: str, attempt: int, call: int) -> FaultKind | None:
        """Return how this attempt at this request fails, or None; attempts and calls count from 1."""
        for fault in self.at:
            if fault.call == call:
                return fault.kind
        if not self.rate or (self.max_repeats is not None and attempt > self.max_repeats):
            return None
        draw = dice("fault", self.seed, digest, attempt)
        return draw.choice(self.kinds) if draw.random() < self.rate else None


def fault_kind(name: str) -> FaultKind:
    """Return the kind with this name; an unknown one is an error that lists them."""
    try:
        return FaultKind(name)
    except ValueError:
        raise unknown_name("fault kind", name, (kind.value for kind in FaultKind)) from None


def provider_error(kind: FaultKind, *, model: str, retry_after: float | None = None) -> ProviderError:
    """Return the error that a backend must raise when it meets this fault."""
    facts = FAULTS[kind]
    if facts.error is None:
        raise UsageError(f"The fault {kind.value!r} is no error: the reply is whole.", hint="Do not raise it.")
    return facts.error(
        f"The scripted model {model!r} failed on purpose ({kind.value}): {facts.says}",
        hint="The fault plan asked for this.",
        status=facts.status,
        retry_after=retry_after if facts.error is RateLimitedError else None,
    )
