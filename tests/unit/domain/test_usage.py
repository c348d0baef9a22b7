from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as some

from skillopt.domain.usage import NOTHING, Caps, Price, Usage

counts = some.integers(0, 10**12)
usages = some.builds(
    Usage, calls=counts, input_tokens=counts, cached_tokens=counts, output_tokens=counts, nano_usd=counts
)


@given(usages, usages, usages)
def test_sums_are_exact_in_any_order(one: Usage, two: Usage, three: Usage) -> None:
    assert (one + two) + three == three + (two + one)
    assert one + two - two == one
    assert one + NOTHING == one


@pytest.mark.parametrize(
    ("price", "read", "cached", "written", "nano"),
    [
        (Price(input=0.1, output=0.2), 1, 0, 0, 100),
        (Price(input=0.1, output=0.2), 3, 0, 3, 900),
        (Price(input=2.5, output=10), 1_000_000, 0, 1_000_000, 12_500_000_000),
        (Price(input=3, output=15, cached=0.3), 1000, 1000, 0, 300_000),
        (Price(input=3, output=15, cached=0.3), 1000, 400, 0, 1_920_000),
        (Price(input=3, output=15, cached=0.0), 1000, 1000, 0, 0),
        (Price(input=3, output=15), 1000, 1000, 0, 3_000_000),
        (Price(input=0.0001, output=0), 1, 0, 0, 1),
        (Price(input=0.00000001, output=0), 1, 0, 0, 1),
        (Price(input=0, output=0), 10**9, 0, 10**9, 0),
    ],
)
def test_money_is_exact_and_rounded_up_to_a_billionth(
    price: Price, read: int, cached: int, written: int, nano: int
) -> None:
    assert price.cost(input_tokens=read, cached_tokens=cached, output_tokens=written) == nano


def test_a_tenth_of_a_cent_ten_million_times_is_ten_thousand_dollars() -> None:
    cost = Price(input=1000, output=0).cost(input_tokens=1, cached_tokens=0, output_tokens=0)
    assert Usage(nano_usd=cost * 10_000_000).usd == 10_000.0


@pytest.mark.parametrize(
    ("caps", "total", "exceeded"),
    [
        (Caps(), Usage(calls=10**9, input_tokens=10**9, nano_usd=10**18), None),
        (Caps(calls=3), Usage(calls=3), None),
        (Caps(calls=3), Usage(calls=4), "calls"),
        (Caps(calls=0), NOTHING, None),
        (Caps(calls=0), Usage(calls=1), "calls"),
        (Caps(tokens=10), Usage(input_tokens=6, output_tokens=4, cached_tokens=6), None),
        (Caps(tokens=10), Usage(input_tokens=6, output_tokens=5), "tokens"),
        (Caps(usd=0.3), Usage(nano_usd=300_000_000), None),
        (Caps(usd=0.3), Usage(nano_usd=300_000_001), "usd"),
        (Caps(usd=0.0), Usage(nano_usd=1), "usd"),
        (Caps(calls=1, tokens=1, usd=0.0), Usage(calls=2, input_tokens=2, nano_usd=1), "calls"),
        (Caps(seconds=0.0), Usage(calls=9), None),
    ],
)
def test_a_cap_may_be_reached_but_not_passed(caps: Caps, total: Usage, exceeded: str | None) -> None:
    assert caps.first_exceeded(total) == exceeded


def test_a_dollar_cap_is_never_rounded_up() -> None:
    assert Caps(usd=0.1 + 0.2).nano_usd == 300_000_000
    assert Caps(usd=0.0000000019).nano_usd == 1


@pytest.mark.parametrize(
    ("caps", "more"),
    [(Caps(), False), (Caps(calls=1), False), (Caps(tokens=0), True), (Caps(usd=0.0), True), (Caps(seconds=0.0), True)],
)
def test_which_caps_measure_more_than_calls(caps: Caps, more: bool) -> None:
    assert caps.measures_more_than_calls is more
