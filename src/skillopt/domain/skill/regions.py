"""How the owner of a protected region reads and writes it, and how regions survive a rewritten document.

Owns: the only way to change a region. What a model wrote loses every marker on the way in, and everything outside
the region stays byte for byte. Knows no edit.
"""

from __future__ import annotations

import re

from skillopt.domain.errors import UsageError
from skillopt.domain.skill.document import SKILL_FILE, Skill
from skillopt.domain.skill.markdown.front_matter import fields, front_matter, head
from skillopt.domain.skill.markdown.lines import BOM, dominant_ending, gap_after, with_endings
from skillopt.domain.skill.markdown.markers import Block, Region, parse_regions, strip_markers

_BLANK_LINES = re.compile(r"(?:[ \t]*(?:\r\n|\n|\r))*")


def region_content(skill: Skill, region: Region) -> str | None:
    """Return what a region holds, trimmed and with LF line ends; None when the document has no such region."""
    block = _find(skill, region)
    return None if block is None else with_endings(block.inner(skill.text).strip(), "\n")


def with_region(skill: Skill, region: Region, content: str | None) -> Skill:
    """Return the skill with a region's content replaced, added at the document's end, or (None) removed."""
    block = _find(skill, region)
    if content is None:
        return skill if block is None else _without_region(skill, block)
    clean = with_endings(strip_markers(content).strip(), "\n")
    if clean == region_content(skill, region):
        return skill
    text = skill.text
    ending = dominant_ending(text)
    inner = with_endings(clean, ending) + ending if clean else ""
    if block is not None:
        return skill.with_file(SKILL_FILE, text[: block.inner_start] + inner + text[block.inner_end :])
    start, end = region.start_marker + ending, region.end_marker + ending
    return skill.with_file(SKILL_FILE, text + gap_after(text, ending) + start + inner + end)


def restore_regions(before: Skill, text: str) -> Skill:
    """Return `before` with its body rewritten to `text`, its front matter and protected regions exactly as they were.

    Front matter, markers and copies of a protected region in `text` are dropped; the regions go to the end.
    """
    ending = dominant_ending(before.text)
    body = with_endings(_own_words(before, text), ending)
    kept = head(before.text)
    if kept.strip(BOM) and not kept.endswith(("\r", "\n")):
        kept += ending
    blank_lines = _BLANK_LINES.match(before.text, len(head(before.text)))
    result = kept + (blank_lines[0] if blank_lines else "") + body
    for block in before.blocks:
        result += gap_after(result, ending) + block.raw(before.text)
    if result.strip(BOM) and not result.endswith(("\r", "\n")):
        result += ending
    if not before.front_matter and front_matter(result):
        # Two rules across the page must not turn into the front matter the document never had.
        result = kept + ending + result[len(kept) :]
    return before.with_file(SKILL_FILE, result)


def _find(skill: Skill, region: Region) -> Block | None:
    return next((block for block in skill.blocks if block.region is region), None)


def _without_region(skill: Skill, block: Block) -> Skill:
    text = skill.text[: block.start] + skill.text[block.after :]
    if head(text) != head(skill.text):
        # The block kept two rules across the page from reading as front matter: empty it instead.
        return with_region(skill, block.region, "")
    return skill.with_file(SKILL_FILE, text)


def _own_words(before: Skill, text: str) -> str:
    """Return what is left of a model's document without anything that has another owner."""
    body = with_endings(_without_front_matter(before, text), "\n").removeprefix(BOM)
    marked = _readable_regions(body)
    owned = [block.region for block in before.blocks]
    for block in reversed(marked):
        if block.region in owned:
            body = body[: block.start] + body[block.after :]
    for region in owned:
        if all(block.region is not region for block in marked):
            body = _without_copy(body, region_content(before, region) or "")
    return re.sub(rf"\A[\s{BOM}]+", "", strip_markers(body)).rstrip()


def _without_front_matter(before: Skill, text: str) -> str:
    matter = front_matter(text)
    echoed = with_endings(matter, "\n").strip() == with_endings(before.front_matter, "\n").strip()
    prose = matter.strip(f"{BOM}-\r\n\t ") and not fields(matter)
    return text if prose and not echoed else text[len(matter) :]


def _readable_regions(text: str) -> tuple[Block, ...]:
    try:
        return parse_regions(text)
    except UsageError:
        return ()  # too muddled to tell the owner's words from the model's: only the markers will go


def _without_copy(text: str, content: str) -> str:
    """Drop a region's content where the model repeated it as plain text, having seen it without its markers."""
    if not content:
        return text
    copy = re.compile(rf"^[ \t]*{re.escape(content)}[ \t]*$\n?", re.MULTILINE)
    return copy.sub("", text)
