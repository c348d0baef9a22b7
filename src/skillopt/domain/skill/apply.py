"""How edits become a candidate: exactly, or not at all.

Owns: where each operation acts, and the last look that nothing with another owner moved. Total: any edit is applied
or refused with a reason, none raises. Refuses to guess: a target must be there, once.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from skillopt.domain.errors import UsageError
from skillopt.domain.skill.content import objection
from skillopt.domain.skill.document import SKILL_FILE, Skill
from skillopt.domain.skill.edits import Applied, Candidate, Edit, EditOp, Objection, Patch, Refusal, Refused
from skillopt.domain.skill.markdown.front_matter import field, head, without_field
from skillopt.domain.skill.markdown.lines import (
    BOM,
    dominant_ending,
    gap_after,
    line_number,
    lines,
    occurrences,
    with_endings,
)
from skillopt.domain.skill.markdown.markers import Block, parse_regions

LONGEST_DESCRIPTION = 1024
# Files that an agent would run rather than read.
_PROGRAM_ENDINGS = (
    *(".sh", ".bash", ".zsh", ".fish", ".ps1", ".psm1", ".bat", ".cmd", ".vbs", ".applescript"),
    *(".py", ".js", ".mjs", ".cjs", ".ts", ".rb", ".pl", ".php", ".lua", ".exe", ".com", ".jar"),
)


class _Page(msgspec.Struct, frozen=True, kw_only=True):
    """One file as an edit sees it: its text, what stands before the body, and the regions."""

    file: str
    text: str
    head: str
    blocks: tuple[Block, ...]
    ending: str


class _Splice(msgspec.Struct, frozen=True, kw_only=True):
    """Replace `start:end` by `text`; the edit's own words begin `lead` characters into it."""

    start: int
    end: int
    text: str
    lead: int = 0

    def on(self, text: str) -> str:
        return text[: self.start] + self.text + text[self.end :]

    def moved(self, offset: int) -> int:
        """Return where a place of the old text is in the new one."""
        if offset >= self.end:
            return offset + len(self.text) - (self.end - self.start)
        return min(offset, self.start)


class _Mark(msgspec.Struct, frozen=True, kw_only=True):
    """An applied edit and the offset of its words, kept true while later edits move them."""

    edit: Edit
    offset: int

    def after(self, file: str, splice: _Splice) -> _Mark:
        return _Mark(edit=self.edit, offset=splice.moved(self.offset)) if self.edit.file == file else self


def apply(
    skill: Skill, patch: Patch | Iterable[Edit], *, edit_scripts: bool = False, edit_description: bool = False
) -> Candidate:
    """Apply edits in order; each one is carried out exactly or refused with a reason, whatever it says."""
    edits = patch.edits if isinstance(patch, Patch) else tuple(patch)
    current, marks, refused = skill, list[_Mark](), list[Refused]()
    for edit in edits:
        step = _attempt(current, edit, edit_scripts=edit_scripts, edit_description=edit_description)
        if isinstance(step, Objection):
            refused.append(Refused(edit=edit, reason=step.reason, detail=step.detail))
        else:
            marks = [mark.after(edit.file, step) for mark in marks]
            marks.append(_Mark(edit=edit, offset=step.start + step.lead))
            current = current.with_file(edit.file, step.on(_text(current, edit.file)))
    applied = tuple(
        Applied(edit=mark.edit, file=mark.edit.file, line=line_number(_text(current, mark.edit.file), mark.offset))
        for mark in marks
    )
    return Candidate(skill=current, parent_digest=skill.rendered_digest, applied=applied, refused=tuple(refused))


def is_program(path: str, text: str) -> bool:
    """Tell whether an agent would run this file of a skill rather than read it."""
    return "scripts" in path.split("/")[:-1] or path.lower().endswith(_PROGRAM_ENDINGS) or text.startswith("#!")


def _text(skill: Skill, path: str) -> str:
    return skill.file(path) or ""


def _attempt(skill: Skill, edit: Edit, *, edit_scripts: bool, edit_description: bool) -> _Splice | Objection:
    refusal = _forbidden_file(skill, edit.file, edit_scripts=edit_scripts) or _forbidden_words(edit)
    if refusal is not None:
        return refusal
    page = _page(skill, edit.file)
    content = with_endings(edit.content.strip(), page.ending)
    if edit.op is EditOp.APPEND:
        splice = _append(page, content)
    else:
        found = _find(page, edit.target, edit_description=edit_description)
        if isinstance(found, Objection):
            return found
        splice = _at_target(page, edit.op, found, content)
    return _unharmed(page, splice, edit_description=edit_description) or splice


def _forbidden_file(skill: Skill, path: str, *, edit_scripts: bool) -> Objection | None:
    text = skill.file(path)
    if text is None:
        names = ", ".join(file.path for file in skill.files)
        return _refuse(Refusal.UNKNOWN_FILE, f"The skill has no file {path!r}; it has {names}.")
    if path != SKILL_FILE and not edit_scripts and is_program(path, text):
        return _refuse(Refusal.READ_ONLY_FILE, f"{path} is a program and edit_scripts is off; edit the text instead.")
    return None


def _forbidden_words(edit: Edit) -> Objection | None:
    if edit.op is EditOp.DELETE:
        return None
    if not edit.content.strip() and edit.op is not EditOp.REPLACE:
        return _refuse(Refusal.EMPTY_CONTENT, f"{edit.op.value} needs content; use delete to remove text.")
    return objection(edit.content.strip())


def _page(skill: Skill, path: str) -> _Page:
    text = _text(skill, path)
    if path == SKILL_FILE:
        return _Page(file=path, text=text, head=head(text), blocks=skill.blocks, ending=dominant_ending(text))
    # Front matter and regions mean something in SKILL.md only.
    mark = BOM if text.startswith(BOM) else ""
    return _Page(file=path, text=text, head=mark, blocks=(), ending=dominant_ending(text))


def _find(page: _Page, target: str, *, edit_description: bool) -> tuple[int, int] | Objection:
    if not target.strip():
        return _refuse(Refusal.TARGET_MISSING, "The edit quotes no text of the document; quote the line it acts on.")
    places = occurrences(page.text, target, most=5)
    if not places:
        return _refuse(Refusal.TARGET_NOT_FOUND, f"The target is not in {page.file}; quote it exactly as it stands.")
    if len(places) > 1:
        where = ", ".join(str(line_number(page.text, start)) for start, _ in places)
        return _refuse(Refusal.TARGET_AMBIGUOUS, f"The target stands more than once (lines {where}); quote more of it.")
    start, end = places[0]
    if start < len(page.head) and not edit_description:
        return _refuse(Refusal.FRONT_MATTER, "The target touches the front matter, which stays as it is.")
    for block in page.blocks:
        if start < block.end and end > block.start:
            return _touches(block)
    return places[0]


def _append(page: _Page, content: str) -> _Splice:
    place = page.blocks[0].start if page.blocks else len(page.text)
    before = gap_after(page.text[:place], page.ending)
    after = page.ending * 2 if page.blocks else page.ending
    return _Splice(start=place, end=place, text=before + content + after, lead=len(before))


def _at_target(page: _Page, op: EditOp, found: tuple[int, int], content: str) -> _Splice:
    start, end = found
    matched = page.text[start:end]
    if op is EditOp.INSERT_AFTER:
        last = start + len(matched.rstrip()) - 1
        place = next(line.end for line in lines(page.text) if last < line.after)
        return _Splice(start=place, end=place, text=page.ending + content, lead=len(page.ending))
    if op is EditOp.REPLACE and content:
        # The content was trimmed, so the white space around the target stays where it is.
        inner = matched.strip()
        start += matched.index(inner)
        return _Splice(start=start, end=start + len(inner), text=content)
    mid_line = start > len(page.head) and page.text[start - 1] not in "\r\n"
    if mid_line and end < len(page.text) and matched.endswith(("\r", "\n")):
        # Taking the line break too would glue the next line to what is left of this one.
        end -= 2 if matched.endswith("\r\n") else 1
    return _Splice(start=start, end=end, text="")


def _unharmed(page: _Page, splice: _Splice, *, edit_description: bool) -> Objection | None:
    """Return what the edit would damage beyond its own span: letters on both sides may join into something new."""
    text = splice.on(page.text)
    if text == page.text:
        return _refuse(Refusal.NO_CHANGE, "The edit leaves the document as it is.")
    if text.count("<!--") > page.text.count("<!--"):
        return _refuse(Refusal.HTML_COMMENT, "With the text around it the edit would form an HTML comment.")
    if page.file != SKILL_FILE:
        return None
    now = head(text)
    spilled = splice.start < len(page.head) and text[len(now) :] != page.text[len(page.head) :]
    if spilled or not _keeps_head(page.head, now, edit_description=edit_description):
        return _refuse(Refusal.FRONT_MATTER, "The edit would change the front matter, which stays as it is.")
    return _unharmed_regions(page, text)


def _unharmed_regions(page: _Page, text: str) -> Objection | None:
    try:
        blocks = parse_regions(text)
    except UsageError:
        return _refuse(Refusal.PROTECTED_REGION, "The edit would move a marker of a protected region off its line.")
    before = [block.raw(page.text) for block in page.blocks]
    if before != [block.raw(text) for block in blocks]:
        return _refuse(Refusal.PROTECTED_REGION, "The edit would change a protected region.")
    return None


def _keeps_head(before: str, after: str, *, edit_description: bool) -> bool:
    # A closing fence that ends the file has no line break until something follows it.
    if after.rstrip("\r\n") == before.rstrip("\r\n"):
        return True
    if not edit_description or without_field(after, "description") != without_field(before, "description"):
        return False
    description = field(after, "description")
    return (
        description is not None
        and 0 < len(description.value.strip()) <= LONGEST_DESCRIPTION
        and not description.needs_quotes
    )


def _touches(block: Block) -> Objection:
    where = f"lines {block.first_line}-{block.last_line}"
    return _refuse(
        Refusal.PROTECTED_REGION, f"The target touches the {block.region.title} region ({where}), which has its owner."
    )


def _refuse(reason: Refusal, detail: str) -> Objection:
    return Objection(reason=reason, detail=detail)
