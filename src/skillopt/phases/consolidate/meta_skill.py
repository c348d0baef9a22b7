"""The meta skill: what an optimizer learns about writing edits here, for its own eyes in the next epoch.
Owns the request; refuses to let a word of it into the skill."""

from __future__ import annotations

import msgspec

from skillopt.domain.progress.memory import Memory
from skillopt.domain.skill import Skill
from skillopt.kernel.dialogue import Unusable
from skillopt.phases.consolidate.pairs import Comparison
from skillopt.phases.consolidate.showing import both_skills, compared
from skillopt.phases.proposals.author import Author
from skillopt.phases.recall import recalled


class MetaSkillReply(msgspec.Struct, frozen=True):
    """What a meta skill must answer; other keys are welcome and ignored."""

    meta_skill_content: str
    reasoning: str = ""


class Advice(msgspec.Struct, frozen=True, kw_only=True):
    """What a meta skill came to: the advice, or why there is none."""

    content: str = ""
    reasoning: str = ""
    unusable: str = ""


class Epoch(msgspec.Struct, frozen=True, kw_only=True):
    """What an epoch has to show: the skill before and after it, the same tasks with both, and what was tried."""

    before: Skill
    after: Skill
    comparison: Comparison
    memory: Memory


async def meta_skill(author: Author, epoch: Epoch, characters: int) -> Advice:
    """Ask what the next epoch should know about proposing edits; where nothing happened, nothing is asked."""
    told = recalled(epoch.memory)
    if not told and not epoch.comparison.kept:
        return Advice(reasoning="There is nothing to learn from.")
    parts = [*both_skills(epoch.before, epoch.after), *told, *compared(epoch.comparison, characters)]
    reply = await author.ask_one("meta_skill", MetaSkillReply, author.text("meta_skill"), parts)
    if isinstance(reply, Unusable):
        return Advice(unusable=f"{reply.kind}: {reply.why}")
    return Advice(content=reply.meta_skill_content.strip(), reasoning=reply.reasoning)
