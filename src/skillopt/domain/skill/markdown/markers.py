"""The protected regions of a skill document, and the comment lines that mark them.

Owns: the marker spellings and the rule that a marker stands alone on its line, inside code fences too. Refuses to
guess: a malformed marker is an error that names its line, never a deletion. Knows text only, not `Skill`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import Enum
from typing import NamedTuple

import msgspec

from skillopt.domain.errors import UsageError
from skillopt.domain.skill.markdown.lines import BOM, Line, lines


class Region(Enum):
    """A part of the document that only its owner writes."""

    SLOW_UPDATE = "SLOW_UPDATE_"
    APPENDIX = "APPENDIX_"
    LEARNED = "skillopt:learned "

    @property
    def start_marker(self) -> str:
        """Return the comment that opens the region, in the spelling we write."""
        return f"<!-- {self.value}START -->"

    @property
    def end_marker(self) -> str:
        """Return the comment that closes the region, in the spelling we write."""
        return f"<!-- {self.value}END -->"

    @property
    def title(self) -> str:
        """Return the region's name as used in messages."""
        return self.name.lower().replace("_", " ")


class Block(msgspec.Struct, frozen=True, kw_only=True):
    """One region as found: `start:end` covers both marker lines, `inner_start:inner_end` what lies between them."""

    region: Region
    start: int
    inner_start: int
    inner_end: int
    end: int
    after: int
    first_line: int
    last_line: int

    def raw(self, text: str) -> str:
        """Return the region exactly, marker lines included, without the line break after it."""
        return text[self.start : self.end]

    def inner(self, text: str) -> str:
        """Return exactly what lies between the marker lines."""
        return text[self.inner_start : self.inner_end]


_MARKER = re.compile(
    r"<!--[ \t]*(?:(?P<slow>SLOW_UPDATE_)|(?P<appendix>APPENDIX_)|(?:skillopt:learned|SKILLOPT-SLEEP:LEARNED)[ \t]+)"
    r"(?P<edge>START|END)[ \t]*-->",
    re.IGNORECASE | re.ASCII,
)
_FIX = "Correct the markers by hand, or let `skillopt doctor SKILL --fix-markers` do it."


def has_marker(text: str) -> bool:
    """Tell whether a text holds any marker, alone on its line or not."""
    return _MARKER.search(text) is not None


def strip_markers(text: str) -> str:
    """Return the text without any marker; a marker that appears only when another is removed goes as well."""
    count = 1
    while count:
        text, count = _MARKER.subn("", text)
    return text


class Marker(NamedTuple):
    """One line that holds a marker: which region it opens or closes, and whether it holds nothing else."""

    line: Line
    region: Region
    opens: bool
    alone: bool


def markers(text: str) -> Iterator[Marker]:
    """Yield the lines that hold a marker, misplaced ones too."""
    for line in lines(text):
        found = _MARKER.search(line.text)
        if found is not None:
            yield Marker(line, _region(found), found["edge"].upper() == "START", _stands_alone(line))


def parse_regions(text: str) -> tuple[Block, ...]:
    """Return the regions of a document in order; raise UsageError naming the line of any misplaced marker."""
    blocks: list[Block] = []
    opened: tuple[Region, Line] | None = None
    for line, region, opens, alone in markers(text):
        if not alone:
            raise _malformed(line, "the marker does not stand alone on its line")
        if opens:
            _check_start(region, line, opened, blocks)
            opened = (region, line)
        else:
            blocks.append(_close(region, line, opened))
            opened = None
    if opened is not None:
        raise _malformed(opened[1], f"the {opened[0].title} region is opened but never closed")
    return tuple(blocks)


def _stands_alone(line: Line) -> bool:
    text = line.text.removeprefix(BOM) if line.number == 1 else line.text
    return _MARKER.fullmatch(text.strip(" \t")) is not None


def _region(marker: re.Match[str]) -> Region:
    if marker["slow"]:
        return Region.SLOW_UPDATE
    return Region.APPENDIX if marker["appendix"] else Region.LEARNED


def _check_start(region: Region, line: Line, opened: tuple[Region, Line] | None, blocks: list[Block]) -> None:
    if opened is not None:
        raise _malformed(
            line, f"the {region.title} region begins inside the {opened[0].title} region of line {opened[1].number}"
        )
    for block in blocks:
        if block.region is region:
            raise _malformed(line, f"a second {region.title} region begins; the first is on line {block.first_line}")


def _close(region: Region, line: Line, opened: tuple[Region, Line] | None) -> Block:
    if opened is None:
        raise _malformed(line, f"the {region.title} region is closed but was not opened above")
    if opened[0] is not region:
        raise _malformed(
            line, f"the {region.title} region is closed inside the {opened[0].title} region of line {opened[1].number}"
        )
    first = opened[1]
    return Block(
        region=region,
        start=first.start + (1 if first.text.startswith(BOM) else 0),
        inner_start=first.after,
        inner_end=line.start,
        end=line.end,
        after=line.after,
        first_line=first.number,
        last_line=line.number,
    )


def _malformed(line: Line, what: str) -> UsageError:
    return UsageError(f"Line {line.number} of the skill document: {what}.", hint=_FIX)
