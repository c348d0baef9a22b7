"""Merges what many minibatches proposed into one patch: equal proposals by counting, the rest by asking, in a tree.
Owns the shape of the tree and when nobody need be asked; refuses to know how many changes may be made."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import msgspec

from skillopt.domain.skill import Change, Patch
from skillopt.kernel.dialogue import Unusable
from skillopt.phases.proposals.author import Author, Briefing
from skillopt.phases.proposals.contracts import ChangesReply
from skillopt.phases.proposals.sameness import distinct, identity, related, supported
from skillopt.phases.recall import advised

_FEWEST_TOGETHER = 2


class AggregateSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Config section `aggregate`: how proposals become one patch.

    fan_in: How many patches one merge request joins.
    ask: `related` asks only where two patches act on the same text or share words; `always` asks for every group.
    """

    fan_in: int = 8
    ask: Literal["related", "always"] = "related"

    def __post_init__(self) -> None:
        if self.fan_in < _FEWEST_TOGETHER:
            raise ValueError(f"aggregate.fan_in must be at least {_FEWEST_TOGETHER}")


class Merged(msgspec.Struct, frozen=True, kw_only=True):
    """The one patch, and why some of the merging had to be done without the optimizer."""

    patch: Patch
    unusable: tuple[str, ...] = ()


class _Group(msgspec.Struct, frozen=True):
    """Patches that become one: `kind` says which prompt is for them."""

    kind: Literal["failures", "successes", "final"]
    patches: tuple[Patch, ...]


def groups_of(count: int, fan_in: int) -> tuple[int, ...]:
    """Return the sizes of the consecutive groups in which so many patches are merged at one level."""
    whole, rest = divmod(count, fan_in)
    return (fan_in,) * whole + ((rest,) if rest else ())


async def aggregate(
    author: Author,
    settings: AggregateSettings,
    failures: Sequence[Patch],
    successes: Sequence[Patch],
    briefing: Briefing,
) -> Merged:
    """Return one patch: what repairs failures first, then by support, then in the order proposed.

    Both trees go up level by level at the same time. A group is merged without asking when a single patch of it
    proposes anything, or when no change of one patch is related to a change of another.
    """
    merging = _Merging(author, settings, briefing)
    trees = (_proposing(distinct(failures)), _proposing(distinct(successes)))
    level = 1
    while any(len(tree) > 1 for tree in trees):
        trees = await merging.level(level, trees)
        level += 1
    tops = _proposing(distinct([patch for tree in trees for patch in tree]))
    (patch,) = await merging.joined("final", (_Group("final", tops),))
    ordered = sorted(patch.changes, key=lambda change: (change.source != "failure", -change.support))
    notes = tuple(note for each in (*failures, *successes) for note in each.notes)
    return Merged(patch=msgspec.structs.replace(patch.having(ordered), notes=notes), unusable=tuple(merging.unusable))


class _Merging:
    """One aggregation: asks for the groups of a level together, and remembers what could not be used."""

    def __init__(self, author: Author, settings: AggregateSettings, briefing: Briefing) -> None:
        self._author = author
        self._settings = settings
        self._briefing = briefing
        self.unusable: list[str] = []

    async def level(
        self, level: int, trees: tuple[tuple[Patch, ...], tuple[Patch, ...]]
    ) -> tuple[tuple[Patch, ...], tuple[Patch, ...]]:
        """Return both trees one level higher up."""
        failures = [_Group("failures", group) for group in self._cut(trees[0])]
        successes = [_Group("successes", group) for group in self._cut(trees[1])]
        merged = await self.joined(f"level_{level}", (*failures, *successes))
        return merged[: len(failures)], merged[len(failures) :]

    def _cut(self, patches: tuple[Patch, ...]) -> tuple[tuple[Patch, ...], ...]:
        sizes = groups_of(len(patches), self._settings.fan_in)
        starts = [sum(sizes[:place]) for place in range(len(sizes))]
        return tuple(patches[start : start + size] for start, size in zip(starts, sizes, strict=True))

    async def joined(self, phase: str, groups: Sequence[_Group]) -> tuple[Patch, ...]:
        """Return one patch for each group; only those that need it are asked about, all at once."""
        asked = [place for place, group in enumerate(groups) if self._is_in_doubt(group)]
        questions = [self._question(groups[place]) for place in asked]
        replies: tuple[ChangesReply | Unusable, ...] = ()
        if questions:
            replies = await self._author.ask("merge", f"merge/{phase}", self._author.mode.merging, questions)
        answers = dict(zip(asked, replies, strict=True))
        return tuple(self._merged(group, answers.get(place)) for place, group in enumerate(groups))

    def _is_in_doubt(self, group: _Group) -> bool:
        if len(group.patches) < _FEWEST_TOGETHER:
            return False
        if self._settings.ask == "always":
            return True
        before: list[Change] = []
        for patch in group.patches:
            if any(related(one, other) for one in before for other in patch.changes):
                return True
            before += patch.changes
        return False

    def _question(self, group: _Group) -> tuple[str, str]:
        mode = self._author.mode
        sets = [f"## Set {number}\n\n{mode.shown(patch.changes)}" for number, patch in enumerate(group.patches, 1)]
        sections = [
            *advised(self._briefing.memory),
            *self._author.about(self._briefing.skill),
            "# The proposals",
            *sets,
        ]
        return self._author.text(f"merge_{group.kind}"), "\n\n".join(sections)

    def _merged(self, group: _Group, reply: ChangesReply | Unusable | None) -> Patch:
        """Return what the reply says, with counted support; without one, all the proposals one after another."""
        inputs = [change for patch in group.patches for change in patch.changes]
        reasons = dict.fromkeys(patch.reasoning for patch in group.patches if patch.reasoning)
        together = Patch(reasoning="\n".join(reasons)).having(inputs)
        if reply is None:
            return together
        if isinstance(reply, Unusable):
            self.unusable.append(f"{reply.kind}: {reply.why}")
            return together
        merged = supported(_once(reply.changes()), inputs)
        reasoning = reply.reasoning or together.reasoning
        return Patch(reasoning=reasoning).having(merged)


def _proposing(patches: Sequence[Patch]) -> tuple[Patch, ...]:
    """Return the patches that propose something."""
    return tuple(patch for patch in patches if patch.changes)


def _once(changes: Sequence[Change]) -> tuple[Change, ...]:
    known: dict[tuple[str, ...], Change] = {}
    for change in changes:
        known.setdefault(identity(change), change)
    return tuple(known.values())
