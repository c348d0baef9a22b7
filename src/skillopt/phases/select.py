"""Keeps no more edits than the budget allows.
Owns the cut; refuses to know how the edits were ordered."""

from __future__ import annotations

from skillopt.domain.skill import Patch


def first_of(merged: Patch, edit_budget: int | None) -> Patch:
    """Return the first edits up to the budget; None keeps all, 0 keeps none."""
    return Patch(reasoning=merged.reasoning, edits=merged.edits[:edit_budget])
