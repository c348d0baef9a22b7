"""What an optimizer must answer, by phase and by kind of change; other keys are welcome and ignored.
Owns the names in replies and how they become values; refuses to believe a reply about its own support."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import msgspec

from skillopt.domain.skill import SKILL_FILE, Change, Draft, Edit, EditOp, Suggestion, SuggestionKind

OpName = Literal["append", "insert_after", "replace", "delete", "add"]


class ChangesReply(msgspec.Struct, frozen=True):
    """Changes of one kind: the whole of a merge reply, and the patch in a reflection."""

    reasoning: str = ""

    def changes(self) -> tuple[Change, ...]:
        """Return what is proposed, without evidence."""
        raise NotImplementedError


class EditReply(msgspec.Struct, frozen=True):
    """One edit in a reply."""

    op: OpName
    content: str | None = ""
    target: str | None = ""
    file: str | None = SKILL_FILE

    def edit(self) -> Edit:
        """Return the edit."""
        return Edit(
            op=EditOp.parse(self.op),
            content="" if self.content is None else self.content,
            target="" if self.target is None else self.target,
            file=self.file or SKILL_FILE,
        )


class EditsReply(ChangesReply, frozen=True, kw_only=True):
    """Exact edits."""

    edits: tuple[EditReply, ...]

    def changes(self) -> tuple[Change, ...]:
        """Return the edits."""
        return tuple(edit.edit() for edit in self.edits)


class SuggestionReply(msgspec.Struct, frozen=True):
    """One suggestion in a reply."""

    type: SuggestionKind
    instruction: str
    title: str = ""
    motivation: str = ""
    priority_hint: str = ""


class SuggestionsReply(ChangesReply, frozen=True, kw_only=True):
    """Suggestions for a rewrite."""

    revise_suggestions: tuple[SuggestionReply, ...]

    def changes(self) -> tuple[Change, ...]:
        """Return the suggestions that say something."""
        return tuple(
            Suggestion(
                kind=each.type,
                title=each.title,
                motivation=each.motivation,
                instruction=each.instruction,
                priority_hint=each.priority_hint,
            )
            for each in self.revise_suggestions
            if each.instruction.strip()
        )


class DraftReply(msgspec.Struct, frozen=True):
    """One whole document in a reply."""

    new_skill: str
    title: str = ""
    change_summary: tuple[str, ...] = ()


class DraftsReply(ChangesReply, frozen=True, kw_only=True):
    """Whole documents."""

    skill_candidates: tuple[DraftReply, ...]

    def changes(self) -> tuple[Change, ...]:
        """Return the documents that are not blank."""
        return tuple(
            Draft(title=each.title, change_summary=each.change_summary, new_skill=each.new_skill)
            for each in self.skill_candidates
            if each.new_skill.strip()
        )


class FailureReply(msgspec.Struct, frozen=True):
    """One kind of failure that a reflection saw."""

    failure_type: str = ""
    count: int | float | str | None = None
    description: str = ""


class ReflectReply(msgspec.Struct, frozen=True, kw_only=True):
    """What a reflection must answer, whatever it proposes."""

    patch: ChangesReply
    failure_summary: tuple[FailureReply | str, ...] = ()
    success_patterns: tuple[FailureReply | str, ...] = ()
    appendix_notes: object = ()

    def notes(self) -> Iterator[str]:
        """Yield the reminders, in whichever of the accepted forms they stand; what is none of them is no reminder."""
        spelled = self.appendix_notes
        for note in (spelled,) if isinstance(spelled, str) else spelled if isinstance(spelled, list | tuple) else ():
            said = note.get("note") or note.get("content") if isinstance(note, dict) else note
            if isinstance(said, str):
                yield said


class EditsReflection(ReflectReply, frozen=True, kw_only=True):
    """A reflection that proposes edits."""

    patch: EditsReply


class SuggestionsReflection(ReflectReply, frozen=True, kw_only=True):
    """A reflection that proposes suggestions."""

    patch: SuggestionsReply


class DraftsReflection(ReflectReply, frozen=True, kw_only=True):
    """A reflection that proposes whole documents."""

    patch: DraftsReply


class RankReply(msgspec.Struct, frozen=True, kw_only=True):
    """Which changes are to be made, by their index from 0, the most important first."""

    selected_indices: tuple[int, ...]


class BudgetReply(msgspec.Struct, frozen=True, kw_only=True):
    """How many changes an optimizer would make."""

    learning_rate: bool | int | float | str
    reasoning: str = ""
    confidence: str | float | None = None
    risk_notes: str | tuple[str, ...] | None = None


class RewriteReply(msgspec.Struct, frozen=True, kw_only=True):
    """A whole document with suggestions worked in."""

    new_skill: str
    change_summary: tuple[str, ...] = ()


class MendedReply(EditReply, frozen=True):
    """A refused edit once more; `index` says which."""

    index: int = -1


class RepairReply(msgspec.Struct, frozen=True, kw_only=True):
    """Refused edits, mended."""

    edits: tuple[MendedReply, ...]
