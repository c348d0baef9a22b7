"""What only matters while it happens: shown live, never recorded.
Owns the signals; refuses to be part of what a run is."""

from __future__ import annotations

import msgspec


class UnitSettled(msgspec.Struct, frozen=True, gc=False):
    """Live only: one unit of a phase has its outcome; `replayed` means that the journal had it."""

    path: str
    answered: bool
    replayed: bool
    cause: str = ""


class AttemptFailed(msgspec.Struct, frozen=True, gc=False):
    """Live only: an attempt failed and will be tried again after `wait` seconds, or not at all (None)."""

    path: str
    kind: str
    message: str
    wait: float | None


class SlotsChanged(msgspec.Struct, frozen=True, gc=False):
    """Live only: the number of requests allowed at once to an account changed."""

    account: str
    slots: int
    reason: str


Signal = UnitSettled | AttemptFailed | SlotsChanged
