"""Settings before they are typed: a tree in which every value knows where it was written, and how layers merge.
Owns origins and the wording of places and values; refuses to know files, types or which layer is which."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Literal

import msgspec

from skillopt.domain.errors import UsageError
from skillopt.domain.scrub import Scrubber

Scalar = str | int | float | bool | None
KeyPath = tuple[str | int, ...]
Layer = Literal["default", "file", "environment", "flag"]

DEEPEST = 20
_PLAIN_KEY = re.compile(r"[A-Za-z0-9_-]+")
_SECRET_NAME = re.compile(r"(^|_)(api_?key|token|secret|password|passwd|(secret|access|private)_key|authorization)$")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_LONGEST_SHOWN = 24
_WORDS = re.compile(r"[a-z_]{1,60}")
_LONGEST_KEY = 40
_QUOTED = re.compile(r"'(?!<)[^']{2,}'|\"[^\"]{2,}\"")


class Origin(msgspec.Struct, frozen=True, kw_only=True):
    """Which layer gave a value, and the place in it: `file:line`, a variable's name or a flag."""

    layer: Layer
    where: str = ""

    def __str__(self) -> str:
        return self.where or self.layer


class Node(msgspec.Struct, frozen=True):
    """A value as it was written, with its origin; a section is a dict, a list is a tuple."""

    value: Scalar | dict[str, Node] | tuple[Node, ...]
    origin: Origin


class Problem(msgspec.Struct, frozen=True, kw_only=True):
    """One thing a person must change, and where."""

    origin: Origin
    path: KeyPath
    text: str

    def __str__(self) -> str:
        key = dotted(tuple("…" if isinstance(one, str) and len(one) > _LONGEST_KEY else one for one in self.path))
        place = str(self.origin)
        return f"{place}: {self.text}" if not key or place.endswith(f" {key}") else f"{place}: {key}: {self.text}"


def entries(node: Node) -> dict[str, Node]:
    """Return what a section holds; anything else holds nothing."""
    return node.value if isinstance(node.value, dict) else {}


def merge(under: Node, over: Node) -> Node:
    """Return `over` on top of `under`: sections merge key by key, everything else is replaced.

    A merged section belongs to the last file that has it: what it lacks is missing there, not in a flag.
    """
    if not (isinstance(under.value, dict) and isinstance(over.value, dict)):
        return over
    merged = dict(under.value)
    for key, node in over.value.items():
        merged[key] = merge(merged[key], node) if key in merged else node
    return Node(merged, over.origin if over.origin.layer == "file" else under.origin)


def nested(path: tuple[str, ...], node: Node) -> Node:
    """Return the tree in which only `path` is given."""
    for key in reversed(path):
        node = Node({key: node}, node.origin)
    return node


def wrapped(raw: object, origin: Origin, *, depth: int = 0) -> Node:
    """Turn what a JSON or TOML reader returned into a tree in which all values have the same origin."""
    if depth > DEEPEST:
        raise UsageError(f"{origin}: nested more than {DEEPEST} deep.", hint="Settings are never that deep.")
    if isinstance(raw, dict):
        return Node({str(key): wrapped(value, origin, depth=depth + 1) for key, value in raw.items()}, origin)
    if isinstance(raw, list):
        return Node(tuple(wrapped(value, origin, depth=depth + 1) for value in raw), origin)
    if raw is None or isinstance(raw, str | int | float | bool):
        return Node(raw, origin)
    raise UsageError(f"{origin}: a {type(raw).__name__} is not a setting.", hint="Put dates and times in quotes.")


def origin_at(tree: Node, path: KeyPath) -> Origin:
    """Return where the value at `path` was given; a value nobody gave is a default."""
    for key in path:
        if not isinstance(tree.value, dict):
            return tree.origin
        if key not in tree.value:
            return Origin(layer="default")
        tree = tree.value[str(key)]
    return tree.origin


def dotted(path: KeyPath) -> str:
    """Write a path as people do: `models.target.stages`, with unusual names in quotes."""
    text = ""
    for key in path:
        if isinstance(key, int):
            text += f"[{key}]"
        else:
            text += ("." if text else "") + (key if _PLAIN_KEY.fullmatch(key) else f'"{printable(key)}"')
    return text


def printable(text: str) -> str:
    """Return text in which control characters and halves of characters are written as escapes."""
    return repr(text)[1:-1]


def shown(value: object) -> str:
    """Describe a value in an error; a long text is only counted, because it may be a secret in the wrong place."""
    if value is None:
        return "nothing (null)"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        text = "too large" if isinstance(value, int) and value.bit_length() > 64 else str(value)
        return f"the number {text}"
    if isinstance(value, str):
        return f"text {value!r}" if showable(value) else f"text of {len(value)} characters"
    return "a section" if isinstance(value, dict) else "a list"


def showable(text: str) -> bool:
    """Say whether an error may repeat a text: it is short, or plain lower-case words, so it is no secret."""
    return len(text) <= _LONGEST_SHOWN or _WORDS.fullmatch(text) is not None


def without_quotes(message: str) -> str:
    """Return a parser's message without the words it quotes: one of them may be a secret."""
    return _QUOTED.sub("…", message)


def names_secret(key: str | int) -> bool:
    """Say whether a key's name means that its value is a secret; `max_tokens` does not."""
    name = _CAMEL.sub("_", str(key)).lower().replace("-", "_")
    return _SECRET_NAME.search(name) is not None


def literal_secrets(tree: Node, is_reference: Callable[[str], bool]) -> tuple[Problem, ...]:
    """Return every value that is a secret, by its name or by its form; the value itself is never repeated."""
    advice = "a secret is written out here; write ${NAME}, a variable that has it"
    scrub = Scrubber().text
    return tuple(
        Problem(origin=node.origin, path=path, text=advice)
        for path, node in _scalars(tree, ())
        if (any(names_secret(key) for key in path) and not _harmless(node.value, is_reference))
        or (isinstance(node.value, str) and scrub(node.value) != node.value)
    )


def _harmless(value: object, is_reference: Callable[[str], bool]) -> bool:
    return value is None or (isinstance(value, str) and (value == "none" or is_reference(value)))


def _scalars(tree: Node, path: KeyPath) -> list[tuple[KeyPath, Node]]:
    children: Iterable[tuple[str | int, Node]]
    if isinstance(tree.value, dict):
        children = tree.value.items()
    elif isinstance(tree.value, tuple):
        children = enumerate(tree.value)
    else:
        return [(path, tree)]
    return [found for key, child in children for found in _scalars(child, (*path, key))]
