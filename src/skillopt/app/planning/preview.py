"""A journal that answers from a workspace and writes to memory only: what is tried on it leaves nothing behind.
Owns which records shine through; refuses to know what is tried."""

from __future__ import annotations

from collections.abc import Sequence

from skillopt.kernel.journal import Key, PhaseRecord, Ref, RunHandle, Stored
from skillopt.kernel.memory import MemoryJournal
from skillopt.kernel.ports import Clock
from skillopt.store.reader import SqliteReader


class Preview(MemoryJournal):
    """Knows the answers of a workspace, and the plan and finished phases of its runs."""

    def __init__(self, reader: SqliteReader, *, clock: Clock) -> None:
        super().__init__(clock=clock)
        self._reader = reader
        self._finished: dict[str, dict[str, PhaseRecord]] = {}

    def plan(self, name: str) -> bytes | None:
        """Return the plan that a run was opened with, there or here."""
        known = self._reader.plan(name)
        return super().plan(name) if known is None else known

    def find(self, keys: Sequence[Key]) -> dict[Key, Stored]:
        """Return the answers that the workspace has."""
        return self._reader.find(keys)

    def fetch(self, refs: Sequence[Ref]) -> dict[Ref, Stored]:
        """Return the answers of these attempts."""
        return self._reader.fetch(refs)

    def phase(self, run: RunHandle, path: str) -> PhaseRecord | None:
        """Return the record of a phase that the run finished in the workspace, or here."""
        if run.name not in self._finished:
            self._finished[run.name] = {record.path: record for record in self._reader.phases(run.name)}
        known = self._finished[run.name].get(path)
        return super().phase(run, path) if known is None else known
