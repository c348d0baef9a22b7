"""The chance that a sum of independent whole scores is at least as large as the one observed: exact, or bounded.
Owns the arithmetic: whole numbers, so that no rounding stands between a p-value and its threshold; where these would
grow too long to wait for, Chernoff's bound, which is never below the exact chance."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping

import msgspec

_LARGEST_BITS = 2_000_000  # of the number that holds a distribution: longer ones take too long to multiply
_TILTS = 60
_STEEPEST = 8.0  # scores are whole, so no sum needs a steeper tilt
_ROUNDING = 1e-9


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
    largest = sum(max(side.score for side in sides) * count for sides, count in kinds.items())
    if slot * largest > _LARGEST_BITS:
        return bound(kinds, observed)
    spread = 1
    for sides, count in kinds.items():
        for _ in range(count):
            spread = sum((spread * side.weight) << (slot * side.score) for side in sides)
    tail = (spread >> (slot * observed)) % ((1 << slot) - 1)
    return tail / ways


def bound(kinds: Mapping[tuple[Side, ...], int], observed: int) -> float:
    """Return Chernoff's bound of the same chance: its least tilted mean, found by thirds, since it is convex."""

    def tilted(tilt: float) -> float:
        return sum(count * _log_mean(sides, tilt) for sides, count in kinds.items()) - tilt * observed

    low, high = 0.0, _STEEPEST
    for _ in range(_TILTS):
        third = (high - low) / 3
        if tilted(low + third) < tilted(high - third):
            high -= third
        else:
            low += third
    return min(1.0, math.exp(min(0.0, tilted((low + high) / 2))) * (1 + _ROUNDING))


def _log_mean(sides: tuple[Side, ...], tilt: float) -> float:
    most = max(side.score for side in sides)
    total = sum(side.weight * math.exp(tilt * (side.score - most)) for side in sides)
    return math.log(total / _ways(sides)) + tilt * most


def _ways(sides: tuple[Side, ...]) -> int:
    return sum(side.weight for side in sides)
