"""One run: `do` answers finished work from the journal and pays for the rest; `emit` tells the one stream.
Owns tickets, outcomes and usage of a run; refuses to know what the phases mean."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from contextlib import contextmanager

from skillopt.domain.chat import Reply
from skillopt.domain.errors import InternalError
from skillopt.domain.rollouts import Failure
from skillopt.domain.usage import NOTHING, Usage
from skillopt.kernel.events import Event, PhaseBegan, PhaseEnded, Signal, UnitSettled
from skillopt.kernel.journal import Key, PhaseRecord, Ref, Stored
from skillopt.kernel.limits.ledger import Ledger
from skillopt.kernel.limits.terms import Terms
from skillopt.kernel.observers import Observers
from skillopt.kernel.payment.early import Early
from skillopt.kernel.payment.flights import Flights
from skillopt.kernel.payment.outage import refuse_outage
from skillopt.kernel.payment.payments import Payments
from skillopt.kernel.payment.pool import Halt, work_through
from skillopt.kernel.payment.reading import Reading, See
from skillopt.kernel.work import Outcome, Work

_CHUNK = 200  # the first must not keep the others waiting long for what makes up its keys


class Run:
    """What a loop is given: the only way to have paid work done and the only way to be heard."""

    def __init__(self, terms: Terms, observers: Observers) -> None:
        spent = terms.journal.spent(terms.handle)
        limits = terms.limits
        self._journal = terms.journal
        self._handle = terms.handle
        self._limits = limits
        self._observers = observers
        self._scrub = terms.scrub
        self._halt = Halt()
        self._flights = Flights()
        ledger = Ledger(
            caps=limits.caps, spent=spent.charged - spent.early, spent_seconds=spent.seconds, clock=terms.clock
        )
        self._payments = Payments(terms, ledger=ledger, halt=self._halt, signal=self.signal)
        self._early = Early(
            terms, flights=self._flights, payments=self._payments, halt=self._halt, guessed=spent.early.calls
        )
        self._span = ""
        self._paths: set[str] = set()
        self._events = 0
        self._counted: set[Key] = set()

    @property
    def name(self) -> str:
        """The run's name."""
        return self._handle.name

    @property
    def stopping(self) -> bool:
        """Say whether the run was asked to stop."""
        return self._halt.reason is not None

    @property
    def scrub(self) -> Callable[[str], str]:
        """What takes secrets out of a text on its way into the journal."""
        return self._scrub

    def stop(self, reason: Exception) -> None:
        """Stop asking for new work; the loop ends with this error once what is under way has finished."""
        self._halt.stop(reason)

    def emit(self, event: Event) -> None:
        """Record a fact and show it; on a second running the same fact is recorded once."""
        self._journal.append(self._handle, self._events, event)
        self._events += 1
        self._observers.see(event)

    def signal(self, fact: Signal) -> None:
        """Show something that only matters while it happens."""
        self._observers.see(fact)

    @contextmanager
    def span(self, name: str) -> Iterator[None]:
        """Name the part of the run in which the phases inside belong."""
        outer, self._span = self._span, f"{self._span}{name}/"
        try:
            yield
        finally:
            self._span = outer

    async def do(self, phase: str, verb: str, works: Sequence[Work], see: See | None = None) -> tuple[Outcome, ...]:
        """Return the outcome of each work, in order: from the journal where it has it, else by asking and paying.

        `see` is shown some outcomes with their places, in order, while others are under way; it may think ahead.
        """
        path = self._span + phase
        if path in self._paths:
            raise InternalError(f"Phase {path!r} was asked for twice in one run.")
        self._paths.add(path)
        self.emit(PhaseBegan(path=path, verb=verb, units=len(works)))
        reading = Reading(self._journal, self._flights, run=self.name, path=path, see=see)
        record = self._journal.phase(self._handle, path)
        try:
            if record is None:
                await self._early.raise_the_curtain()
                record, keys = await self._finish(path, works, reading)
            else:
                keys = [work.key for work in works]
            self._early.forget()
            outcomes = await reading.rest(record.outcomes, keys)
        finally:
            await reading.stop()
        role = works[0].role if works else ""
        self.emit(self._ended(record, keys, outcomes, verb=verb, role=role))
        return outcomes

    def hint(self, works: Sequence[Work]) -> None:
        """Say what may be asked soon: at most `limits.speculation` of it is asked early, when slots are free."""
        self._early.guess(works)

    def ahead(self, works: Sequence[Work]) -> None:
        """Say what will be asked whatever happens: it is begun when slots are free, at no extra cost."""
        self._early.begin(works)

    def rehearse(self, scene: Callable[[Run], Coroutine[object, object, object]]) -> None:
        """Say what follows the next phase whatever its answers are: it is gone through beside it, unheard.

        What the scene asks is asked as it will be in its turn, and at no extra cost; it may depend on its own answers
        only. Then the run itself finds the answers there.
        """
        self._early.rehearse(lambda: scene(Rehearsal(self)))

    async def close(self) -> None:
        """End what was asked early and nobody waited for, and make everything recorded durable."""
        await self._early.close()
        await self._journal.sync()

    async def _finish(self, path: str, works: Sequence[Work], reading: Reading) -> tuple[PhaseRecord, list[Key]]:
        """Get an outcome for every work of a phase.

        The keys are returned too: a work may be made each time it is looked at, and its key is what takes time.
        """
        keys: list[Key] = []
        outcomes: list[Ref | Failure | None] = [None] * len(works)
        phase = len(self._paths)

        async def settle(unit: tuple[int, Work]) -> None:
            index, work = unit
            outcomes[index] = await self._settle(path, (phase, index), work)
            reading.landed(outcomes, keys)

        width = min(len(works), self._payments.slots(works[0].account).ceiling) if works else 0
        try:
            await work_through(self._unanswered(path, works, keys, outcomes), settle, width=width, halt=self._halt)
        except Exception:
            await self._early.land()
            raise
        complete = tuple(outcome for outcome in outcomes if outcome is not None)
        if len(complete) != len(works):
            raise InternalError(f"Phase {path!r} ended with {len(complete)} outcomes for {len(works)} units.")
        refuse_outage(path, complete)
        record = PhaseRecord(path=path, outcomes=complete)
        self._journal.close_phase(self._handle, record)
        return record, keys

    def _unanswered(
        self, path: str, works: Sequence[Work], keys: list[Key], outcomes: list[Ref | Failure | None]
    ) -> Iterator[tuple[int, Work]]:
        """Yield, in order, the works the journal has no answer for; the others get their outcome on the way."""
        for start in range(0, len(works), _CHUNK):
            chunk = works[start : start + _CHUNK]
            keys += [work.key for work in chunk]
            found = self._journal.find(keys[start:])
            for index, work in enumerate(chunk, start):
                answer = self._flights.answer(work.key)
                if answer is None and work.key in found:
                    answer = found[work.key].ref
                if answer is None:
                    yield index, work
                else:
                    outcomes[index] = answer
                    self.signal(UnitSettled(path, answered=True, replayed=True))

    async def _settle(self, path: str, ticket: tuple[int, int], work: Work) -> Ref | Failure:
        if self._flights.flying(work.key):
            self._payments.hurry(work)
            self._early.wake()
        shared = await self._flights.shared(work.key)
        if shared is not None:
            self.signal(UnitSettled(path, answered=True, replayed=True))
            return shared
        outcome: Ref | Failure | None = self._early.failure(work.key)
        if outcome is None:
            self._early.wake()
            outcome = await self._flights.fly(work.key, lambda: self._payments.pay(path, ticket, work))
        cause = outcome.kind if isinstance(outcome, Failure) else ""
        self.signal(UnitSettled(path, answered=not cause, replayed=False, cause=cause))
        return outcome

    def _ended(
        self, record: PhaseRecord, keys: Sequence[Key], outcomes: tuple[Outcome, ...], *, verb: str, role: str
    ) -> PhaseEnded:
        """Count the phase: each answer is paid for by its first use in program order."""
        used: list[Usage] = []
        for key, outcome in zip(keys, outcomes, strict=True):
            if isinstance(outcome, Reply) and key not in self._counted:
                self._counted.add(key)
                used.append(outcome.usage)
        causes = Counter(outcome.kind for outcome in outcomes if isinstance(outcome, Failure))
        return PhaseEnded(
            path=record.path,
            verb=verb,
            role=role,
            answered=len(outcomes) - causes.total(),
            failed=causes.total(),
            causes=dict(sorted(causes.items())),
            usage=sum(used, NOTHING),
        )


class Rehearsal(Run):
    """A run that nobody hears: it asks for what the run itself is certain to ask, and leaves nothing but answers."""

    def __init__(self, run: Run) -> None:
        self._journal = run._journal
        self._handle = run._handle
        self._scrub = run._scrub
        self._halt = run._halt
        self._flights = run._flights
        self._payments = run._payments
        self._early = run._early
        self._span = run._span

    def emit(self, event: Event) -> None:
        """Keep a fact to itself."""

    def signal(self, fact: Signal) -> None:
        """Keep a moment to itself."""

    def hint(self, works: Sequence[Work]) -> None:
        """Guess nothing."""

    def ahead(self, works: Sequence[Work]) -> None:
        """Begin nothing but what is asked."""

    def rehearse(self, scene: Callable[[Run], Coroutine[object, object, object]]) -> None:
        """Go no further."""

    async def do(self, phase: str, verb: str, works: Sequence[Work], see: See | None = None) -> tuple[Outcome, ...]:
        """Return the outcome of each work, in order, with slots like real work."""
        keys = [work.key for work in works]
        settled: list[Ref | Failure] = []
        for start in range(0, len(works), _CHUNK):
            chunk = works[start : start + _CHUNK]
            found = self._journal.find(keys[start : start + _CHUNK])
            asked = await asyncio.gather(*(self._once(work, found) for work in chunk), return_exceptions=True)
            for outcome in asked:
                if isinstance(outcome, BaseException):
                    raise outcome
                settled.append(outcome)
        record = PhaseRecord(path=f"{self._span}{phase} ({verb})", outcomes=tuple(settled))
        refuse_outage(record.path, record.outcomes)
        reading = Reading(self._journal, self._flights, run=self.name, path=record.path, see=see)
        return await reading.rest(record.outcomes, keys)

    async def _once(self, work: Work, found: Mapping[Key, Stored]) -> Ref | Failure:
        answer = self._flights.answer(work.key)
        if answer is None and work.key in found:
            answer = found[work.key].ref
        if answer is None and self._flights.flying(work.key):
            self._payments.hurry(work)
            answer = await self._flights.shared(work.key)
        return await self._early.ask(work, "now") if answer is None else answer
