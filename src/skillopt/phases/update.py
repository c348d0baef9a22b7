"""Makes a candidate of the chosen changes: exact edits, a rewrite with suggestions worked in, or a whole document.
Owns these three ways behind one type, and the one repair of refused edits; refuses to judge the candidate."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from types import MappingProxyType

import msgspec

from skillopt.domain.skill import (
    Candidate,
    Draft,
    Edit,
    Objection,
    Patch,
    Refusal,
    Refused,
    Skill,
    Suggestion,
    apply,
    rewritten,
)
from skillopt.kernel.dialogue import Unusable
from skillopt.phases.proposals.author import Author, Briefing, Permissions
from skillopt.phases.proposals.contracts import RepairReply, RewriteReply
from skillopt.phases.recall import earlier_steps


class Updated(msgspec.Struct, frozen=True, kw_only=True):
    """The candidate, and why a reply on the way to it could not be used."""

    candidate: Candidate
    unusable: str = ""


Update = Callable[[Author, Patch, Briefing], Awaitable[Updated]]


async def patch(author: Author, chosen: Patch, briefing: Briefing) -> Updated:
    """Apply exact edits; those that were refused are sent back once, together, and then dropped."""
    skill = briefing.skill
    candidate = _applied(skill, chosen.edits, author.permissions)
    mendable = [each for each in candidate.refused if each.reason is not Refusal.NO_CHANGE]
    if not mendable or not author.permissions.repair:
        return Updated(candidate=candidate)
    sections = [*author.about(candidate.skill), f"# The edits that could not be made\n\n{_refused(mendable)}"]
    reply = await author.ask_one("repair", RepairReply, author.text("repair"), sections)
    if isinstance(reply, Unusable):
        return Updated(candidate=candidate, unusable=f"{reply.kind}: {reply.why}")
    mended = _mended(mendable, reply)
    edits = [mended.get(edit, edit) for edit in chosen.edits]
    return Updated(candidate=_applied(skill, edits, author.permissions))


async def rewrite(author: Author, chosen: Patch, briefing: Briefing) -> Updated:
    """Have the whole document rewritten with the suggestions worked in; without a usable one it stays as it is."""
    skill = briefing.skill
    if not chosen.suggestions:
        return Updated(candidate=Candidate.unchanged(skill))
    sections = [
        *author.about(skill),
        *earlier_steps(briefing.memory),
        f"# The suggestions\n\n{author.mode.shown(chosen.suggestions)}",
    ]
    reply = await author.ask_one("rewrite", RewriteReply, author.text("rewrite"), sections)
    if isinstance(reply, Unusable):
        return _no_rewrite(skill, f"{reply.kind}: {reply.why}")
    return _whole(skill, reply.new_skill, reply.change_summary, chosen.suggestions)


async def replace(_author: Author, chosen: Patch, briefing: Briefing) -> Updated:
    """Take the first whole document that is not blank."""
    skill = briefing.skill
    draft = next((draft for draft in chosen.drafts if draft.new_skill.strip()), None)
    if draft is None:
        return Updated(candidate=Candidate.unchanged(skill))
    return _whole(skill, draft.new_skill, draft.change_summary, (draft,))


UPDATES: Mapping[str, Update] = MappingProxyType(
    {"patch": patch, "rewrite_from_suggestions": rewrite, "full_rewrite_minibatch": replace}
)


def _applied(skill: Skill, edits: Sequence[Edit], permissions: Permissions) -> Candidate:
    return apply(skill, edits, edit_scripts=permissions.scripts, edit_description=permissions.description)


def _refused(refused: Sequence[Refused]) -> str:
    rows = [
        {
            "index": number,
            "op": each.edit.op.value,
            "content": each.edit.content,
            "target": each.edit.target,
            "file": each.edit.file,
            "reason": each.detail,
        }
        for number, each in enumerate(refused)
    ]
    return msgspec.json.encode({"edits": rows}).decode()


def _mended(refused: Sequence[Refused], reply: RepairReply) -> dict[Edit, Edit]:
    """Return what takes the place of each refused edit, with its evidence; the first answer for an edit counts."""
    mended: dict[Edit, Edit] = {}
    for each in reply.edits:
        if 0 <= each.index < len(refused):
            old, new = refused[each.index].edit, each.edit()
            evidence = msgspec.structs.replace(old, op=new.op, content=new.content, target=new.target, file=new.file)
            mended.setdefault(old, evidence)
    return mended


def _whole(
    skill: Skill, text: str, summary: tuple[str, ...], worked_in: tuple[Suggestion, ...] | tuple[Draft, ...]
) -> Updated:
    made = rewritten(skill, text)
    if isinstance(made, Objection):
        return _no_rewrite(skill, f"{made.reason.value}: {made.detail}")
    candidate = Candidate(
        skill=made,
        parent_digest=skill.rendered_digest,
        worked_in=worked_in,
        summary=summary,
        skip="skip_no_rewrite",
    )
    return Updated(candidate=candidate)


def _no_rewrite(skill: Skill, why: str) -> Updated:
    return Updated(candidate=Candidate.unchanged(skill, "skip_no_rewrite"), unusable=why)
