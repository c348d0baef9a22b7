"""The report's section on the frontier: which skills were improved side by side, and which were put together.
Owns the two tables; refuses to know how a skill gets into a frontier."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from skillopt.kernel.run_view import MergeView, SearchView
from skillopt.train.pages.markup import Content, Html, element, shortened, table

_MEMBERS = ("Skill", "Score on val", "Best on so many val tasks", "Steps from it")
_MERGES = ("Put into", "From", "Edits made", "Refused", "Verdict", "Why")
_LONGEST_CELL = 280
_MOST_ROWS = 100


def frontier(search: SearchView) -> Iterator[Html]:
    """Yield the members as they stood last, and what was put together; nothing where there was no choice."""
    if not search.stood:
        return
    parents = Counter(stood.parent for stood in search.stood)
    members = [
        (
            _named(member.origin),
            "not measured" if member.score is None else f"{member.score:.3f}",
            str(member.best_on),
            str(parents[member.origin]),
        )
        for member in search.stood[-1].members
    ]
    gone = parents.keys() - {member.origin for member in search.stood[-1].members} - {""}
    yield table("Skills that no other one beats wherever they are best", _MEMBERS, members, kind="frontier")
    if gone:
        steps = sum(parents[origin] for origin in gone)
        yield element("p", f"{steps:,} steps started from {len(gone):,} skills that have left since.", class_="note")
    if search.merges:
        rows = [_merge_row(merge) for merge in search.merges[-_MOST_ROWS:]]
        yield table("What was put together", _MERGES, rows, kind="merges")


def _merge_row(merge: MergeView) -> tuple[Content, ...]:
    merged, gate = merge.merged, merge.gate
    made = [edit.status == "applied" for edit in merged.made.edits]
    return (
        _named(merged.better),
        _named(merged.other),
        str(made.count(True)),
        str(made.count(False)),
        "not decided" if gate is None else gate.action.replace("_", " "),
        "" if gate is None else shortened(gate.reason, _LONGEST_CELL),
    )


def _named(origin: str) -> str:
    return "the seed" if origin == "initial_skill" else origin.replace("_", " ")
