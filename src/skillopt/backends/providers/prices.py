"""Prices of some well-known models, pinned as data: US dollars for a million tokens, at the standard rate.
Owns the table and its date; refuses to guess: a name that is not in it has no price."""

from __future__ import annotations

from types import MappingProxyType

from skillopt.domain.usage import Price

PRICES_AS_OF = "2025-10"  # check with your provider, and give `price` in the config where it differs

# Models whose price depends on the length of the request are left out: one number would be wrong for some requests.
PRICES = MappingProxyType(
    {
        "gpt-4o": Price(input=2.50, cached=1.25, output=10.00),
        "gpt-4o-mini": Price(input=0.15, cached=0.075, output=0.60),
        "gpt-4.1": Price(input=2.00, cached=0.50, output=8.00),
        "gpt-4.1-mini": Price(input=0.40, cached=0.10, output=1.60),
        "gpt-4.1-nano": Price(input=0.10, cached=0.025, output=0.40),
        "gpt-5": Price(input=1.25, cached=0.125, output=10.00),
        "gpt-5-mini": Price(input=0.25, cached=0.025, output=2.00),
        "gpt-5-nano": Price(input=0.05, cached=0.005, output=0.40),
        "claude-haiku-4-5": Price(input=1.00, cached=0.10, cache_write=1.25, output=5.00),
        "claude-opus-4-1": Price(input=15.00, cached=1.50, cache_write=18.75, output=75.00),
    }
)


def price_of(model: str) -> Price | None:
    """Return the price of the model with exactly this name; a similar name may cost twice as much."""
    return PRICES.get(model)
