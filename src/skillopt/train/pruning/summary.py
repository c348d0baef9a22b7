"""The summary of a pruning: the values of prune.json and of `prune --json`.
Owns these names; refuses to know how anything was decided."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from skillopt.kernel.events import PassagesTried, PruneDecided
from skillopt.kernel.view import RunView
from skillopt.train.summary import Status, UsageRow


class TakenOut(msgspec.Struct, frozen=True, kw_only=True):
    """A passage that the pruned skill does without: its lines in the original, from 1, and its text."""

    first_line: int
    last_line: int
    text: str


class PruneSummary(msgspec.Struct, frozen=True, kw_only=True):
    """What a pruning came to; `decided` is null while it has not got so far.

    `taken_out` is what was confirmed. Without a confirmation it is empty, and `pruned_skill` is the original.
    """

    run: str
    run_dir: str
    status: Status
    stop_reason: str
    pruned_skill: str
    diff: tuple[str, ...]
    taken_out: tuple[TakenOut, ...]
    tried: tuple[PassagesTried, ...]
    decided: PruneDecided | None
    usage: UsageRow


def taken_out(view: RunView) -> tuple[TakenOut, ...]:
    """Return the passages that went, if the pruned skill was confirmed."""
    if view.pruned is None or not view.pruned.confirmed:
        return ()
    return tuple(
        TakenOut(first_line=first, last_line=last, text=text)
        for each in view.tried
        if each.taken_out
        for (first, last), text in zip(each.lines, each.texts, strict=True)
    )


def pruned_files(view: RunView, original: Mapping[str, str]) -> Mapping[str, str]:
    """Return the files of the skill to use: the pruned one once it is confirmed, else the original."""
    if view.pruned is None or not view.pruned.confirmed:
        return original
    return view.skills[view.pruned.pruned_digest].files
