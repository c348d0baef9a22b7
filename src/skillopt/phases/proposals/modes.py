"""The ways of changing a skill, as values: which prompt fragments, which reply, which words to show a change in.
Owns what differs between them before anything is changed; refuses to know how a candidate is made of the changes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Literal

import msgspec

from skillopt.domain.skill import Change, Draft, Edit, Suggestion
from skillopt.phases.proposals.contracts import (
    ChangesReply,
    DraftsReflection,
    DraftsReply,
    EditsReflection,
    EditsReply,
    ReflectReply,
    SuggestionsReflection,
    SuggestionsReply,
)

ModeName = Literal["patch", "rewrite_from_suggestions", "full_rewrite_minibatch"]


class Mode(msgspec.Struct, frozen=True, kw_only=True):
    """One way of changing a skill; `changes` names its kind of change in prompts, `key` in JSON."""

    name: ModeName
    kind: type[Change]
    changes: str
    key: str
    merging: type[ChangesReply]
    reflecting: type[ReflectReply]
    counted: bool = True

    @property
    def fragments(self) -> Mapping[str, str]:
        """The names of the prompts that say what form a change has, by the placeholder they fill."""
        return {"rules": f"rules_{self.changes}", "form": f"form_{self.changes}"}

    def shown(self, changes: Sequence[Change], *, numbered: bool = False) -> str:
        """Return changes as the JSON that replies have too, with their counted support."""
        rows = [_row(change, number if numbered else None) for number, change in enumerate(changes)]
        return msgspec.json.encode({self.key: rows}).decode()


MODES: Mapping[str, Mode] = MappingProxyType(
    {
        "patch": Mode(
            name="patch", kind=Edit, changes="edits", key="edits", merging=EditsReply, reflecting=EditsReflection
        ),
        "rewrite_from_suggestions": Mode(
            name="rewrite_from_suggestions",
            kind=Suggestion,
            changes="suggestions",
            key="revise_suggestions",
            merging=SuggestionsReply,
            reflecting=SuggestionsReflection,
        ),
        "full_rewrite_minibatch": Mode(
            name="full_rewrite_minibatch",
            kind=Draft,
            changes="drafts",
            key="skill_candidates",
            merging=DraftsReply,
            reflecting=DraftsReflection,
            counted=False,
        ),
    }
)

Cell = str | int | tuple[str, ...]


def _row(change: Change, index: int | None) -> Mapping[str, Cell]:
    number: dict[str, Cell] = {} if index is None else {"index": index}
    return {**number, **_told(change), "support": change.support}


def _told(change: Change) -> Mapping[str, Cell]:
    match change:
        case Edit():
            return {"op": change.op.value, "content": change.content, "target": change.target, "file": change.file}
        case Suggestion():
            return {
                "type": change.kind,
                "title": change.title,
                "motivation": change.motivation,
                "instruction": change.instruction,
                "priority_hint": change.priority_hint,
            }
        case Draft():
            return {"title": change.title, "change_summary": change.change_summary, "new_skill": change.new_skill}
        case _:
            raise TypeError(f"{type(change).__name__} is no change that a prompt can show")
