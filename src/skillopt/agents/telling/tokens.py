"""How many tokens a run took, and what they cost.
Owns the sum; refuses to know in which events a program tells it."""

from __future__ import annotations

import msgspec

from skillopt.agents.program import Model
from skillopt.domain.usage import Usage


class Tokens(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """Tokens of some requests; those read from and written to a cache are parts of the input."""

    input: int = 0
    output: int = 0
    cached: int = 0
    cache_written: int = 0

    def __add__(self, other: Tokens) -> Tokens:
        """Return the sum, field by field."""
        return Tokens(
            input=self.input + other.input,
            output=self.output + other.output,
            cached=self.cached + other.cached,
            cache_written=self.cache_written + other.cache_written,
        )


def usage(tokens: Tokens, model: Model) -> Usage:
    """Return what a run used: one call with all its tokens, at the model's price."""
    spent = {"input_tokens": tokens.input, "cached_tokens": tokens.cached, "output_tokens": tokens.output}
    written = tokens.cache_written
    cost = 0 if model.price is None else model.price.cost(**spent, cache_written_tokens=written)
    return Usage(calls=1, nano_usd=cost, **spent)
