"""Journals that each break one promise of the port, to show that the contract suite notices.
Owns the mistakes; each is one that a journal is easily written with. Knows no test."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from types import MappingProxyType

import msgspec

from skillopt.domain.chat import Reply
from skillopt.domain.errors import StoreError, UsageError
from skillopt.domain.usage import NOTHING
from skillopt.kernel.clock import SystemClock
from skillopt.kernel.events import Event
from skillopt.kernel.journal import RUNNING, Intent, Key, PhaseRecord, Ref, Result, RunHandle, Spent, Stored
from skillopt.kernel.memory import MemoryJournal, MemoryShelf


class _Flawed(MemoryJournal):
    """A sound journal; each of the others changes one thing."""

    def __init__(self, shelf: MemoryShelf) -> None:
        super().__init__(shelf, clock=SystemClock())
        self.shelf = shelf


class FindsTheLatest(_Flawed):
    """Lets a later answer take the place of the first."""

    def __init__(self, shelf: MemoryShelf) -> None:
        super().__init__(shelf)
        self._latest: dict[Key, Ref] = {}

    def settle(self, run: RunHandle, result: Result) -> None:
        """Record what came of an attempt."""
        super().settle(run, result)
        if isinstance(result.value, Reply):
            self._latest[result.key] = Ref(run.number, result.attempt)

    def find(self, keys: Sequence[Key]) -> dict[Key, Stored]:
        """Return the latest answer for each key."""
        latest = [self._latest[key] for key in keys if key in self._latest]
        return super().find(keys) | {stored.key: stored for stored in self.fetch(latest).values()}


class AnswersWithFailures(_Flawed):
    """Takes a failure for an answer without text."""

    def settle(self, run: RunHandle, result: Result) -> None:
        """Record an answer whatever came of the attempt."""
        value = result.value if isinstance(result.value, Reply) else Reply(text="", usage=result.charged)
        super().settle(run, msgspec.structs.replace(result, value=value))


class LeavesOutMissing(_Flawed):
    """Returns what it has when it does not have everything."""

    def fetch(self, refs: Sequence[Ref]) -> dict[Ref, Stored]:
        """Return some of the answers."""
        found: dict[Ref, Stored] = {}
        for ref in refs:
            with suppress(StoreError):
                found |= super().fetch([ref])
        return found


class ForgivesLostRequests(_Flawed):
    """Charges nothing for a request that never got its result."""

    def spent(self, run: RunHandle) -> Spent:
        """Return a bill that is too small."""
        spent = super().spent(run)
        return msgspec.structs.replace(spent, charged=spent.charged - spent.lost_usage, lost_usage=NOTHING)


class TakesAnyResult(_Flawed):
    """Says nothing when a result has no intent, or comes twice."""

    def settle(self, run: RunHandle, result: Result) -> None:
        """Record what came of an attempt, if that can be done."""
        with suppress(StoreError):
            super().settle(run, result)


class ForgetsHowItEnded(_Flawed):
    """Leaves every session running."""

    def end_session(self, run: RunHandle, status: str, reason: str) -> None:
        """Record that the session goes on."""
        super().end_session(run, RUNNING, f"{status}: {reason}")


class WritesForAnyone(_Flawed):
    """Takes records of a run that it did not open."""

    def append(self, run: RunHandle, number: int, event: Event) -> None:
        """Become the owner and record an event."""
        self.shelf.owners[run.name] = self
        super().append(run, number, event)


class ThinksItIsDone(_Flawed):
    """Takes a phase it never saw for one without units."""

    def phase(self, run: RunHandle, path: str) -> PhaseRecord | None:
        """Return a record whatever is there."""
        return super().phase(run, path) or PhaseRecord(path=path, outcomes=())


class CountsFromOne(_Flawed):
    """Begins each session with the same attempt number."""

    def open_run(self, name: str, plan: bytes) -> RunHandle:
        """Open a run as if it was new."""
        return msgspec.structs.replace(super().open_run(name, plan), next_attempt=1)


class ResumesAnyPlan(_Flawed):
    """Goes on with a run whatever it is asked to do now."""

    def open_run(self, name: str, plan: bytes) -> RunHandle:
        """Open a run with the plan it had."""
        try:
            return super().open_run(name, plan)
        except UsageError:
            return super().open_run(name, self.shelf.shelved[name].plan)


class HandsOutTwice(_Flawed):
    """Lets two owners write to one run."""

    def open_run(self, name: str, plan: bytes) -> RunHandle:
        """Open a run that may be open."""
        self.shelf.owners.pop(name, None)
        return super().open_run(name, plan)


class OverwritesPhases(_Flawed):
    """Keeps the last record of a phase."""

    def close_phase(self, run: RunHandle, record: PhaseRecord) -> None:
        """Record a finished phase, again if need be."""
        self.shelf.shelved[run.name].phases.pop(record.path, None)
        super().close_phase(run, record)


class RewritesHistory(_Flawed):
    """Takes another event under a number that is taken."""

    def append(self, run: RunHandle, number: int, event: Event) -> None:
        """Record an event whatever was there."""
        self.shelf.shelved[run.name].events.pop(number, None)
        super().append(run, number, event)


class RepeatsItself(_Flawed):
    """Records an event once more when a run is replayed."""

    def append(self, run: RunHandle, number: int, event: Event) -> None:
        """Record an event at the next free number."""
        taken = self.shelf.shelved[run.name].events
        super().append(run, number if number not in taken else max(taken) + 1, event)


class HidesTheUnsynced(_Flawed):
    """Finds an answer only after the next sync."""

    def __init__(self, shelf: MemoryShelf) -> None:
        super().__init__(shelf)
        self._unsynced: set[Key] = set()

    def settle(self, run: RunHandle, result: Result) -> None:
        """Record what came of an attempt."""
        super().settle(run, result)
        self._unsynced.add(result.key)

    def find(self, keys: Sequence[Key]) -> dict[Key, Stored]:
        """Return the answers that were synced."""
        return super().find([key for key in keys if key not in self._unsynced])

    async def sync(self) -> None:
        """Make everything visible."""
        await super().sync()
        self._unsynced.clear()


class ForgetsAtTheEnd(_Flawed):
    """Leaves on the disk only what was synced."""

    def __init__(self, shelf: MemoryShelf) -> None:
        super().__init__(shelf)
        self._waiting: list[tuple[RunHandle, PhaseRecord]] = []

    def close_phase(self, run: RunHandle, record: PhaseRecord) -> None:
        """Keep a record for later."""
        if self.phase(run, record.path) is not None:
            raise StoreError(f"Run {run.name!r} recorded phase {record.path!r} before.")
        self._waiting.append((run, record))

    def phase(self, run: RunHandle, path: str) -> PhaseRecord | None:
        """Return a record, kept or not."""
        kept = [record for owner, record in self._waiting if owner == run and record.path == path]
        return kept[0] if kept else super().phase(run, path)

    def spent(self, run: RunHandle) -> Spent:
        """Return what the run has sent, with everything on the disk."""
        self._flush()
        return super().spent(run)

    async def sync(self) -> None:
        """Put everything on the disk."""
        await super().sync()
        self._flush()

    def _flush(self) -> None:
        waiting, self._waiting = self._waiting, []
        for run, record in waiting:
            super().close_phase(run, record)


class OutlivesItsClose(_Flawed):
    """Still writes after it was closed."""

    async def close(self) -> None:
        """Let go of the runs and stay open."""
        for name in [name for name, owner in self.shelf.owners.items() if owner is self]:
            del self.shelf.owners[name]


class MixesUpUnits(_Flawed):
    """Keeps the record it is working on where the next one overwrites it."""

    def __init__(self, shelf: MemoryShelf) -> None:
        super().__init__(shelf)
        self._current: Intent | None = None

    async def intend(self, run: RunHandle, intent: Intent) -> None:
        """Record that a request is about to be sent, a little later."""
        self._current = intent
        await asyncio.sleep(0)
        await super().intend(run, self._current)


BROKEN_JOURNALS: Mapping[str, Callable[[MemoryShelf], MemoryJournal]] = MappingProxyType(
    {
        broken.__name__: broken
        for broken in (
            FindsTheLatest,
            AnswersWithFailures,
            LeavesOutMissing,
            ForgivesLostRequests,
            TakesAnyResult,
            ForgetsHowItEnded,
            WritesForAnyone,
            ThinksItIsDone,
            CountsFromOne,
            ResumesAnyPlan,
            HandsOutTwice,
            OverwritesPhases,
            RewritesHistory,
            RepeatsItself,
            HidesTheUnsynced,
            ForgetsAtTheEnd,
            OutlivesItsClose,
            MixesUpUnits,
        )
    }
)
