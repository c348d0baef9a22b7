"""Mends the markers of a skill document on request: one block for each region, and no marker without its other half.

Owns: what becomes of a stray marker. Only markers go, only repeated blocks move: no word is lost. Knows text only.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

import msgspec

from skillopt.domain.skill.markdown.lines import BOM, dominant_ending, lines
from skillopt.domain.skill.markdown.markers import Marker, Region, markers, strip_markers


class Mended(msgspec.Struct, frozen=True, kw_only=True):
    """The document with sound markers, and what was done to them."""

    text: str
    notes: tuple[str, ...]


class _Piece(msgspec.Struct, frozen=True, kw_only=True):
    """A stretch of the document: a region with its marker lines, or plain text."""

    text: str
    region: Region | None = None
    opening: str = ""
    closing: str = ""


def mend_markers(text: str) -> Mended:
    """Return the document with every region once and whole; one that is sound already comes back as it was."""
    found = list(markers(text))
    pairs = _pairs(found)
    kept = {each.line.number for pair in pairs for each in pair}
    stray = [each for each in found if each.line.number not in kept]
    pieces = list(_pieces(text, pairs, stray))
    notes = [_stray_note(each) for each in stray]
    joined = _joined(pieces, dominant_ending(text), notes)
    return Mended(text="".join(joined), notes=tuple(notes))


def _pairs(found: Sequence[Marker]) -> list[tuple[Marker, Marker]]:
    """Return the markers that open and close a region with no other marker between them."""
    alone = [each for each in found if each.alone]
    return [
        (first, second)
        for first, second in pairwise(alone)
        if first.opens and not second.opens and first.region is second.region
    ]


def _pieces(text: str, pairs: Sequence[tuple[Marker, Marker]], stray: Sequence[Marker]) -> Iterator[_Piece]:
    """Cut the document at its regions; stray markers leave the text they stood in."""
    numbers = {each.line.number for each in stray}
    start = 0
    for first, second in pairs:
        yield _Piece(text=_without_strays(text, start, first.line.start, numbers))
        yield _Piece(
            text=_without_strays(text, first.line.after, second.line.start, numbers),
            region=first.region,
            opening=text[first.line.start : first.line.after],
            closing=text[second.line.start : second.line.after],
        )
        start = second.line.after
    yield _Piece(text=_without_strays(text, start, len(text), numbers))


def _without_strays(text: str, start: int, end: int, numbers: set[int]) -> str:
    """Return a stretch of the document without stray markers; a line that held nothing else goes as a whole."""
    left = []
    for line in lines(text):
        if not start <= line.start < end:
            continue
        raw = text[line.start : line.after]
        if line.number in numbers:
            words = strip_markers(raw)
            raw = words if words.strip(f" \t\r\n{BOM}") else BOM * words.startswith(BOM)
        left.append(raw)
    return "".join(left)


def _joined(pieces: Sequence[_Piece], ending: str, notes: list[str]) -> Iterator[str]:
    """Put the document together again, all blocks of a region in the place of its first."""
    contents: dict[Region, list[str]] = {}
    for piece in pieces:
        if piece.region is not None:
            contents.setdefault(piece.region, []).append(piece.text)
    notes += [f"{len(each)} {region.title} regions became one" for region, each in contents.items() if len(each) > 1]
    for piece in pieces:
        if piece.region is None:
            yield piece.text
        elif piece.region in contents:
            every = contents.pop(piece.region)
            yield piece.opening
            yield every[0] if len(every) == 1 else _together(every, ending)
            yield piece.closing


def _together(contents: Sequence[str], ending: str) -> str:
    """Return the contents of several blocks, each once, with a blank line between them."""
    said = dict.fromkeys(content.strip() for content in contents if content.strip())
    return f"{ending}{ending}".join(said) + ending if said else ""


def _stray_note(marker: Marker) -> str:
    edge = "start" if marker.opens else "end"
    return f"line {marker.line.number}: a stray {edge} of the {marker.region.title} region was taken out"
