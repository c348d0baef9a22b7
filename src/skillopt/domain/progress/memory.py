"""What a run remembers of its earlier steps, for the optimizer only.
Owns these values; refuses to know how they are worded in a prompt and what a step decided by."""

from __future__ import annotations

import msgspec


class Tried(msgspec.Struct, frozen=True, kw_only=True):
    """One past step, as later reflections see it: what failed, what was edited, what the gate said."""

    step: int
    action: str
    failed_tasks: int
    tasks: int
    edits: tuple[str, ...]
    candidate: float | None
    incumbent: float | None


class Memory(msgspec.Struct, frozen=True, kw_only=True):
    """What later steps are told of earlier ones: what was tried, and the advice drawn from the last epoch."""

    tried: tuple[Tried, ...] = ()
    advice: str = ""
