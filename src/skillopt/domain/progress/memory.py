"""What a run remembers of its earlier steps, for the optimizer only: the ledger of changes, and advice.
Owns these values and how the ledger stays short; refuses to know how they are worded and what a step decided by."""

from __future__ import annotations

from typing import Literal

import msgspec

Fate = Literal["accepted", "rejected", "inconclusive", "refused", "not chosen"]

_MOST_STEPS = 32
_MOST_CHANGES_ABRIDGED = 4
_LONGEST = 400


class Pattern(msgspec.Struct, frozen=True, kw_only=True):
    """One kind of failure that one minibatch showed, and the tasks of that minibatch."""

    words: str
    count: int | None = None
    tasks: tuple[str, ...] = ()


class TriedChange(msgspec.Struct, frozen=True, kw_only=True):
    """One change that was proposed in a step, what became of it, and the train tasks that led to it."""

    words: str
    fate: Fate
    why: str = ""
    support: int = 1
    tasks: tuple[str, ...] = ()


class Tried(msgspec.Struct, frozen=True, kw_only=True):
    """One past step, as later ones see it: what failed, what was proposed, what the gate saw.

    A paired test saw tasks `won` and `lost`; a published rule compared two scores. None where that was not so.
    """

    step: int
    epoch: int
    action: str
    failed_tasks: int
    tasks: int
    changes: tuple[TriedChange, ...] = ()
    patterns: tuple[Pattern, ...] = ()
    candidate: float | None = None
    incumbent: float | None = None
    won: int | None = None
    lost: int | None = None

    @property
    def abridged(self) -> Tried:
        """What is kept of it in later epochs: what the gate decided on, and no patterns."""
        decided = [change for change in self.changes if change.fate in {"accepted", "rejected"}]
        kept = [
            msgspec.structs.replace(change, words=change.words[:_LONGEST], tasks=())
            for change in decided[:_MOST_CHANGES_ABRIDGED]
        ]
        return msgspec.structs.replace(self, changes=tuple(kept), patterns=())


class Memory(msgspec.Struct, frozen=True, kw_only=True):
    """What later steps are told of earlier ones: what was tried, and the advice drawn from the last epoch.

    `lineage` are the steps whose accepted changes the skill at hand has; None means all of them.
    """

    tried: tuple[Tried, ...] = ()
    advice: str = ""
    lineage: frozenset[int] | None = None

    def is_elsewhere(self, tried: Tried) -> bool:
        """Say whether what a step accepted went into another skill than the one at hand."""
        return self.lineage is not None and tried.action.startswith("accept") and tried.step not in self.lineage

    def after(self, tried: Tried) -> Memory:
        """Return the memory after one more step: earlier epochs are abridged, and the oldest steps are forgotten."""
        earlier = (each if each.epoch == tried.epoch else each.abridged for each in self.tried)
        return msgspec.structs.replace(self, tried=(*earlier, tried)[-_MOST_STEPS:])
