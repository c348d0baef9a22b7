"""Changing texts: every one inside a value, however deep it stands, what one may not quote, and cutting one short.
Owns the walk and the blanks; refuses to know what the change is for."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TypeVar

import msgspec

_SHORTEST_QUOTE = 4  # a shorter text stands in too many sentences by chance

Value = TypeVar("Value", bound=msgspec.Struct)


def with_texts(value: Value, change: Callable[[str], str]) -> Value:
    """Return the value with every text in it changed, except the keys of mappings."""
    return msgspec.convert(changed_texts(msgspec.to_builtins(value), change), type=type(value))


def changed_texts(part: object, change: Callable[[str], str]) -> object:
    """Return plain data, as JSON has it, with every text in it changed, except the keys of mappings."""
    if isinstance(part, str):
        return change(part)
    if isinstance(part, list | tuple):
        return [changed_texts(item, change) for item in part]
    return {key: changed_texts(item, change) for key, item in part.items()} if isinstance(part, dict) else part


def without(text: str, quotes: Sequence[str]) -> str:
    """Return a text that quotes none of these, since it is shown where they may not be."""
    for quote in quotes:
        if len(quote.strip()) >= _SHORTEST_QUOTE:
            text = re.sub(re.escape(quote.strip()), "[…]", text, flags=re.IGNORECASE)
    return text


def clipped(text: str, limit: int) -> str:
    """Return the text on one line, cut at so many characters with a sign that it was."""
    line = " ".join(text.split())
    return line if len(line) <= limit else f"{line[: max(0, limit - 1)]}…"
