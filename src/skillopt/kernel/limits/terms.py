"""The terms of a run: its limits, and the ports it has been given.
Owns the limits section of the config; refuses to know what is done under these terms."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import msgspec

from skillopt.domain.usage import Caps
from skillopt.kernel.journal import Journal, RunHandle
from skillopt.kernel.payment.retry import RetrySettings
from skillopt.kernel.ports import Clock


class LimitSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Config section `limits`: caps of the whole run over all roles, and how much may go on at once. Null is no cap.

    calls: The most requests sent, retries and lost ones included.
    tokens: The most tokens, input and output together.
    usd: The most US dollars; every model then needs a known price.
    seconds: The longest the run may take, over all its sessions.
    concurrency: How many requests one provider may have at once; `auto` finds out what it takes.
    speculation: How many requests may be spent on guessing what the next step asks; they are a part of `calls`.
    confirm_usd: On a terminal, a run that will likely cost more dollars than this is asked for first; null never asks.
    """

    calls: int | None = None
    tokens: int | None = None
    usd: float | None = None
    seconds: float | None = None
    concurrency: int | Literal["auto"] = 32
    speculation: int = 0
    confirm_usd: float | None = 1.0

    def __post_init__(self) -> None:
        if self.concurrency != "auto" and self.concurrency < 1:
            raise ValueError("limits.concurrency must be at least 1, or auto")
        if self.speculation < 0 or (self.calls is not None and self.calls < self.speculation):
            raise ValueError("limits.speculation is a part of limits.calls: it must be 0 or more, and not above it")
        if any(cap is not None and cap < 0 for cap in (self.calls, self.tokens, self.usd, self.seconds)):
            raise ValueError("limits.calls, tokens, usd and seconds must be 0 or more, or null for no cap")

    @property
    def caps(self) -> Caps:
        """What real work may use; the calls set aside for speculation are no part of it."""
        calls = None if self.calls is None else self.calls - self.speculation
        return Caps(calls=calls, tokens=self.tokens, usd=self.usd, seconds=self.seconds)


class Terms(msgspec.Struct, frozen=True, kw_only=True):
    """What a run is given; `scrub` takes secrets out of a text on its way into the journal."""

    journal: Journal
    handle: RunHandle
    clock: Clock
    limits: LimitSettings = LimitSettings()
    retry: RetrySettings = RetrySettings()
    scrub: Callable[[str], str]
