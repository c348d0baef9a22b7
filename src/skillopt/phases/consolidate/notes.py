"""Reminders of rules that the skill has and the target overlooked: the appendix of the document.
Owns its config section, its form and what counts as the same reminder; refuses to know whether it is kept."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Literal

import msgspec

from skillopt.domain.skill import Objection, Region, Skill, objection, region_content, strip_markers, with_region
from skillopt.kernel.dialogue import Unusable
from skillopt.phases.proposals.author import Author

Kind = Literal["failure", "success"]
_HEADING = "## Easily overlooked"
_TITLE = re.compile(r"#{1,6}\s")
_BULLETS = ("- ", "* ", "+ ")


class SkillAwareSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Config section `optimizer.skill_aware`: reminders of rules that the skill has and the target overlooked.

    enabled: Whether reflections tell a gap in the skill from a rule that was not followed.
    source: Whether reminders come from right and wrong answers (`both`) or from wrong ones only.
    consolidate_above: Above how many reminders the optimizer is asked for fewer; 0 never asks.
    accept: `gated` puts reminders through the gate with the step's change; `force` measures and keeps them in any case.
    """

    enabled: bool = False
    source: Literal["both", "failures"] = "both"
    consolidate_above: int = 0
    accept: Literal["gated", "force"] = "gated"

    def __post_init__(self) -> None:
        if self.consolidate_above < 0:
            raise ValueError("optimizer.skill_aware.consolidate_above must be 0 or more")

    @property
    def kinds(self) -> tuple[Kind, ...]:
        """The kinds of reflection that are asked for reminders."""
        if not self.enabled:
            return ()
        return ("failure", "success") if self.source == "both" else ("failure",)


class SpelledNote(msgspec.Struct, frozen=True):
    """A reminder in a reply, as an object."""

    note: str = ""
    content: str = ""


class NotesReply(msgspec.Struct, frozen=True):
    """What a consolidation must answer; other keys are welcome and ignored."""

    appendix_notes: str | tuple[str | SpelledNote, ...]


class RefusedNote(msgspec.Struct, frozen=True, kw_only=True):
    """A reminder that may not enter the document, and why."""

    note: str
    objection: Objection


class Reminders(msgspec.Struct, frozen=True, kw_only=True):
    """What a step's reminders come to: all of the document, which are new, which were refused."""

    all: tuple[str, ...] = ()
    added: tuple[str, ...] = ()
    refused: tuple[RefusedNote, ...] = ()
    consolidated: int | None = None


def noted(skill: Skill) -> tuple[str, ...]:
    """Return the reminders that a document has."""
    content = region_content(skill, Region.APPENDIX)
    lines = () if content is None else (line.strip() for line in content.split("\n"))
    return tuple(_unmarked(line) for line in lines if line and not _TITLE.match(line))


def with_notes(skill: Skill, notes: Iterable[str]) -> Skill:
    """Return the document with exactly these reminders."""
    bullets = "\n".join(f"- {note}" for note in notes)
    return with_region(skill, Region.APPENDIX, f"{_HEADING}\n\n{bullets}" if bullets else "")


def gathered(skill: Skill, proposed: Iterable[str]) -> Reminders:
    """Return what the document's reminders become: each once, the old ones first, in the order proposed."""
    known = dict[str, str]()
    for note in noted(skill):
        known.setdefault(_sameness(note), note)
    old = len(known)
    refused = dict[str, RefusedNote]()
    for note in (_one_line(note) for note in proposed):
        if not _sameness(note) or _sameness(note) in known:
            continue
        why = objection(note)
        if why is None:
            known[_sameness(note)] = note
        else:
            refused.setdefault(_sameness(note), RefusedNote(note=note, objection=why))
    notes = tuple(known.values())
    return Reminders(all=notes, added=notes[old:], refused=tuple(refused.values()))


async def consolidated(author: Author, skill: Skill, reminders: Reminders) -> Reminders:
    """Ask for fewer reminders; only a reply with some, and fewer, takes the place of what there is."""
    listed = "\n".join(f"- {note}" for note in reminders.all)
    parts = [f"# The skill\n\n<skill>\n{skill.rendered}\n</skill>", f"# The reminders\n\n{listed}"]
    reply = await author.ask_one("notes", NotesReply, author.text("notes"), parts)
    if isinstance(reply, Unusable):
        return reminders
    fewer = gathered(Skill.blank(), spelled(reply.appendix_notes)).all
    if not 0 < len(fewer) < len(reminders.all):
        return reminders
    return msgspec.structs.replace(reminders, all=fewer, consolidated=len(fewer))


def _sameness(note: str) -> str:
    """Two reminders are the same when they differ in case, spacing or closing punctuation only."""
    return " ".join(note.split()).rstrip(" .;:,_-").casefold()


def _one_line(note: str) -> str:
    return _unmarked(" ".join(strip_markers(note).split()))


def _unmarked(line: str) -> str:
    return next((line.removeprefix(bullet).strip() for bullet in _BULLETS if line.startswith(bullet)), line)


def spelled(notes: str | Iterable[str | SpelledNote]) -> Iterator[str]:
    """Yield the reminders of a reply, in whichever of the accepted forms they stand."""
    for note in (notes,) if isinstance(notes, str) else notes:
        yield note if isinstance(note, str) else note.note or note.content
