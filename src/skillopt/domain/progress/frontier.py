"""The skills that a run improves side by side: each is best on some val tasks.
Owns who enters and leaves, whose turn it is, and who complements whom; refuses to know how a skill is measured."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import msgspec

from skillopt.domain.progress.standing import Standing
from skillopt.domain.scores import Metric
from skillopt.domain.seeds import Dice
from skillopt.domain.skill import Edit, EditOp, Skill

_SAME = 1e-9


class Place(msgspec.Struct, frozen=True, kw_only=True):
    """One member of a frontier, with the val tasks on which no other member does better."""

    standing: Standing
    best_on: frozenset[str]


class Pair(msgspec.Struct, frozen=True, kw_only=True):
    """Two members, each best on a task on which the other is not; `better` has the higher score on val."""

    better: Standing
    other: Standing

    @property
    def parent(self) -> Standing:
        """The better one as the parent of a union, which comes from both."""
        return msgspec.structs.replace(self.better, lineage=self.better.lineage | self.other.lineage)

    @property
    def lacking(self) -> tuple[Edit, ...]:
        """The other's edits since the two parted that the better one does not have; no words are said twice."""
        pairs = zip(self.better.edits, self.other.edits, strict=False)
        shared = sum(1 for _ in itertools.takewhile(lambda pair: pair[0] == pair[1], pairs))
        return tuple(edit for edit in self.other.edits[shared:] if not _says(self.better.skill, edit))


class Frontier(msgspec.Struct, frozen=True, kw_only=True):
    """At most `width` members, in the order in which they entered; `tried` are the unions that were gated."""

    width: int = 1
    members: tuple[Standing, ...] = ()
    tried: frozenset[str] = frozenset()

    def entered(self, standing: Standing, best: Standing, metric: Metric) -> Frontier:
        """Return the frontier with one more member; who is best nowhere that another is not has to leave.

        The new member and the best overall stay. Of the others as many do as there is room for, those that are best on
        the most tasks first, and of equals the newest.
        """
        shown = standing.skill.rendered_digest
        rest = [member for member in self.members if member.skill.rendered_digest != shown]
        here = places([*rest, standing], metric)
        stay = {shown, best.skill.rendered_digest}
        wanted = sorted(
            (place for place in range(len(here)) if _digest(here[place]) in stay or _is_needed(here, place)),
            key=lambda place: (_digest(here[place]) not in stay, -len(here[place].best_on), -place),
        )
        kept = wanted[: self.width] if self.width > 1 else [len(rest)]
        return msgspec.structs.replace(self, members=tuple(here[place].standing for place in sorted(kept)))

    def drawn(self, luck: Dice, metric: Metric) -> Standing:
        """Return the member whose turn it is: the more tasks one is best on, the more often."""
        here = places(self.members, metric)
        return luck.choices(self.members, [max(1, len(place.best_on)) for place in here])[0]

    def complements(self, metric: Metric) -> tuple[Pair, ...]:
        """Return the pairs that complement each other, those that are best on the most tasks together first."""
        here = places(self.members, metric)
        found = [
            (one, two)
            for one, two in itertools.combinations(here, 2)
            if one.best_on - two.best_on and two.best_on - one.best_on
        ]
        found.sort(key=lambda pair: -len(pair[0].best_on | pair[1].best_on))
        return tuple(_pair(one.standing, two.standing, metric) for one, two in found)

    def as_it_stands(self, standing: Standing) -> Standing:
        """Return the member with the same words, however it is written by now."""
        shown = standing.skill.rendered_digest
        return next((member for member in self.members if member.skill.rendered_digest == shown), standing)

    def knows(self, skill: Skill) -> bool:
        """Say whether this skill is a member, or a union that was gated before."""
        members = {member.skill.rendered_digest for member in self.members}
        return skill.rendered_digest in members | self.tried

    def trying(self, union: Skill) -> Frontier:
        """Return the frontier that knows this union."""
        return msgspec.structs.replace(self, tried=self.tried | {union.rendered_digest})

    def wearing(self, worn: Standing) -> Frontier:
        """Return the frontier with one member's document written differently, which a model does not see."""
        shown = worn.skill.rendered_digest
        members = tuple(worn if member.skill.rendered_digest == shown else member for member in self.members)
        return msgspec.structs.replace(self, members=members)


def places(members: Sequence[Standing], metric: Metric) -> tuple[Place, ...]:
    """Return where each member is best; on a task that nobody gets anything for, nobody is."""
    marks = [member.marks(metric) for member in members]
    tops: dict[str, float] = {}
    for each in marks:
        for task, mark in each.items():
            tops[task] = max(mark, tops.get(task, 0.0))
    return tuple(
        Place(
            standing=member,
            best_on=frozenset(task for task, mark in own.items() if mark > _SAME and mark >= tops[task] - _SAME),
        )
        for member, own in zip(members, marks, strict=True)
    )


def _is_needed(here: Sequence[Place], place: int) -> bool:
    """Say whether no other member is best wherever this one is; of two that are best on the same, the newer stays."""
    own = here[place].best_on
    return not any(
        own < each.best_on or (own == each.best_on and other > place)
        for other, each in enumerate(here)
        if other != place
    )


def _pair(one: Standing, two: Standing, metric: Metric) -> Pair:
    better, other = (one, two) if _value(one, metric) > _value(two, metric) else (two, one)
    return Pair(better=better, other=other)


def _value(standing: Standing, metric: Metric) -> float:
    value = standing.board.value(metric)
    return -math.inf if value is None else value


def _digest(place: Place) -> str:
    return place.standing.skill.rendered_digest


def _says(skill: Skill, edit: Edit) -> bool:
    """Say whether an edit would add words that the skill has already."""
    text = skill.file(edit.file)
    return edit.op in {EditOp.APPEND, EditOp.INSERT_AFTER} and text is not None and edit.content.strip() in text
