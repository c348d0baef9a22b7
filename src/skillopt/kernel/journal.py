"""The journal port: intents before a send, results after it, outcomes of finished phases, and the events of a run.
Owns the meaning of each record; refuses to know files and databases."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Protocol

import msgspec

from skillopt.domain.chat import Reply
from skillopt.domain.errors import StoreError, UsageError
from skillopt.domain.rollouts import Failure
from skillopt.domain.usage import NOTHING, Usage
from skillopt.kernel.events import Event

Key = bytes
Answer = Reply
RUNNING = "running"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


class Ref(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """Which attempt produced an answer: the run that paid, and the number of its attempt."""

    run: int
    attempt: int


class Intent(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A request about to be sent, with the most it may cost; without a result it is charged in full for good."""

    attempt: int
    key: Key
    role: str
    worst: Usage
    speculative: bool = False


class Result(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """What came of an attempt, and what it really cost."""

    attempt: int
    key: Key
    charged: Usage
    value: Reply | Failure


class Stored(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """An answer that the journal holds."""

    ref: Ref
    key: Key
    answer: Answer


class PhaseRecord(msgspec.Struct, frozen=True, kw_only=True):
    """What a finished phase used, unit by unit in program order."""

    path: str
    outcomes: tuple[Ref | Failure, ...]


class Spent(msgspec.Struct, frozen=True, kw_only=True):
    """What a run has sent so far, over all its sessions.

    `charged` is the whole bill: answers, failures (`failed_usage`) and lost requests (`lost_usage`). An intent without
    result is lost once its session has ended; until then it is under way, and counts in `attempts` only. `early` is the
    bill of speculation, `unused` the answers that no finished phase of this run has used.
    """

    attempts: int = 0
    answered: int = 0
    failed: int = 0
    lost: int = 0
    charged: Usage = NOTHING
    failed_usage: Usage = NOTHING
    lost_usage: Usage = NOTHING
    early: Usage = NOTHING
    unused: int = 0
    unused_usage: Usage = NOTHING
    seconds: float = 0.0


class RunHandle(msgspec.Struct, frozen=True, kw_only=True):
    """A run that this process owns; nobody else may write to it while it is open."""

    number: int
    name: str
    next_attempt: int
    session: int


class RunRow(msgspec.Struct, frozen=True, kw_only=True):
    """One run in a list: `status` and `reason` are what its last session ended with, or `running`.

    `held` says that a process has the run open now: `running` without it means that the last session was killed.
    """

    number: int
    name: str
    status: str
    reason: str
    started: float
    seen: float
    sessions: int
    held: bool


class Journal(Protocol):
    """Remembers finished work. One process owns a run at a time; several runs share the answers.

    Order is kept: what was recorded first is durable first, but for intents, which may overtake. `intend` returns when
    the intent survives `kill -9`; `sync` returns when everything recorded before it survives a loss of power. What was
    recorded is read back at once, durable or not. A journal that broke or was closed raises a StoreError at every call.
    """

    def open_run(self, name: str, plan: bytes) -> RunHandle:
        """Open or create a run, and begin a session of it.

        Another plan under the same name is a UsageError naming the run, and so is a name that could not be a file's;
        a run that is open already, here or in another process, is a StoreError.
        """
        ...

    def runs(self) -> tuple[RunRow, ...]:
        """Return all runs, the oldest first."""
        ...

    def plan(self, name: str) -> bytes | None:
        """Return the plan that a run was opened with, or None when there is no such run."""
        ...

    def end_session(self, run: RunHandle, status: str, reason: str) -> None:
        """Record how this session of the run ended; from now on its intents without result are lost."""
        ...

    def remove_run(self, name: str) -> None:
        """Forget a run, but for the answers that finished phases of other runs used.

        An unknown name is a UsageError; a StoreError while any run is open, since it may be reading those answers.
        """
        ...

    def find(self, keys: Sequence[Key]) -> dict[Key, Stored]:
        """Return the first answer for each key that has one; a failure is never an answer."""
        ...

    def fetch(self, refs: Sequence[Ref]) -> dict[Ref, Stored]:
        """Return the answers of these attempts; a missing one is a StoreError."""
        ...

    async def intend(self, run: RunHandle, intent: Intent) -> None:
        """Record that a request is about to be sent; a number not above all the run's others is a StoreError."""
        ...

    def settle(self, run: RunHandle, result: Result) -> None:
        """Record what came of an attempt; durable at the next `sync`, and surviving a kill soon.

        An attempt that this session did not intend, or that has its result, is a StoreError.
        """
        ...

    def phase(self, run: RunHandle, path: str) -> PhaseRecord | None:
        """Return the record of a finished phase, or None."""
        ...

    def close_phase(self, run: RunHandle, record: PhaseRecord) -> None:
        """Record a finished phase; recording it twice is a StoreError."""
        ...

    def append(self, run: RunHandle, number: int, event: Event) -> None:
        """Record the run's event with this number; recording it again is a no-op, another event a StoreError."""
        ...

    def events(self, run: str) -> tuple[Event, ...]:
        """Return the events of a run, in order; an unknown run has none."""
        ...

    def spent(self, run: RunHandle) -> Spent:
        """Return what the run has sent before and in this session, intents without result included."""
        ...

    async def sync(self) -> None:
        """Return when everything recorded so far is on disk."""
        ...

    async def close(self) -> None:
        """Write what is pending and let go of the runs this journal opened."""
        ...


def checked_name(name: str) -> str:
    """Return the name of a run, or refuse one that could not be a file's on every system."""
    if _NAME.fullmatch(name) is None:
        raise UsageError(
            f"{name!r} cannot be the name of a run.",
            hint="Use up to 100 letters, digits, dots, dashes and underscores, the first a letter or digit.",
        )
    return name


def another_plan(name: str) -> UsageError:
    """Return the refusal of a run that was started with another plan."""
    return UsageError(
        f"Run {name!r} was started with another plan: its config, skill or tasks differ from these.",
        hint="Give this plan another name with --run, or undo the change to go on with the old one.",
    )


def held_run(name: str, owner: str) -> StoreError:
    """Return the refusal of a run that somebody has open."""
    return StoreError(
        f"Run {name!r} is open in {owner}, and only one process may write to a run.",
        hint="Wait until that one ends, or end it; then run the same command again.",
    )


def not_open(name: str) -> StoreError:
    """Return the refusal of a record for a run that this journal does not own."""
    return StoreError(f"Run {name!r} is not open in this journal.", hint="Open it again before recording anything.")


def used_attempt(name: str, attempt: int) -> StoreError:
    """Return the refusal of an intent whose number is not a new one."""
    return StoreError(
        f"Run {name!r} has recorded attempt {attempt} or a later one.", hint="Please report this: it is our mistake."
    )


def no_intent(name: str, attempt: int) -> StoreError:
    """Return the refusal of a result that nothing waits for."""
    return StoreError(
        f"Run {name!r} has no open intent for attempt {attempt}, so its result was not recorded.",
        hint="Please report this: it is our mistake.",
    )


def finished_phase(name: str, path: str) -> StoreError:
    """Return the refusal of a second record of a phase."""
    return StoreError(f"Run {name!r} recorded phase {path!r} before.", hint="Please report this: it is our mistake.")


def diverged(name: str, number: int) -> StoreError:
    """Return the refusal of an event that differs from the one recorded under its number."""
    return StoreError(
        f"The replay diverged: run {name!r} recorded another event number {number} when it ran before.",
        hint="It was made by another version of skillopt; start again with --fresh.",
    )


def missing_answer(ref: Ref) -> StoreError:
    """Return the complaint about an answer that a record names and the journal does not hold."""
    return StoreError(
        f"The journal holds no answer for attempt {ref.attempt} of run number {ref.run}.",
        hint="The journal is incomplete: restore it from a copy, or start the run again with --fresh.",
    )


def closed_journal() -> StoreError:
    """Return the refusal of any call after `close`."""
    return StoreError("The journal is closed.", hint="Open it again before using it.")
