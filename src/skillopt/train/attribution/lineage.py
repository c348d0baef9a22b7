"""Which lines of a text were there before: the difference between two texts, line by line.
Owns the comparison; refuses to know who changed the text and why."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import SequenceMatcher


def carried(before: Sequence[str], after: Sequence[str]) -> tuple[int | None, ...]:
    """Return for each line of `after` the index of the line of `before` that it is; None for a new line.

    Lines keep their order, as in any diff: one that moved past others counts as new.
    """
    found: list[int | None] = [None] * len(after)
    for block in SequenceMatcher(None, before, after, autojunk=False).get_matching_blocks():
        for offset in range(block.size):
            found[block.b + offset] = block.a + offset
    return tuple(found)
