"""The price table: exact names only, and no price that cannot be right."""

from __future__ import annotations

import pytest

from skillopt.backends.providers.prices import PRICES, PRICES_AS_OF, price_of
from skillopt.domain.usage import Price


def test_a_known_model_has_its_price() -> None:
    assert price_of("gpt-4o-mini") == Price(input=0.15, cached=0.075, output=0.60)


@pytest.mark.parametrize("name", ["", "gpt-4o-mini ", "GPT-4o-mini", "gpt-4o-2024-05-13", "openai/gpt-4o", "gpt"])
def test_a_similar_name_has_no_price(name: str) -> None:
    assert price_of(name) is None


def test_every_price_is_plausible_and_dated() -> None:
    assert PRICES_AS_OF.startswith("20")
    for name, price in PRICES.items():
        assert price.cached is not None, name
        assert 0 < price.cached <= price.input < price.output, name
