from __future__ import annotations

import itertools
from collections import Counter
from fractions import Fraction

from skillopt.domain.evidence.convolution import Piece, Side, bound, p_value
from skillopt.domain.seeds import dice


def brute(pieces: list[Piece]) -> Fraction:
    """Go through every way in which the tasks may have fallen."""
    observed = sum(piece.observed for piece in pieces)
    upper = everything = 0
    for fallen in itertools.product(*(piece.sides for piece in pieces)):
        ways = 1
        for side in fallen:
            ways *= side.weight
        everything += ways
        upper += ways * (sum(side.score for side in fallen) >= observed)
    return Fraction(upper, everything)


def drawn(seed: int, most: int) -> list[Piece]:
    draw = dice("pieces", seed)
    pieces = []
    for _ in range(draw.randrange(1, most)):
        sides = tuple(
            Side(weight=draw.randrange(1, 40), score=score) for score in draw.sample(range(12), draw.randrange(1, 5))
        )
        least = min(side.score for side in sides)
        sides = tuple(Side(weight=side.weight, score=side.score - least) for side in sides)
        pieces.append(Piece(sides=sides, observed=draw.choice(sides).score))
    return pieces


def test_the_tail_is_what_counting_every_way_gives() -> None:
    for seed in range(300):
        pieces = drawn(seed, 6)
        assert p_value(pieces) == float(brute(pieces)), f"seed {seed}"


def test_the_bound_is_never_below_the_exact_chance() -> None:
    for seed in range(300):
        pieces = [piece for piece in drawn(seed, 60) if len(piece.sides) > 1]
        kinds = Counter(piece.sides for piece in pieces)
        observed = sum(piece.observed for piece in pieces)
        assert bound(kinds, observed) >= p_value(pieces) * (1 - 1e-12), f"seed {seed}"


def test_where_the_exact_chance_takes_too_long_the_bound_stands_in_for_it() -> None:
    sides = (Side(weight=3, score=0), Side(weight=1, score=11))
    many = [Piece(sides=sides, observed=11 if place % 2 else 0) for place in range(4000)]
    assert p_value(many) == bound(Counter({sides: 4000}), 22_000) < 1e-200
    even = [Piece(sides=sides, observed=11 if place % 4 == 0 else 0) for place in range(4000)]
    assert p_value(even) > 0.9


def test_nothing_observed_is_no_evidence() -> None:
    sides = (Side(weight=1, score=0), Side(weight=1, score=3))
    assert p_value([]) == 1.0
    assert p_value([Piece(sides=sides, observed=0)]) == 1.0
    assert p_value([Piece(sides=sides, observed=3)]) == 0.5
    assert p_value([Piece(sides=sides, observed=3)] * 200) == 0.5**200
