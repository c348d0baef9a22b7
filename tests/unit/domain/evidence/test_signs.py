from __future__ import annotations

import itertools
import math
from collections.abc import Collection

import pytest

from skillopt.domain.evidence.course import Wave
from skillopt.domain.evidence.signs import boundary, sign_p, signs
from skillopt.domain.evidence.terms import Terms
from skillopt.domain.seeds import dice
from tests.unit.domain.evidence.flow import calls, followed

FORTY = Terms(order=tuple(range(40)), trials=1)


def outcome(wins: set[int], losses: Collection[int] = (), terms: Terms = FORTY) -> tuple[str, int]:
    def answer(place: int, wave: Wave) -> float:
        return float(place in losses if wave.side == "incumbent" else place in wins)

    finding, waves = followed(signs(terms), answer)
    return finding.kind, calls(waves)


def test_a_clear_win_is_accepted_after_a_wave() -> None:
    assert outcome(set(range(40))) == ("accept", 8)
    assert outcome(set(range(0, 40, 3))) == ("accept", 16)
    assert outcome(set(), set(range(40))) == ("reject", 8)


def test_on_all_of_val_one_win_without_a_loss_is_enough_and_a_tie_is_not() -> None:
    assert outcome({39}) == ("accept", 40)
    assert outcome(set()) == ("reject", 40)
    assert outcome({3, 20}, {39, 38}) == ("reject", 40)
    assert outcome({3, 11, 19, 27, 35, 36}, {39}) == ("accept", 40)


@pytest.mark.parametrize("alpha", [0.01, 0.05, 0.2])
def test_a_fair_coin_crosses_the_boundary_no_more_often_than_stated(alpha: float) -> None:
    """By counting all ways: at each number of throws, those that have not crossed yet."""
    standing, crossed = {(0, 0): 1.0}, 0.0
    for _ in range(80):
        following: dict[tuple[int, int], float] = {}
        for (wins, losses), chance in standing.items():
            for place in ((wins + 1, losses), (wins, losses + 1)):
                if place[0] >= boundary(place[1], alpha):
                    crossed += chance / 2
                else:
                    following[place] = following.get(place, 0.0) + chance / 2
        standing = following
    assert 0.6 * alpha < crossed <= alpha


def test_the_order_is_the_chance_if_no_more_was_won_than_lost_an_early_accept_is_rare() -> None:
    accepted = 0
    for seed in range(2000):
        order = list(range(80))
        dice("order", seed).shuffle(order)
        terms = Terms(order=tuple(order), trials=1)
        kind, asked = outcome(set(range(12)), set(range(12, 24)), terms)
        accepted += kind == "accept" and asked < 80
    assert accepted / 2000 <= 0.05


def test_the_sign_test_counts() -> None:
    for wins, losses in itertools.product(range(7), repeat=2):
        total = wins + losses
        ways = sum(math.comb(total, lost) for lost in range(losses + 1))
        assert sign_p(wins, losses) == ways / 2**total


def test_a_failed_side_leaves_its_pair_out() -> None:
    finding, _ = followed(signs(FORTY), lambda place, wave: None if place < 39 and place % 2 else 1.0)
    assert (finding.kind, finding.wins, finding.losses) == ("reject", 0, 0)
    assert finding.effect is not None
    assert finding.effect.tasks == 21
