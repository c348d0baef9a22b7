"""What work costs: counts of calls and tokens, exact money in billionths of a dollar, prices and caps.
Owns the arithmetic; refuses to know who charges or when."""

from __future__ import annotations

from decimal import ROUND_CEILING, Decimal

import msgspec

NANO = 1_000_000_000
_TOKENS_PER_PRICE = 1_000_000


class Usage(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """What some calls used; sums are exact, because money is whole billionths of a dollar."""

    calls: int = 0
    input_tokens: int = 0
    cached_tokens: int = 0
    output_tokens: int = 0
    nano_usd: int = 0

    def __add__(self, other: Usage) -> Usage:
        """Return the sum, field by field."""
        return Usage(
            calls=self.calls + other.calls,
            input_tokens=self.input_tokens + other.input_tokens,
            cached_tokens=self.cached_tokens + other.cached_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            nano_usd=self.nano_usd + other.nano_usd,
        )

    def __sub__(self, other: Usage) -> Usage:
        """Return the difference, field by field."""
        return Usage(
            calls=self.calls - other.calls,
            input_tokens=self.input_tokens - other.input_tokens,
            cached_tokens=self.cached_tokens - other.cached_tokens,
            output_tokens=self.output_tokens - other.output_tokens,
            nano_usd=self.nano_usd - other.nano_usd,
        )

    @property
    def tokens(self) -> int:
        """Input and output together, as `limits.tokens` counts them."""
        return self.input_tokens + self.output_tokens

    @property
    def usd(self) -> float:
        """Dollars, for people; decisions use `nano_usd`."""
        return self.nano_usd / NANO


NOTHING = Usage()


class Price(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """US dollars for a million tokens.

    input: The price of tokens that are read.
    output: The price of tokens that are written.
    cached: The price of tokens that are read from the provider's cache; null takes that of input.
    cache_write: The price of tokens that the provider writes to its cache; null takes that of input.
    """

    input: float
    output: float
    cached: float | None = None
    cache_write: float | None = None

    def cost(self, *, input_tokens: int, cached_tokens: int, output_tokens: int, cache_written_tokens: int = 0) -> int:
        """Return the cost in billionths of a dollar, rounded up, so that a cap errs towards stopping.

        Tokens that are cached, and tokens that are written to the cache, are parts of the input.
        """
        cached_price = self.input if self.cached is None else self.cached
        written_price = self.input if self.cache_write is None else self.cache_write
        per_million = (
            Decimal(str(self.input)) * (input_tokens - cached_tokens - cache_written_tokens)
            + Decimal(str(cached_price)) * cached_tokens
            + Decimal(str(written_price)) * cache_written_tokens
            + Decimal(str(self.output)) * output_tokens
        )
        return int((per_million * NANO / _TOKENS_PER_PRICE).to_integral_value(rounding=ROUND_CEILING))


class Caps(msgspec.Struct, frozen=True, kw_only=True):
    """The most a whole run may use, over all roles; None means no cap."""

    calls: int | None = None
    tokens: int | None = None
    usd: float | None = None
    seconds: float | None = None

    @property
    def nano_usd(self) -> int | None:
        """The dollar cap in billionths."""
        return None if self.usd is None else int(Decimal(str(self.usd)) * NANO)

    @property
    def measures_more_than_calls(self) -> bool:
        """Say whether tokens, dollars or seconds are capped."""
        return not (self.tokens is None and self.usd is None and self.seconds is None)

    def first_exceeded(self, total: Usage) -> str | None:
        """Return the name of the first cap that `total` would pass, or None."""
        if self.calls is not None and total.calls > self.calls:
            return "calls"
        if self.tokens is not None and total.tokens > self.tokens:
            return "tokens"
        nano = self.nano_usd
        if nano is not None and total.nano_usd > nano:
            return "usd"
        return None
