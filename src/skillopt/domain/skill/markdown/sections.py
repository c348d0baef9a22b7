"""The headings of a Markdown document and the lines each one covers.

Owns: which lines are headings; a `#` inside a code fence is none. Knows no other Markdown.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from skillopt.domain.skill.markdown.lines import lines

_HEADING = re.compile(r"\ufeff? {0,3}(#{1,6})(?:[ \t]+(.*))?")
_FENCE = re.compile(r" {0,3}(`{3,}(?=[^`]*$)|~{3,})(.*)")


class Section(NamedTuple):
    """A heading and its lines, 1-based and inclusive, up to the next heading of its level or a higher one."""

    level: int
    title: str
    start: int
    end: int


def sections(text: str, *, skip: int = 0) -> tuple[Section, ...]:
    """Return the sections of a text in order; headings before offset `skip` do not count."""
    found = lines(text)
    headings: list[tuple[int, str, int]] = []
    fence = ""
    for line in found:
        if line.start < skip:
            continue
        mark = _FENCE.fullmatch(line.text)
        heading = _HEADING.fullmatch(line.text)
        if mark is not None:
            fence = _next_fence(fence, mark)
        elif not fence and heading is not None:
            headings.append((len(heading[1]), _title(heading[2] or ""), line.number))
    last = found[-1].number if found else 0
    return tuple(_section(headings, index, last) for index in range(len(headings)))


def _title(written: str) -> str:
    title = written.strip()
    without_hashes = title.rstrip("#")
    closed = not without_hashes or without_hashes[-1] in " \t"
    return without_hashes.strip() if closed else title


def _next_fence(fence: str, mark: re.Match[str]) -> str:
    if not fence:
        return mark[1]
    closes = mark[1].startswith(fence) and not mark[2].strip()
    return "" if closes else fence


def _section(headings: list[tuple[int, str, int]], index: int, last: int) -> Section:
    level, title, start = headings[index]
    later = (line - 1 for other, _, line in headings[index + 1 :] if other <= level)
    return Section(level, title, start, next(later, last))
