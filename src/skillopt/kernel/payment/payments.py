"""Pays for one unit: reserve, wait for a slot, commit the intent, ask, record what came of it, perhaps try again.
Owns the order of these; refuses to know phases, scores and who shares an answer."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import msgspec

from skillopt.domain.chat import Reply
from skillopt.domain.errors import (
    AgentError,
    AgentTimeoutError,
    AuthError,
    NotLoggedInError,
    ProviderError,
    QuotaExhaustedError,
    RateLimitedError,
    SkilloptError,
    UnansweredError,
)
from skillopt.domain.rollouts import Failure
from skillopt.domain.usage import NOTHING, Usage
from skillopt.kernel.boundary import Attributed
from skillopt.kernel.events import AttemptFailed, Signal, SlotsChanged
from skillopt.kernel.journal import Intent, Key, Ref, Result
from skillopt.kernel.limits.ledger import Ledger, Ticket
from skillopt.kernel.limits.slots import Slots, Turn
from skillopt.kernel.limits.terms import Terms
from skillopt.kernel.payment.pool import Halt
from skillopt.kernel.payment.retry import wait_before_retry
from skillopt.kernel.work import Work

_ENDS_THE_RUN = (AuthError, NotLoggedInError, QuotaExhaustedError)
_HTTP_ERROR = 400


class _Effort(msgspec.Struct):
    """What a unit has taken so far; waiting for a slot is not counted, since no provider is to blame for it."""

    attempts: int = 0
    seconds: float = 0.0


class Payments:
    """All attempts of a run go through here, so that every one is reserved before it is sent and recorded after."""

    def __init__(self, terms: Terms, *, ledger: Ledger, halt: Halt, signal: Callable[[Signal], None]) -> None:
        concurrency = terms.limits.concurrency
        self._journal = terms.journal
        self._handle = terms.handle
        self._clock = terms.clock
        self._retry = terms.retry
        self._scrub = terms.scrub
        self._concurrency = None if concurrency == "auto" else concurrency
        self._ledger = ledger
        self._halt = halt
        self._signal = signal
        self._slots: dict[str, Slots] = {}
        self._hurried: set[Key] = set()
        self._next_attempt = terms.handle.next_attempt

    def slots(self, account: str) -> Slots:
        """Return the slots of an account."""
        if account not in self._slots:
            self._slots[account] = Slots(
                concurrency=self._concurrency,
                clock=self._clock,
                changed=lambda slots, reason: self._signal(SlotsChanged(account, slots, reason)),
                rest=self._halt.rest,
            )
        return self._slots[account]

    def hurry(self, work: Work) -> None:
        """Let this work, which may be under way early, have its slots like real work from now on."""
        self._hurried.add(work.key)
        self.slots(work.account).hurry(work.key)

    async def pay(self, path: str, ticket: Ticket, work: Work, turn: Turn = "now") -> Ref | Failure:
        """Ask until there is an answer or the retry policy gives up; some errors end the run at once."""
        effort = _Effort()
        with self._ledger.turn(ticket):
            async with self._ledger.within_time():
                while True:
                    worst = work.worst()
                    await self._ledger.reserve(ticket, worst)
                    try:
                        return await self._attempt(work, worst, effort, turn=turn)
                    except (ProviderError, AgentError) as error:
                        wait = wait_before_retry(
                            self._retry, error=error, attempt=effort.attempts, elapsed=effort.seconds, key=work.key
                        )
                        self._signal(AttemptFailed(path, type(error).__name__, str(error), wait))
                        if isinstance(error, _ENDS_THE_RUN):
                            raise
                        if wait is None:
                            return _failure(error, work)
                    await self._halt.rest(self._clock, wait)
                    effort.seconds += wait

    async def try_early(self, work: Work) -> Ref | Failure:
        """Ask once, from what was set aside for speculation; never retries."""
        try:
            return await self._attempt(work, work.worst(), _Effort(), turn="soon")
        except (ProviderError, AgentError) as error:
            return _failure(error, work)

    async def _attempt(self, work: Work, worst: Usage, effort: _Effort, *, turn: Turn) -> Ref:
        """Ask once; the worst case that all but a guess, whose turn is soon, holds is settled whatever happens."""
        slots = self.slots(work.account)
        speculative = turn == "soon"
        charged = NOTHING
        attempt = 0
        try:
            await slots.acquire(work.key, "now" if work.key in self._hurried else turn)
            give_back = slots.release
            began = self._clock.now()
            try:
                self._halt.check()
                effort.attempts += 1
                attempt = self._next_attempt
                self._next_attempt += 1
                charged = worst
                await self._journal.intend(
                    self._handle,
                    Intent(attempt=attempt, key=work.key, role=work.role, worst=worst, speculative=speculative),
                )
                with Attributed(ProviderError, f"The backend {work.account}"):
                    reply = await work.perform()
                give_back = slots.release_after_answer
            except ProviderError as error:
                give_back = partial(
                    slots.release_after_failure,
                    rate_limited=isinstance(error, RateLimitedError),
                    overloaded=error.retryable,
                    retry_after=error.retry_after,
                )
                raise
            finally:
                effort.seconds += self._clock.now() - began
                give_back()
            charged = reply.usage
            return self._record(work, attempt, charged, reply.scrubbed(self._scrub))
        except (ProviderError, AgentError) as error:
            error.scrub(self._scrub)
            charged = _charge(error, worst)
            self._record(work, attempt, charged, _failure(error, work))
            raise
        finally:
            if not speculative:
                self._ledger.settle(worst, charged)

    def _record(self, work: Work, attempt: int, charged: Usage, value: Reply | Failure) -> Ref:
        self._journal.settle(self._handle, Result(attempt=attempt, key=work.key, charged=charged, value=value))
        return Ref(self._handle.number, attempt)


def _failure(error: SkilloptError, work: Work) -> Failure:
    provider = isinstance(error, ProviderError) and (error.retryable or isinstance(error, UnansweredError))
    # an agent might come to an end with more time; a program that grades had all that one answer is worth
    passing = provider or (isinstance(error, AgentTimeoutError) and bool(work.role))
    return Failure(kind=type(error).__name__, who=error.who, message=str(error), passing=passing)


def _charge(error: ProviderError | AgentError, worst: Usage) -> Usage:
    """What a failed attempt costs: what it says itself; an error status is not billed; all else may be, in full.

    What can cost nothing, such as a program on this machine, has cost nothing.
    """
    if isinstance(error, UnansweredError):
        return NOTHING
    if error.usage is not None:
        return msgspec.structs.replace(error.usage, calls=max(1, error.usage.calls))
    if isinstance(error, ProviderError) and error.status is not None and error.status >= _HTTP_ERROR:
        return Usage(calls=1)
    return worst if worst == NOTHING else msgspec.structs.replace(worst, calls=1)
