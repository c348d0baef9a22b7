from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillopt.domain.seeds import dice, shuffled


def test_dice_are_the_same_in_every_process() -> None:
    assert dice("gate", 1, None).random() == 0.8275374295147858


@pytest.mark.parametrize("other", [("1",), (1.0,), (True,), (None,), (1, None), ((1,),), ("1", "")])
def test_different_parts_give_different_dice(other: tuple[object, ...]) -> None:
    assert dice(1).random() != dice(*other).random()


def test_the_borders_between_parts_count() -> None:
    assert dice("ab", "c").random() != dice("a", "bc").random()


def test_dice_refuse_a_part_that_is_not_a_plain_value() -> None:
    with pytest.raises(TypeError):
        dice(object())


def test_shuffled_is_the_published_arithmetic() -> None:
    assert shuffled(range(10), 42) == (7, 3, 2, 8, 5, 6, 9, 4, 0, 1)


@given(st.lists(st.integers()), st.integers(min_value=0, max_value=2**40))
def test_shuffled_keeps_all_items_and_leaves_its_input_alone(items: list[int], seed: int) -> None:
    before = list(items)
    expected = list(items)
    random.Random(seed).shuffle(expected)
    assert shuffled(items, seed) == tuple(expected)
    assert items == before
