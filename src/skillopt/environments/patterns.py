"""Patterns that users write, compiled: RE2, so that no pattern can hang a run.
Owns the compile options; refuses to know what a pattern is for."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Protocol, cast

import re2

from skillopt.domain.errors import UsageError


class Match(Protocol):
    """One place where a pattern fits."""

    def group(self, number: int = 0, /) -> str | None:
        """Return the text of a group; None when it took no part."""
        ...


class Pattern(Protocol):
    """A compiled pattern."""

    @property
    def groups(self) -> int:
        """How many groups it has."""
        ...

    def search(self, text: str, /) -> Match | None:
        """Return the first match."""
        ...

    def finditer(self, text: str, /) -> Iterator[Match]:
        """Yield every match, left to right."""
        ...


@lru_cache(maxsize=256)
def compiled(pattern: str) -> Pattern:
    """Return the pattern, ready to search; one that RE2 does not know is refused."""
    options = re2.Options()
    options.log_errors = False
    try:
        return cast(Pattern, re2.compile(pattern, options))
    except re2.error as error:
        cause = error.args[0]
        shown = cause.decode(errors="replace") if isinstance(cause, bytes) else str(cause)
        raise UsageError(
            f"The pattern {pattern!r} cannot be used: {shown}.",
            hint="Patterns are RE2 syntax, which has no look-around and no back-references.",
        ) from error
