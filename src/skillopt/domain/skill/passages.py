"""The smallest pieces of a document that can be taken out and leave a document: list items, sentences on lines of
their own, paragraphs, tables, code. Owns where they begin and end, and how one is taken out. Headings, front matter
and protected regions are no passages; a heading goes with the last passage under it."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

import msgspec

from skillopt.domain.skill.document import SKILL_FILE, Skill
from skillopt.domain.skill.markdown.lines import Line, lines

_ITEM = re.compile(r"([ \t]*)(?:[-*+]|\d{1,9}[.)])(?:[ \t]|$)")
_FENCE = re.compile(r"[ \t]*(```+|~~~+)")
_UNDERLINE = re.compile(r" {0,3}(?:=+|-+|\*{3,}|_{3,})[ \t]*")
_SENTENCE_END = re.compile(r"""[.!?]["'”’)\]*_`]*[ \t]*$""")


class Passage(msgspec.Struct, frozen=True, kw_only=True):
    """A piece of SKILL.md: its lines, 1-based and inclusive, and their text."""

    first_line: int
    last_line: int
    text: str


def passages(skill: Skill) -> tuple[Passage, ...]:
    """Return the passages of SKILL.md in order; none overlap."""
    every = lines(skill.text)
    return tuple(
        Passage(first_line=first, last_line=last, text="\n".join(line.text for line in every[first - 1 : last]))
        for first, last in ((group[0].number, group[-1].number) for group in _groups(skill))
    )


def without(skill: Skill, taken: Collection[Passage]) -> Skill:
    """Return the skill without these passages, without headings that are left empty, and without doubled gaps."""
    gone = {number for passage in taken for number in range(passage.first_line, passage.last_line + 1)}
    every = lines(skill.text)
    gone |= set(_emptied_headings(skill, every, gone))
    kept: list[Line] = []
    gap = False
    for line in every:
        if line.number in gone:
            gap = True
        elif not (gap and _blank(line) and (not kept or _blank(kept[-1]))):
            gap = False
            kept.append(line)
    while gap and kept and _blank(kept[-1]):
        kept.pop()
    shorter = skill.with_file(SKILL_FILE, "".join(skill.text[line.start : line.after] for line in kept))
    # what is left must not read as front matter that the document never had
    return shorter if shorter.front_matter == skill.front_matter else skill


def _emptied_headings(skill: Skill, every: tuple[Line, ...], gone: Collection[int]) -> Iterator[int]:
    headings = {section.start for section in skill.sections()}
    for section in skill.sections():
        under = [line for line in every if section.start < line.number <= section.end]
        content = [line for line in under if not _blank(line) and line.number not in headings]
        if content and all(line.number in gone for line in content):
            yield from (number for number in headings if section.start <= number <= section.end)


def _groups(skill: Skill) -> Iterator[list[Line]]:
    """Yield the lines of each passage."""
    body = len(skill.front_matter)
    owned = {number for block in skill.blocks for number in range(block.first_line, block.last_line + 1)}
    headings = {section.start for section in skill.sections()}
    reader = _Reader()
    for line in lines(skill.text):
        if line.start < body or line.number in owned or line.number in headings:
            yield from reader.close()
        else:
            yield from reader.read(line)
    yield from reader.close()


class _Reader:
    """Gathers lines into passages, one line after the other."""

    def __init__(self) -> None:
        self._open: list[Line] = []
        self._indent: int | None = None
        self._fence = ""
        self._gap = False

    def read(self, line: Line) -> Iterator[list[Line]]:
        """Take one more line; yield what it closes."""
        if self._fence:
            self._open.append(line)
            if line.text.strip().startswith(self._fence) and not line.text.strip().strip(self._fence[0]):
                self._fence = ""
        elif _blank(line):
            self._gap = True
        elif _UNDERLINE.fullmatch(line.text):
            # the line above an underline is a heading, not a passage
            titled = bool(self._open) and not self._gap and self._indent is None
            closed = list(self.close())
            yield from [] if titled else closed
        else:
            if self._begins(line):
                yield from self.close()
                item = _ITEM.match(line.text)
                self._indent = None if item is None else len(item[1])
            self._open.append(line)
            self._gap = False
            fence = _FENCE.match(line.text)
            self._fence = "" if fence is None else fence[1]

    def close(self) -> Iterator[list[Line]]:
        """Yield the open passage, if there is one."""
        if self._open:
            yield self._open
        self._open, self._indent, self._fence, self._gap = [], None, "", False

    def _begins(self, line: Line) -> bool:
        """Say whether a line that is not blank begins another passage."""
        if not self._open:
            return True
        item = _ITEM.match(line.text)
        indent = len(line.text) - len(line.text.lstrip())
        if self._indent is not None:
            return indent <= self._indent and (self._gap or item is not None)
        # a sentence that ends with its line is one by itself, unless the next line goes on in lower case
        ended = _SENTENCE_END.search(self._open[-1].text) is not None and not line.text.lstrip()[:1].islower()
        return item is not None or self._gap or ended


def _blank(line: Line) -> bool:
    return not line.text.strip()
