"""What the types of settings say: their words, choices, bounds, leaves and JSON Schema.
Owns the reading of msgspec's type information; refuses to know values that a person wrote."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import msgspec
from msgspec import inspect

from skillopt.app.settings.layers import KeyPath, Scalar

ListInfo = inspect.VarTupleType | inspect.TupleType | inspect.ListType
ChoiceInfo = inspect.LiteralType | inspect.EnumType

_BOUNDS: tuple[tuple[str, str, Callable[[Any, Any], bool]], ...] = (
    ("gt", "above {}", operator.gt),
    ("ge", "of at least {}", operator.ge),
    ("lt", "below {}", operator.lt),
    ("le", "of at most {}", operator.le),
    ("multiple_of", "divisible by {}", lambda value, bound: value % bound == 0),
    ("min_length", "of length {} or more", lambda value, bound: len(value) >= bound),
    ("max_length", "of length {} or less", lambda value, bound: len(value) <= bound),
    ("pattern", "that matches {}", lambda value, bound: re.search(bound, value) is not None),
)


def json_schema(shape: type[msgspec.Struct], *, also: Sequence[str] = ()) -> bytes:
    """Return the JSON Schema that editors use, as JSON; `also` are keys of the file that are not settings."""
    schema = msgspec.json.schema(shape, schema_hook=_anything)
    for section in schema["$defs"].values():
        if "properties" in section:
            section["additionalProperties"] = False
    for section in schema["$defs"].values():
        _not_needed_twice(section)
    schema["$defs"][shape.__name__]["properties"] |= {name: {"type": "string"} for name in also}
    return msgspec.json.encode({"$schema": "https://json-schema.org/draft/2020-12/schema", **schema})


def leaves(value: object, path: KeyPath = ()) -> Iterator[tuple[KeyPath, Any]]:
    """Yield each single setting of built settings, in plain form, with its path; a list is one setting."""
    children: list[tuple[str, object]] = []
    if isinstance(value, msgspec.Struct):
        names = zip(value.__struct_encode_fields__, value.__struct_fields__, strict=True)
        children = [(key, getattr(value, name)) for key, name in names]
        if value.__struct_config__.tag is not None:
            children.insert(0, (str(value.__struct_config__.tag_field), value.__struct_config__.tag))
    elif isinstance(value, dict):
        children = [(str(getattr(key, "value", key)), child) for key, child in value.items()]
    if not children:
        yield path, msgspec.to_builtins(value)
    for key, child in children:
        yield from leaves(child, (*path, key))


def bare(info: inspect.Type) -> inspect.Type:
    """Return a type without the description it is annotated with; `object` accepts anything."""
    if isinstance(info, inspect.CustomType) and info.cls is object:
        return inspect.AnyType()
    return bare(info.type) if isinstance(info, inspect.Metadata) else info


def choices(info: inspect.Type) -> tuple[Scalar, ...]:
    """Return the only values a type accepts, or nothing when it is no choice."""
    if isinstance(info, inspect.EnumType):
        return tuple(member.value for member in info.cls)
    return tuple(info.values) if isinstance(info, inspect.LiteralType) else ()


def broken_bounds(info: inspect.Type, value: object) -> tuple[str, ...]:
    """Return the bounds of a type that a value does not keep, in words."""
    bounds = ((getattr(info, name, None), words, holds) for name, words, holds in _BOUNDS)
    return tuple(words.format(bound) for bound, words, holds in bounds if bound is not None and not holds(value, bound))


def fits_shape(info: inspect.Type, value: object) -> bool:
    """Say whether a written value has the shape of a type: a section, a list or a single value."""
    if isinstance(info, inspect.AnyType):
        return True
    if isinstance(value, dict):
        return isinstance(info, inspect.StructType | inspect.DictType)
    if isinstance(value, tuple):
        return isinstance(info, ListInfo)
    return not isinstance(info, inspect.StructType | inspect.DictType | ListInfo | inspect.NoneType)


def describe(info: inspect.Type) -> str:
    """Say what a type accepts."""
    info = bare(info)
    match info:
        case inspect.UnionType():
            return " or ".join(dict.fromkeys(describe(kind) for kind in info.types))
        case inspect.LiteralType() | inspect.EnumType():
            return f"one of {', '.join(sorted(map(str, choices(info))))}"
        case inspect.TupleType():
            return f"a list of {len(info.item_types)}"
        case inspect.VarTupleType() | inspect.ListType():
            return f"a list ({describe(info.item_type)} each)"
    return _WORDS.get(type(info), "a value")


def _not_needed_twice(section: dict[str, Any]) -> None:
    """A form that is named after one of its own keys is known by that key, and needs no tag beside it."""
    properties = section.get("properties", ())
    if "required" in section:
        needed = (key for key in section["required"] if not {*properties[key].get("enum", ())} & {*properties})
        section["required"] = list(needed)


def _anything(kind: type) -> dict[str, Any]:
    if kind is object:
        return {"title": "anything"}
    raise NotImplementedError(kind)


_WORDS: dict[type, str] = {
    inspect.StructType: "a section",
    inspect.DictType: "a section",
    inspect.BoolType: "true or false",
    inspect.IntType: "a whole number",
    inspect.FloatType: "a number",
    inspect.StrType: "text",
    inspect.NoneType: "null",
}
