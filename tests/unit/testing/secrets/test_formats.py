"""Recipes: fields become letters of their alphabet, the rest stays."""

from __future__ import annotations

import re

from skillopt.domain.seeds import dice
from skillopt.testing.secrets.formats import FORMATS, drawn, from_recipe, key_block, web_token


def test_fields_are_drawn_and_literals_stay() -> None:
    assert re.fullmatch(r"ab_[0-9a-f]{6}-\d\.x", from_recipe("ab_{hex:6}-{digit}.x", dice(1)))


def test_every_format_can_be_drawn() -> None:
    values = {kind: from_recipe(recipe, dice(kind)) for kind, recipe in FORMATS.items()}
    assert all(len(value) >= 16 for value in values.values())
    assert not any("{" in value for value in values.values())


def test_letters_come_from_the_alphabet() -> None:
    assert set(drawn("ab", 50, dice(2))) == {"a", "b"}


def test_a_web_token_has_three_parts() -> None:
    assert re.fullmatch(r"eyJ[\w-]+\.eyJ[\w-]+\.[\w-]{43}", web_token(dice(3)))


def test_a_key_block_begins_and_ends() -> None:
    first, *_, last = key_block(dice(4)).splitlines()
    assert first.replace("BEGIN", "END") == last
