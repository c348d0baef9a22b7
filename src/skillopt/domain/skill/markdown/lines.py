"""Where the lines of a text begin and end, and which line ending it uses.

Owns: the three line endings a Markdown file may have (LF, CRLF, CR), kept exactly as found. Knows nothing of skills.
"""

from __future__ import annotations

import re
from typing import NamedTuple

BOM = "\ufeff"
_LINE = re.compile(r"([^\r\n]*)(\r\n|\n|\r|\Z)")
_BREAK = re.compile(r"\r\n|\n|\r")
# A whole line break only: the second half of a CRLF is not one.
_WHOLE_BREAK = r"(?:\r\n|(?<!\r)\n|\r(?!\n))"


class Line(NamedTuple):
    """One line: its 1-based number, its text, and the offsets of its start, its end and the start of the next line."""

    number: int
    text: str
    start: int
    end: int
    after: int


def lines(text: str) -> tuple[Line, ...]:
    """Return every line of a text; a final line break does not begin another line."""
    found = []
    for number, match in enumerate(_LINE.finditer(text), start=1):
        if match.end() > match.start():
            found.append(Line(number, match[1], match.start(), match.end(1), match.end()))
    return tuple(found)


def line_number(text: str, offset: int) -> int:
    """Return the 1-based number of the line that holds an offset."""
    return 1 + sum(1 for _ in _BREAK.finditer(text, 0, offset))


def dominant_ending(text: str) -> str:
    """Return the line ending a text uses most; LF when it has none or in a tie."""
    pairs = text.count("\r\n")
    counts = {"\n": text.count("\n") - pairs, "\r\n": pairs, "\r": text.count("\r") - pairs}
    return max(counts, key=lambda ending: counts[ending])


def with_endings(text: str, ending: str) -> str:
    """Return the text with every line break written as `ending`."""
    return _BREAK.sub(lambda _: ending, text)


def gap_after(text: str, ending: str) -> str:
    """Return what must follow `text` so that the next character begins a line with one blank line above it."""
    if text in {"", BOM}:
        return ""
    space = text[len(text.rstrip(" \t\r\n")) :]
    breaks = len(_BREAK.findall(space))
    inside_a_line = not text.endswith(("\r", "\n"))
    return ending * max(2 - breaks, 1 if inside_a_line else 0)


def occurrences(text: str, target: str, most: int) -> tuple[tuple[int, int], ...]:
    """Return the first `most` places of a target, overlapping ones too; any line ending matches any other."""
    pattern = re.compile(_WHOLE_BREAK.join(re.escape(piece) for piece in _BREAK.split(target)))
    found: list[tuple[int, int]] = []
    match = pattern.search(text)
    while match is not None and len(found) < most:
        found.append(match.span())
        match = pattern.search(text, match.start() + 1)
    return tuple(found)
