"""Reads YAML as YAML 1.2 means it, without its dangers: no anchors, aliases or tags, no deep nesting.
Owns the scalar rules (only true and false are booleans, 010 is ten, 12:30 is text) and line numbers."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import msgspec
import yaml

from skillopt.app.settings.layers import DEEPEST, KeyPath, Node, Origin, Problem, Scalar, without_quotes
from skillopt.domain.errors import UsageError

_TAG = "tag:yaml.org,2002:"


class Written(msgspec.Struct, frozen=True, kw_only=True):
    """What a text says, and what is wrong with it that does not keep it from being read."""

    node: Node
    problems: tuple[Problem, ...] = ()


def read_yaml(text: str, place: Callable[[int | None], Origin], *, one_line: bool = False) -> Written:
    """Read one document; `place` names a line, and `one_line` allows only a scalar or a value in brackets."""
    try:
        root = _compose(text)
    except yaml.MarkedYAMLError as error:
        line = None if error.problem_mark is None else error.problem_mark.line + 1
        # PyYAML's own message quotes the line, which may hold a secret: it is not chained
        raise _unreadable(place(line), error.problem, text, line) from None
    except (yaml.YAMLError, ValueError, OverflowError, RecursionError) as error:
        raise _unreadable(place(None), "it holds a character that YAML does not allow", text, None) from error
    if root is None:
        return Written(node=Node(None, place(None)))
    if one_line and isinstance(root, yaml.CollectionNode) and not root.flow_style:
        raise UsageError(f"{place(None)}: the value is not a single YAML value.", hint='Put it in quotes: "…".')
    reading = _Reading(place)
    node = reading.node(root, (), root.start_mark.line)
    return Written(node=node, problems=tuple(reading.problems))


class _Loader(yaml.SafeLoader):
    """Composes nodes only, with the core schema of YAML 1.2."""

    depth = 0

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        parser: Any = self
        event = parser.peek_event()
        if isinstance(event, yaml.AliasEvent) or event.anchor is not None:
            raise yaml.MarkedYAMLError(problem="anchors and aliases are not allowed", problem_mark=event.start_mark)
        if event.tag is not None:
            raise yaml.MarkedYAMLError(problem="tags are not allowed", problem_mark=event.start_mark)
        if self.depth > DEEPEST:
            raise yaml.MarkedYAMLError(problem=f"nested more than {DEEPEST} deep", problem_mark=event.start_mark)
        self.depth += 1
        node = super().compose_node(parent, index)
        self.depth -= 1
        return node


_Loader.yaml_implicit_resolvers = {}  # our own, in place of YAML 1.1
for _kind, _pattern, _first in (
    ("null", r"~|null|Null|NULL|", ["~", "n", "N", ""]),
    ("bool", r"true|True|TRUE|false|False|FALSE", list("tTfF")),
    ("int", r"[-+]?[0-9]{1,18}|0o[0-7]{1,18}|0x[0-9a-fA-F]{1,15}", list("-+0123456789")),
    ("float", r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?", list("-+.0123456789")),
    ("float", r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)", list("-+.")),
):
    _Loader.add_implicit_resolver(f"{_TAG}{_kind}", re.compile(rf"(?:{_pattern})\Z"), _first)


def _compose(text: str) -> yaml.Node | None:
    loader = _Loader(text)
    try:
        return loader.get_single_node()
    finally:
        loader.dispose()


def _unreadable(origin: Origin, problem: str | None, text: str, line: int | None) -> UsageError:
    """Say what is wrong without repeating words of the text: one of them may be a secret."""
    said = without_quotes(problem or "it is not YAML")
    lines = text.splitlines()
    reference = line is not None and any("${" in part for part in lines[line - 1 : line])
    hint = 'Inside { } and [ ] a reference needs quotes: "${NAME}".' if reference else "Correct it, then try again."
    return UsageError(f"{origin}: cannot be read as YAML: {said}.", hint=hint)


class _Reading:
    """Turns composed nodes into our tree."""

    def __init__(self, place: Callable[[int | None], Origin]) -> None:
        self.problems: list[Problem] = []
        self._place = place

    def node(self, raw: yaml.Node, path: KeyPath, line: int) -> Node:
        """Return the node; a section is placed at the line of its key."""
        origin = self._place(line + 1)
        if isinstance(raw, yaml.MappingNode):
            return Node(self._section(raw, path), origin)
        if isinstance(raw, yaml.SequenceNode):
            items = enumerate(raw.value)
            return Node(tuple(self.node(item, (*path, at), item.start_mark.line) for at, item in items), origin)
        return Node(_scalar(raw), origin)

    def _section(self, raw: yaml.MappingNode, path: KeyPath) -> dict[str, Node]:
        section: dict[str, Node] = {}
        for key, value in raw.value:
            line = key.start_mark.line
            origin = self._place(line + 1)
            if not isinstance(key, yaml.ScalarNode):
                self.problems.append(Problem(origin=origin, path=path, text="a key is a section or a list"))
            elif key.value in section:
                first = section[key.value].origin
                text = f"given twice; the first is at {first}"
                self.problems.append(Problem(origin=origin, path=(*path, key.value), text=text))
            else:
                section[key.value] = self.node(value, (*path, key.value), line)
        return section


def _scalar(raw: yaml.Node) -> Scalar:
    text = str(raw.value)
    match raw.tag.removeprefix(_TAG):
        case "null":
            return None
        case "bool":
            return text.lower() == "true"
        case "int":
            return int(text, {"0o": 8, "0x": 16}.get(text[:2], 10))
        case "float":
            return float(text.lower().replace(".inf", "inf").replace(".nan", "nan"))
        case _:
            return text
