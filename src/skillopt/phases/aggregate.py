"""Merges what many minibatches proposed: the same edit said twice becomes one, with its support counted.
Owns what counts as the same; refuses to know how edits were proposed or how many may be applied."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from skillopt.domain.skill import Edit, Patch


def aggregate(patches: Sequence[Patch]) -> Patch:
    """Return one patch: what repairs failures first, then by support, then in the order proposed."""
    merged: dict[tuple[str, ...], Edit] = {}
    for edit in (edit for patch in patches for edit in patch.edits):
        key = _sameness(edit)
        merged[key] = _joined(merged[key], edit) if key in merged else edit
    ranked = sorted(merged.values(), key=lambda edit: (edit.source != "failure", -edit.support))
    reasons = dict.fromkeys(patch.reasoning for patch in patches if patch.edits and patch.reasoning)
    return Patch(reasoning="\n".join(reasons), edits=tuple(ranked))


def _sameness(edit: Edit) -> tuple[str, ...]:
    """Two edits are the same when they differ in case, spacing or closing punctuation only."""
    return (edit.op.value, edit.file, edit.target, " ".join(edit.content.casefold().split()).rstrip(" .;:,_-"))


def _joined(first: Edit, second: Edit) -> Edit:
    minibatches = tuple(dict.fromkeys((*first.minibatches, *second.minibatches)))
    return msgspec.structs.replace(
        first,
        support=first.support + second.support,
        minibatches=minibatches,
        tasks=tuple(dict.fromkeys((*first.tasks, *second.tasks))),
        source="failure" if "failure" in {first.source, second.source} else first.source,
    )
