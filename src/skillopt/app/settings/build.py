"""Builds typed settings out of a tree: a frozen msgspec Struct with its sections, choices, bounds and lists.
Owns what each kind of field accepts and what is said when it does not; refuses to know files and layers."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from types import MappingProxyType, NoneType
from typing import TypeVar

import msgspec
from msgspec import inspect

from skillopt.app.settings.layers import KeyPath, Node, Problem, Scalar, names_secret, showable, shown
from skillopt.app.settings.schema import ChoiceInfo, ListInfo, bare, broken_bounds, choices, describe, fits_shape
from skillopt.domain.errors import InternalError, UsageError, unknown_name

T = TypeVar("T", bound=msgspec.Struct)

_INT64 = 1 << 63
_BAD = object()
_UNWRITABLE = re.compile("[\x00\ud800-\udfff]")
_SCALARS: Mapping[type, inspect.Type] = MappingProxyType(
    {
        bool: inspect.BoolType(),
        int: inspect.IntType(None, None, None, None, None),
        float: inspect.FloatType(None, None, None, None, None),
        str: inspect.StrType(None, None, None),
        NoneType: inspect.NoneType(),
    }
)


def build(shape: type[T], tree: Node, *, also: Sequence[str] = ()) -> tuple[T | None, tuple[Problem, ...]]:
    """Return the settings, or None and all that is wrong; `also` are keys of the file to name among the valid ones."""
    builder = _Builder(also)
    value = builder.value(inspect.type_info(shape), tree, ())
    return value if isinstance(value, shape) else None, tuple(builder.problems)


class _Builder:
    """Walks the types and the tree together and keeps every problem it meets."""

    def __init__(self, also: Sequence[str]) -> None:
        self.problems: list[Problem] = []
        self._also = also

    def value(self, info: inspect.Type, node: Node, path: KeyPath) -> object:
        """Return what the node means for this type, or `_BAD` after noting why it means nothing."""
        info = bare(info)
        match info:
            case inspect.UnionType():
                return self._union(info, node, path)
            case inspect.StructType():
                return self._section(info, node, path)
            case inspect.DictType():
                return self._mapping(info, node, path)
            case inspect.VarTupleType() | inspect.TupleType() | inspect.ListType():
                return self._list(info, node, path)
            case inspect.LiteralType() | inspect.EnumType():
                return self._choice(info, node, path)
            case inspect.AnyType():
                return self._anything(node, path)
        return self._scalar(info, node, path)

    def _refuse(self, node: Node, path: KeyPath, text: str) -> object:
        self.problems.append(Problem(origin=node.origin, path=path, text=text))
        return _BAD

    def _mismatch(self, info: inspect.Type, node: Node, path: KeyPath, advice: str = "") -> object:
        return self._refuse(node, path, f"expected {describe(info)}, got {_came(node, path)}{advice}")

    def _section(self, info: inspect.StructType, node: Node, path: KeyPath) -> object:
        if not isinstance(node.value, dict):
            return self._mismatch(info, node, path, "; write {} for all defaults" if node.value is None else "")
        before = len(self.problems)
        if info.tag_field is not None:
            self._tagged([info], node.value, node, path)
        fields = {field.encode_name: field for field in info.fields}
        given: dict[str, object] = {}
        for key, child in node.value.items():
            if key in fields:
                given[fields[key].name] = self.value(fields[key].type, child, (*path, key))
            elif key != info.tag_field:
                also = [] if path else self._also
                valid = [*fields, *also] if info.tag_field is None else [*fields, *also, info.tag_field]
                self._refuse(child, path, _unknown("key", key, valid))
        for key, field in fields.items():
            if field.required and key not in node.value:
                self._refuse(node, (*path, key), f"missing; expected {describe(field.type)}")
        if len(self.problems) > before:
            return _BAD
        try:
            return info.cls(**given)
        except (ValueError, UsageError) as error:
            return self._refuse(node, path, str(error))

    def _tagged(
        self, sections: Sequence[inspect.StructType], written: dict[str, Node], node: Node, path: KeyPath
    ) -> inspect.StructType | None:
        """Return the section that a mapping asks for by its tag; a form named after one of its keys, by that key."""
        field = str(sections[0].tag_field)
        tags: dict[Scalar, inspect.StructType] = {section.tag: section for section in sections}
        child = written.get(field)
        if child is None:
            by_key = [section for tag, section in tags.items() if tag in written and _has_key(section, tag)]
            if len(by_key) == 1:
                return by_key[0]
            self._refuse(node, (*path, field), f"missing; expected one of {', '.join(sorted(map(str, tags)))}")
        elif isinstance(child.value, str) and child.value in tags:
            return tags[child.value]
        else:
            self._not_among(list(tags), child, (*path, field))
        return None

    def _mapping(self, info: inspect.DictType, node: Node, path: KeyPath) -> object:
        if not isinstance(node.value, dict):
            return self._mismatch(info, node, path)
        built: dict[object, object] = {}
        keys = bare(info.key_type)
        for key, child in node.value.items():
            written = Node(key, child.origin)
            if isinstance(keys, ChoiceInfo):
                name = self._choice(keys, written, path, "key")
            else:
                name = self.value(keys, written, path)
            built[name] = self.value(info.value_type, child, (*path, key))
        bad = _BAD in built or any(value is _BAD for value in built.values())
        return _BAD if bad else self._bounded(info, built, node, path)

    def _list(self, info: ListInfo, node: Node, path: KeyPath) -> object:
        if not isinstance(node.value, tuple):
            return self._mismatch(info, node, path)
        if isinstance(info, inspect.TupleType):
            types = info.item_types
            if len(types) != len(node.value):
                return self._refuse(node, path, f"expected {describe(info)}, got a list of {len(node.value)}")
        else:
            types = (info.item_type,) * len(node.value)
        pairs = enumerate(zip(types, node.value, strict=True))
        items = [self.value(kind, item, (*path, at)) for at, (kind, item) in pairs]
        if any(item is _BAD for item in items):
            return _BAD
        return self._bounded(info, items if isinstance(info, inspect.ListType) else tuple(items), node, path)

    def _union(self, info: inspect.UnionType, node: Node, path: KeyPath) -> object:
        if node.value is None and any(isinstance(kind, inspect.NoneType) for kind in info.types):
            return None
        sections = [kind for kind in map(bare, info.types) if isinstance(kind, inspect.StructType)]
        if isinstance(node.value, dict) and len(sections) > 1:
            chosen = self._tagged(sections, node.value, node, path)
            return _BAD if chosen is None else self._section(chosen, node, path)
        fitting = [kind for kind in map(bare, info.types) if fits_shape(kind, node.value)]
        if len(fitting) == 1:
            return self.value(fitting[0], node, path)
        for kind in fitting:
            before = len(self.problems)
            value = self.value(kind, node, path)
            if value is not _BAD:
                return value
            del self.problems[before:]
        if isinstance(node.value, str) and any(map(choices, fitting)) and not _hidden(path):
            names = [str(choice) for kind in fitting for choice in choices(kind)]
            others = [describe(kind) for kind in fitting if not choices(kind)]
            return self._refuse(node, path, _unknown("value", node.value, [*names, *others]))
        return self._mismatch(info, node, path)

    def _choice(self, info: ChoiceInfo, node: Node, path: KeyPath, kind: str = "value") -> object:
        for choice in choices(info):
            if type(choice) is type(node.value) and choice == node.value:
                return info.cls(choice) if isinstance(info, inspect.EnumType) else choice
        return self._not_among(choices(info), node, path, kind)

    def _not_among(self, valid: Sequence[Scalar], node: Node, path: KeyPath, kind: str = "value") -> object:
        if isinstance(node.value, str) and not _hidden(path):
            return self._refuse(node, path, _unknown(kind, node.value, [str(choice) for choice in valid]))
        expected = ", ".join(sorted(map(str, valid)))
        return self._refuse(node, path, f"expected one of {expected}; got {_came(node, path)}")

    def _anything(self, node: Node, path: KeyPath) -> object:
        anything = inspect.AnyType()
        if isinstance(node.value, dict):
            return self._mapping(inspect.DictType(_SCALARS[str], anything, None, None), node, path)
        if isinstance(node.value, tuple):
            return self._list(inspect.VarTupleType(anything, None, None), node, path)
        return self._scalar(_SCALARS[type(node.value)], node, path)

    def _scalar(self, info: inspect.Type, node: Node, path: KeyPath) -> object:
        value = node.value
        if type(info) not in map(type, _SCALARS.values()):
            raise InternalError(f"A setting has the type {type(info).__name__}, which no file can give.")
        if isinstance(value, int) and abs(value) >= _INT64:
            return self._refuse(node, path, "the number does not fit in 64 bits")
        if isinstance(info, inspect.FloatType) and type(value) is int:
            value = float(value)
        if type(info) is not type(_SCALARS.get(type(value))):
            quotes = isinstance(info, inspect.StrType) and isinstance(value, int | float)
            return self._mismatch(info, node, path, "; put it in quotes" if quotes else "")
        if isinstance(value, float) and not math.isfinite(value):
            return self._refuse(node, path, "expected a finite number")
        if isinstance(value, str) and _UNWRITABLE.search(value):
            return self._refuse(node, path, "the text holds a NUL or half of a character")
        return self._bounded(info, value, node, path)

    def _bounded(self, info: inspect.Type, value: object, node: Node, path: KeyPath) -> object:
        broken = broken_bounds(info, value)
        if not broken:
            return value
        return self._refuse(node, path, f"expected {describe(info)} {' and '.join(broken)}, got {_came(node, path)}")


def _has_key(section: inspect.StructType, key: Scalar) -> bool:
    return any(field.encode_name == key for field in section.fields)


def _hidden(path: KeyPath) -> bool:
    return any(names_secret(key) for key in path)


def _came(node: Node, path: KeyPath) -> str:
    return "a value that is not shown" if _hidden(path) else shown(node.value)


def _unknown(kind: str, name: str, valid: Sequence[str]) -> str:
    """Name the valid names and the nearest; a name that could be a secret is not repeated."""
    if not showable(name):
        return f"Unknown {kind} of {len(name)} characters. Valid: {', '.join(sorted(valid))}."
    return str(unknown_name(kind, name, valid))
