"""Keeps no more changes than the budget allows: all of them if they fit, else those that the optimizer ranks first.
Owns the cut and the budgets of single files; refuses to know how the budget came about."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType

import msgspec

from skillopt.domain.skill import Change, Edit, Patch
from skillopt.kernel.dialogue import Unusable
from skillopt.phases.proposals.author import Author, Briefing
from skillopt.phases.proposals.contracts import RankReply
from skillopt.phases.recall import advised

FileBudgets = Mapping[str, int]


class Selected(msgspec.Struct, frozen=True, kw_only=True):
    """The changes to be made, and why the optimizer's ranking was not used, if it was asked for and was not."""

    patch: Patch
    unusable: str = ""


async def select(
    author: Author, merged: Patch, budget: int | None, briefing: Briefing, files: FileBudgets = MappingProxyType({})
) -> Selected:
    """Return at most so many changes (None: all of them); ranked ones in the order of their rank.

    Without a usable ranking the first ones in merge order are kept. A budget of 0 keeps nothing and asks nothing.
    """
    fitting = tuple(_within(merged.changes, files))
    if budget is None or len(fitting) <= budget:
        return Selected(patch=merged.having(fitting))
    if budget == 0:
        return Selected(patch=merged.having(()))
    sections = [
        *advised(briefing.memory),
        *author.about(briefing.skill),
        f"# The proposals\n\n{author.mode.shown(merged.changes, numbered=True)}",
    ]
    reply = await author.ask_one("rank", RankReply, author.text("rank", edit_budget=str(budget)), sections)
    if isinstance(reply, Unusable):
        return Selected(patch=merged.having(fitting[:budget]), unusable=f"{reply.kind}: {reply.why}")
    indices = dict.fromkeys(index for index in reply.selected_indices if 0 <= index < len(merged.changes))
    ranked = tuple(_within([merged.changes[index] for index in indices], files))
    if not ranked:
        return Selected(patch=merged.having(fitting[:budget]), unusable="Unreadable: it selects nothing that there is")
    return Selected(patch=merged.having(ranked[:budget]))


def _within(changes: Sequence[Change], files: FileBudgets) -> Iterator[Change]:
    """Yield the changes that the budgets of single files leave room for, the first ones first."""
    used = Counter[str]()
    for change in changes:
        file = change.file if isinstance(change, Edit) else ""
        if file not in files or used[file] < files[file]:
            used[file] += 1
            yield change
