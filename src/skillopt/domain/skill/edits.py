"""The words of change: what an optimizer proposes, and what came of it.

Owns: the values Edit, Suggestion, Draft, Patch, Applied, Refused, Candidate and the closed lists of operations and
refusals. Knows nothing of how an edit is carried out.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum
from typing import Literal

import msgspec

from skillopt.domain.errors import unknown_name
from skillopt.domain.skill.document import SKILL_FILE, Skill

EditSource = Literal["failure", "success", "merged", "unstated"]
Skip = Literal["skip_no_patches", "skip_no_rewrite"]
SuggestionKind = Literal["add_rule", "remove_rule", "merge_rules", "reorganize", "compress", "clarify"]


class EditOp(Enum):
    """What an edit does to its file."""

    APPEND = "append"
    INSERT_AFTER = "insert_after"
    REPLACE = "replace"
    DELETE = "delete"

    @classmethod
    def parse(cls, name: str) -> EditOp:
        """Return the operation of that name (`add` is `append`); raise UsageError for any other word."""
        word = name.strip().lower()
        for op in cls:
            if word == op.value:
                return op
        if word == "add":
            return cls.APPEND
        raise unknown_name("edit operation", name, [op.value for op in cls])


class Refusal(Enum):
    """Why an edit was not applied."""

    TARGET_MISSING = "target_missing"
    TARGET_NOT_FOUND = "target_not_found"
    TARGET_AMBIGUOUS = "target_ambiguous"
    PROTECTED_REGION = "protected_region"
    FRONT_MATTER = "front_matter"
    EMPTY_CONTENT = "empty_content"
    MARKER_IN_CONTENT = "marker_in_content"
    HTML_COMMENT = "html_comment"
    HIDDEN_UNICODE = "hidden_unicode"
    PERMISSION_WORDS = "permission_words"
    UNKNOWN_FILE = "unknown_file"
    READ_ONLY_FILE = "read_only_file"
    NO_CHANGE = "no_change"


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """Something proposed, with the evidence behind it: the minibatches that led to it, counted, and their tasks."""

    support: int = 1
    source: EditSource = "unstated"
    minibatches: tuple[int, ...] = ()
    tasks: tuple[str, ...] = ()

    @property
    def words(self) -> str:
        """The change in a line, for whoever is told of it later."""
        raise NotImplementedError


class Edit(Change, frozen=True, kw_only=True):
    """One proposed change to one file."""

    op: EditOp
    content: str = ""
    target: str = ""
    file: str = SKILL_FILE

    @property
    def words(self) -> str:
        """The operation and its words."""
        told = " → ".join(text for text in (self.target, self.content) if text)
        where = "" if self.file == SKILL_FILE else f" ({self.file})"
        return f"{self.op.value}{where}: {told}"


class Suggestion(Change, frozen=True, kw_only=True):
    """One thing that a rewrite of the whole document should work in."""

    kind: SuggestionKind
    title: str = ""
    motivation: str = ""
    instruction: str
    priority_hint: str = ""

    @property
    def words(self) -> str:
        """The kind and the instruction."""
        return f"{self.kind}: {self.instruction}"


class Draft(Change, frozen=True, kw_only=True):
    """A whole new document."""

    title: str = ""
    change_summary: tuple[str, ...] = ()
    new_skill: str

    @property
    def words(self) -> str:
        """What it says of itself; the document is too long to be told."""
        return f"new document: {'; '.join(self.change_summary) or self.title}"


class Patch(msgspec.Struct, frozen=True, kw_only=True):
    """What one reply proposes, and the reasoning that led to it; `notes` are reminders for the appendix.

    An optimizer works in one mode: it proposes edits, or suggestions, or drafts.
    """

    reasoning: str = ""
    edits: tuple[Edit, ...] = ()
    suggestions: tuple[Suggestion, ...] = ()
    drafts: tuple[Draft, ...] = ()
    notes: tuple[str, ...] = ()

    @classmethod
    def empty(cls) -> Patch:
        """Return the patch that changes nothing."""
        return cls()

    @property
    def changes(self) -> tuple[Change, ...]:
        """Everything proposed, of whatever kind."""
        return (*self.edits, *self.suggestions, *self.drafts)

    def having(self, changes: Iterable[Change]) -> Patch:
        """Return this patch with other changes in the place of its own."""
        kept = tuple(changes)
        return Patch(
            reasoning=self.reasoning,
            edits=tuple(change for change in kept if isinstance(change, Edit)),
            suggestions=tuple(change for change in kept if isinstance(change, Suggestion)),
            drafts=tuple(change for change in kept if isinstance(change, Draft)),
            notes=self.notes,
        )


class Objection(msgspec.Struct, frozen=True, kw_only=True):
    """A reason to refuse, with a sentence that tells the optimizer what to do instead."""

    reason: Refusal
    detail: str


class Applied(msgspec.Struct, frozen=True, kw_only=True):
    """An edit that was carried out, and the 1-based line of the resulting file where its words now begin."""

    edit: Edit
    file: str
    line: int


class Refused(msgspec.Struct, frozen=True, kw_only=True):
    """An edit that was not carried out, and why."""

    edit: Edit
    reason: Refusal
    detail: str


class Candidate(msgspec.Struct, frozen=True, kw_only=True):
    """The skill that would result, with what was applied and what was refused.

    A rewrite names what it `worked_in` and sums up what it did; `skip` is the published word for a step that changes
    nothing.
    """

    skill: Skill
    parent_digest: str
    applied: tuple[Applied, ...] = ()
    refused: tuple[Refused, ...] = ()
    worked_in: tuple[Suggestion | Draft, ...] = ()
    summary: tuple[str, ...] = ()
    skip: Skip = "skip_no_patches"

    @property
    def changed(self) -> bool:
        """Tell whether a model would see anything different from the parent."""
        return self.skill.rendered_digest != self.parent_digest

    @classmethod
    def unchanged(cls, skill: Skill, skip: Skip = "skip_no_patches") -> Candidate:
        """Return the candidate that is its own parent."""
        return cls(skill=skill, parent_digest=skill.rendered_digest, skip=skip)
