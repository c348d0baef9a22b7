"""The exact chance that a sum of independent whole scores is at least as large as the one observed.
Owns the arithmetic: whole numbers only, so that no rounding stands between a p-value and its threshold."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable

import msgspec


class Side(msgspec.Struct, frozen=True, kw_only=True):
    """One way a task may have fallen: how many ways it stands for, and its score (0 or more)."""

    weight: int
    score: int


class Piece(msgspec.Struct, frozen=True, kw_only=True):
    """All ways of one task, and the score that was observed."""

    sides: tuple[Side, ...]
    observed: int


def p_value(pieces: Iterable[Piece]) -> float:
    """Return the chance of a total at least as large as the observed one, each task falling by its weights.

    The distribution of the total is one large integer, a slot of bits for each score: adding a task multiplies it by a
    small one. Slots are wide enough for all ways together, so the sum of the upper slots is a remainder.
    """
    telling = [piece for piece in pieces if len(piece.sides) > 1]
    observed = sum(piece.observed for piece in telling)
    if not observed:
        return 1.0
    kinds = Counter(piece.sides for piece in telling)
    ways = math.prod([_ways(sides) for sides, count in kinds.items() for _ in range(count)])
    slot = ways.bit_length() + 1
    spread = 1
    for sides, count in kinds.items():
        for _ in range(count):
            spread = sum((spread * side.weight) << (slot * side.score) for side in sides)
    tail = (spread >> (slot * observed)) % ((1 << slot) - 1)
    return tail / ways


def _ways(sides: tuple[Side, ...]) -> int:
    return sum(side.weight for side in sides)
