from __future__ import annotations

import itertools
from fractions import Fraction

from skillopt.domain.evidence.convolution import Piece, Side, p_value
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


def test_the_tail_is_what_counting_every_way_gives() -> None:
    for seed in range(300):
        draw = dice("pieces", seed)
        pieces = []
        for _ in range(draw.randrange(1, 6)):
            sides = tuple(
                Side(weight=draw.randrange(1, 40), score=score)
                for score in draw.sample(range(12), draw.randrange(1, 5))
            )
            least = min(side.score for side in sides)
            sides = tuple(Side(weight=side.weight, score=side.score - least) for side in sides)
            pieces.append(Piece(sides=sides, observed=draw.choice(sides).score))
        assert p_value(pieces) == float(brute(pieces)), f"seed {seed}"


def test_nothing_observed_is_no_evidence() -> None:
    sides = (Side(weight=1, score=0), Side(weight=1, score=3))
    assert p_value([]) == 1.0
    assert p_value([Piece(sides=sides, observed=0)]) == 1.0
    assert p_value([Piece(sides=sides, observed=3)]) == 0.5
    assert p_value([Piece(sides=sides, observed=3)] * 200) == 0.5**200
