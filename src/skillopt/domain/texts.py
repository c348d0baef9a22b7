"""Changing every text inside a value, however deep it stands.
Owns the walk; refuses to know what the change is for."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import msgspec

Value = TypeVar("Value", bound=msgspec.Struct)


def with_texts(value: Value, change: Callable[[str], str]) -> Value:
    """Return the value with every text in it changed, except the keys of mappings."""

    def changed(part: object) -> object:
        if isinstance(part, str):
            return change(part)
        if isinstance(part, list | tuple):
            return [changed(item) for item in part]
        return {key: changed(item) for key, item in part.items()} if isinstance(part, dict) else part

    return msgspec.convert(changed(msgspec.to_builtins(value)), type=type(value))
