"""The slow update: guidance for the target, drawn from how the same tasks went an epoch ago and now.
Owns its config section, its request and its place in the document; refuses to know whether the result is kept."""

from __future__ import annotations

from typing import Literal

import msgspec

from skillopt.domain.skill import (
    Candidate,
    Objection,
    Region,
    Skill,
    objection,
    region_content,
    strip_markers,
    with_region,
)
from skillopt.kernel.dialogue import Unusable
from skillopt.phases.consolidate.pairs import Comparison
from skillopt.phases.consolidate.showing import both_skills, compared
from skillopt.phases.proposals.author import Author


class SlowUpdateSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Config section `optimizer.slow_update`: guidance drawn from comparing epochs, in a region of its own.

    enabled: Whether it is written at the end of each epoch, from the second on.
    samples: How many train tasks the skill of an epoch ago and that of now are compared on.
    pairs: Which of these the optimizer is shown: all, only where the result changed, or only where it did not.
    accept: `gated` puts the guidance through the gate like any change; `force` measures it and keeps it as current.
    """

    enabled: bool = True
    samples: int = 20
    pairs: Literal["mixed", "changed", "unchanged"] = "mixed"
    accept: Literal["gated", "force"] = "gated"

    def __post_init__(self) -> None:
        if self.samples < 1:
            raise ValueError("optimizer.slow_update.samples must be at least 1")


class SlowUpdateReply(msgspec.Struct, frozen=True):
    """What a slow update must answer; other keys are welcome and ignored."""

    slow_update_content: str
    reasoning: str = ""


class Guidance(msgspec.Struct, frozen=True, kw_only=True):
    """What a slow update came to: the candidate, or why there is none."""

    candidate: Candidate
    content: str = ""
    reasoning: str = ""
    unusable: str = ""
    refused: Objection | None = None


def placeholder(skill: Skill) -> Skill:
    """Return the skill with an empty place for guidance; a model sees no difference."""
    return (
        skill if region_content(skill, Region.SLOW_UPDATE) is not None else with_region(skill, Region.SLOW_UPDATE, "")
    )


async def slow_update(author: Author, before: Skill, now: Skill, comparison: Comparison, characters: int) -> Guidance:
    """Ask for the guidance that replaces the present one; where nothing could be compared, nothing is asked."""
    unchanged = Candidate.unchanged(now)
    if not comparison.kept:
        return Guidance(candidate=unchanged, reasoning="There is no pair to learn from.")
    guidance = region_content(now, Region.SLOW_UPDATE)
    parts = [
        *both_skills(before, now),
        f"# The guidance so far\n\n{guidance if guidance else 'None yet.'}",
        *compared(comparison, characters),
    ]
    reply = await author.ask_one("slow_update", SlowUpdateReply, author.text("slow_update"), parts)
    if isinstance(reply, Unusable):
        return Guidance(candidate=unchanged, unusable=f"{reply.kind}: {reply.why}")
    return _guidance(now, reply)


def _guidance(now: Skill, reply: SlowUpdateReply) -> Guidance:
    """Put the words in their region, unless a rule of content forbids them; nothing to say leaves what there is."""
    content = strip_markers(reply.slow_update_content).strip()
    refused = objection(content)
    if refused is not None or not content:
        return Guidance(candidate=Candidate.unchanged(now), reasoning=reply.reasoning, refused=refused)
    return Guidance(
        candidate=Candidate(skill=with_region(now, Region.SLOW_UPDATE, content), parent_digest=now.rendered_digest),
        content=content,
        reasoning=reply.reasoning,
    )
