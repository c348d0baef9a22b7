from __future__ import annotations

from skillopt.agents.program import Model
from skillopt.agents.telling.tokens import Tokens, usage
from skillopt.domain.usage import Price


def test_a_run_is_one_call_at_the_models_price() -> None:
    price = Price(input=1.0, output=10.0, cached=0.5, cache_write=2.0)
    spent = Tokens(input=10, output=2, cached=4, cache_written=1) + Tokens(input=10)
    used = usage(spent, Model(name="m", base_url=None, key=None, price=price))
    assert (used.calls, used.input_tokens, used.cached_tokens, used.output_tokens) == (1, 20, 4, 2)
    assert used.nano_usd == 15 * 1000 + 4 * 500 + 1 * 2000 + 2 * 10_000


def test_without_a_price_nothing_is_charged() -> None:
    assert usage(Tokens(input=5), Model(name="m", base_url=None, key=None)).nano_usd == 0
