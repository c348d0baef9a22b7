"""A journal in memory, for simulations and for library calls without a workspace.
Owns the shelf, which outlives the journals over it as a disk outlives processes; refuses to know files."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator, Sequence

import msgspec

from skillopt.domain.chat import Reply
from skillopt.domain.errors import StoreError, unknown_name
from skillopt.domain.usage import NOTHING, Usage
from skillopt.kernel.events import Event
from skillopt.kernel.journal import (
    RUNNING,
    Intent,
    Key,
    PhaseRecord,
    Ref,
    Result,
    RunHandle,
    RunRow,
    Spent,
    Stored,
    another_plan,
    checked_name,
    closed_journal,
    diverged,
    finished_phase,
    held_run,
    missing_answer,
    no_intent,
    not_open,
    used_attempt,
)
from skillopt.kernel.ports import Clock


class _Session(msgspec.Struct, kw_only=True):
    """One opening of a run."""

    first_attempt: int
    started: float
    seen: float
    status: str = RUNNING
    reason: str = ""


class _Shelved(msgspec.Struct, kw_only=True):
    """All records of one run."""

    number: int
    name: str
    plan: bytes
    newest: int = 0
    sessions: list[_Session] = []
    intents: dict[int, Intent] = {}
    results: dict[int, Result] = {}
    phases: dict[str, PhaseRecord] = {}
    events: dict[int, Event] = {}

    @property
    def session(self) -> _Session:
        """The latest opening."""
        return self.sessions[-1]


class MemoryShelf:
    """What survives a journal: open another one over the same shelf to go on after a crash."""

    def __init__(self) -> None:
        self.shelved: dict[str, _Shelved] = {}
        self.stored: dict[Ref, Stored] = {}
        self.first: dict[Key, Ref] = {}
        self.numbers = 0
        self.owners: weakref.WeakValueDictionary[str, MemoryJournal] = weakref.WeakValueDictionary()


class MemoryJournal:
    """The journal port over a shelf; every record is on the shelf before the call returns.

    `after_append` is called with the number of records so far after each one. When it raises, the journal is dead, as
    after a kill: it lets go of its runs and refuses everything else.
    """

    def __init__(
        self, shelf: MemoryShelf | None = None, *, clock: Clock, after_append: Callable[[int], None] | None = None
    ) -> None:
        self._shelf = MemoryShelf() if shelf is None else shelf
        self._clock = clock
        self._after_append = after_append
        self._appended = 0
        self._ended: Callable[[], StoreError] | None = None

    def open_run(self, name: str, plan: bytes) -> RunHandle:
        """Open or create a run, and begin a session of it."""
        self._usable()
        shelf = self._shelf
        if checked_name(name) in shelf.owners:
            raise held_run(name, "another journal of this process")
        if name not in shelf.shelved:
            shelf.numbers += 1
            shelf.shelved[name] = _Shelved(number=shelf.numbers, name=name, plan=plan)
        shelved = shelf.shelved[name]
        if shelved.plan != plan:
            raise another_plan(name)
        shelf.owners[name] = self
        first = shelved.newest + 1
        now = self._clock.wall()
        shelved.sessions.append(_Session(first_attempt=first, started=now, seen=now))
        return RunHandle(number=shelved.number, name=name, next_attempt=first, session=len(shelved.sessions))

    def runs(self) -> tuple[RunRow, ...]:
        """Return all runs, the oldest first."""
        self._usable()
        return tuple(
            RunRow(
                number=shelved.number,
                name=shelved.name,
                status=shelved.session.status,
                reason=shelved.session.reason,
                started=shelved.sessions[0].started,
                seen=shelved.session.seen,
                sessions=len(shelved.sessions),
                held=shelved.name in self._shelf.owners,
            )
            for shelved in sorted(self._shelf.shelved.values(), key=lambda each: each.number)
        )

    def plan(self, name: str) -> bytes | None:
        """Return the plan that a run was opened with."""
        self._usable()
        shelved = self._shelf.shelved.get(name)
        return None if shelved is None else shelved.plan

    def end_session(self, run: RunHandle, status: str, reason: str) -> None:
        """Record how this session of the run ended."""
        session = self._owned(run).session
        session.status, session.reason = status, reason
        session.seen = self._clock.wall()

    def remove_run(self, name: str) -> None:
        """Forget a run, but for the answers that finished phases of other runs used."""
        self._usable()
        shelf = self._shelf
        for held in tuple(shelf.owners):
            raise held_run(held, "a journal of this process")
        if name not in shelf.shelved:
            raise unknown_name("run", name, shelf.shelved)
        number = shelf.shelved.pop(name).number
        used = {ref for other in shelf.shelved.values() for ref in _used(other)}
        shelf.stored = {ref: stored for ref, stored in shelf.stored.items() if ref.run != number or ref in used}
        shelf.first = {}
        for ref, stored in shelf.stored.items():
            shelf.first.setdefault(stored.key, ref)

    def find(self, keys: Sequence[Key]) -> dict[Key, Stored]:
        """Return the first answer for each key that has one."""
        self._usable()
        shelf = self._shelf
        return {key: shelf.stored[shelf.first[key]] for key in keys if key in shelf.first}

    def fetch(self, refs: Sequence[Ref]) -> dict[Ref, Stored]:
        """Return the answers of these attempts."""
        self._usable()
        for ref in refs:
            if ref not in self._shelf.stored:
                raise missing_answer(ref)
        return {ref: self._shelf.stored[ref] for ref in refs}

    async def intend(self, run: RunHandle, intent: Intent) -> None:
        """Record that a request is about to be sent."""
        shelved = self._owned(run)
        if intent.attempt <= shelved.newest:
            raise used_attempt(run.name, intent.attempt)
        shelved.newest = intent.attempt
        shelved.intents[intent.attempt] = intent
        self._recorded(shelved)

    def settle(self, run: RunHandle, result: Result) -> None:
        """Record what came of an attempt."""
        shelved = self._owned(run)
        attempt = result.attempt
        if attempt < run.next_attempt or attempt not in shelved.intents or attempt in shelved.results:
            raise no_intent(run.name, attempt)
        shelved.results[attempt] = result
        if isinstance(result.value, Reply):
            ref = Ref(run.number, attempt)
            self._shelf.stored[ref] = Stored(ref=ref, key=result.key, answer=result.value)
            self._shelf.first.setdefault(result.key, ref)
        self._recorded(shelved)

    def phase(self, run: RunHandle, path: str) -> PhaseRecord | None:
        """Return the record of a finished phase, or None."""
        return self._owned(run).phases.get(path)

    def close_phase(self, run: RunHandle, record: PhaseRecord) -> None:
        """Record a finished phase."""
        shelved = self._owned(run)
        if record.path in shelved.phases:
            raise finished_phase(run.name, record.path)
        shelved.phases[record.path] = record
        self._recorded(shelved)

    def append(self, run: RunHandle, number: int, event: Event) -> None:
        """Record the run's event with this number."""
        shelved = self._owned(run)
        if number not in shelved.events:
            shelved.events[number] = event
            self._recorded(shelved)
        elif shelved.events[number] != event:
            raise diverged(run.name, number)

    def events(self, run: str) -> tuple[Event, ...]:
        """Return the events of a run, in order; an unknown run has none."""
        self._usable()
        shelved = self._shelf.shelved.get(run)
        return () if shelved is None else tuple(shelved.events[number] for number in sorted(shelved.events))

    def spent(self, run: RunHandle) -> Spent:
        """Return what the run has sent before and in this session."""
        shelved = self._owned(run)
        shelved.session.seen = self._clock.wall()
        return _spent(shelved)

    async def sync(self) -> None:
        """Return at once: everything is on the shelf already."""
        self._usable()

    async def close(self) -> None:
        """Let go of the runs this journal opened."""
        self._end(closed_journal)

    def _owned(self, run: RunHandle) -> _Shelved:
        self._usable()
        if self._shelf.owners.get(run.name) is not self:
            raise not_open(run.name)
        return self._shelf.shelved[run.name]

    def _usable(self) -> None:
        if self._ended is not None:
            raise self._ended()

    def _recorded(self, shelved: _Shelved) -> None:
        shelved.session.seen = self._clock.wall()
        self._appended += 1
        try:
            if self._after_append is not None:
                self._after_append(self._appended)
        except BaseException:
            self._end(_crashed)
            raise

    def _end(self, reason: Callable[[], StoreError]) -> None:
        for name, owner in tuple(self._shelf.owners.items()):
            if owner is self:
                self._shelf.shelved[name].session.seen = self._clock.wall()
                del self._shelf.owners[name]
        self._ended = self._ended or reason


def _crashed() -> StoreError:
    return StoreError("The journal is dead: its crash was asked for.", hint="Open another over the same shelf.")


def _used(shelved: _Shelved) -> Iterator[Ref]:
    for record in shelved.phases.values():
        yield from (outcome for outcome in record.outcomes if isinstance(outcome, Ref))


def _spent(shelved: _Shelved) -> Spent:
    """Fold the records of a run; what the open session sent and has no result yet is under way, not lost."""
    running = shelved.session.status == RUNNING
    under_way = shelved.session.first_attempt if running else shelved.newest + 1
    used = {ref.attempt for ref in _used(shelved) if ref.run == shelved.number}
    answered: dict[int, Usage] = {}
    failed: dict[int, Usage] = {}
    lost: dict[int, Usage] = {}
    for attempt, intent in shelved.intents.items():
        result = shelved.results.get(attempt)
        if result is not None:
            (answered if isinstance(result.value, Reply) else failed)[attempt] = result.charged
        elif attempt < under_way:
            lost[attempt] = intent.worst
    charged = answered | failed | lost
    unused = [usage for attempt, usage in answered.items() if attempt not in used]
    return Spent(
        attempts=len(shelved.intents),
        answered=len(answered),
        failed=len(failed),
        lost=len(lost),
        charged=sum(charged.values(), NOTHING),
        failed_usage=sum(failed.values(), NOTHING),
        lost_usage=sum(lost.values(), NOTHING),
        early=sum((usage for attempt, usage in charged.items() if shelved.intents[attempt].speculative), NOTHING),
        unused=len(unused),
        unused_usage=sum(unused, NOTHING),
        seconds=sum(max(session.seen - session.started, 0.0) for session in shelved.sessions),
    )
