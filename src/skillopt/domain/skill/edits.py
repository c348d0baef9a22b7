"""The words of change: what an optimizer proposes, and what came of it.

Owns: the values Edit, Patch, Applied, Refused, Candidate and the closed lists of operations and refusals.
Knows nothing of how an edit is carried out.
"""

from __future__ import annotations

from enum import Enum
from typing import Literal

import msgspec

from skillopt.domain.errors import unknown_name
from skillopt.domain.skill.document import SKILL_FILE, Skill

EditSource = Literal["failure", "success", "merged", "unstated"]


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


class Edit(msgspec.Struct, frozen=True, kw_only=True):
    """One proposed change to one file, with the evidence behind it."""

    op: EditOp
    content: str = ""
    target: str = ""
    file: str = SKILL_FILE
    support: int = 1
    source: EditSource = "unstated"
    minibatches: tuple[int, ...] = ()
    tasks: tuple[str, ...] = ()


class Patch(msgspec.Struct, frozen=True, kw_only=True):
    """Edits that belong together, and the reasoning that led to them; `notes` are reminders for the appendix."""

    reasoning: str = ""
    edits: tuple[Edit, ...] = ()
    notes: tuple[str, ...] = ()

    @classmethod
    def empty(cls) -> Patch:
        """Return the patch that changes nothing."""
        return cls()


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
    """The skill that would result, with what was applied and what was refused."""

    skill: Skill
    parent_digest: str
    applied: tuple[Applied, ...] = ()
    refused: tuple[Refused, ...] = ()

    @property
    def changed(self) -> bool:
        """Tell whether a model would see anything different from the parent."""
        return self.skill.rendered_digest != self.parent_digest

    @classmethod
    def unchanged(cls, skill: Skill) -> Candidate:
        """Return the candidate that is its own parent."""
        return cls(skill=skill, parent_digest=skill.rendered_digest)
