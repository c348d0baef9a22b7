"""Loads settings: defaults, then the file and what it extends, then the environment, then flags.
Owns the layers and the one report of all that is wrong; refuses to know what any setting means."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import partial, reduce
from pathlib import Path
from types import MappingProxyType
from typing import Generic, TypeVar

import msgspec

from skillopt.app.environ import is_reference, overrides
from skillopt.app.settings.build import build
from skillopt.app.settings.file_reader import read_file
from skillopt.app.settings.layers import (
    Layer,
    Node,
    Origin,
    Problem,
    dotted,
    entries,
    literal_secrets,
    merge,
    nested,
    origin_at,
    shown,
    wrapped,
)
from skillopt.app.settings.schema import leaves
from skillopt.app.settings.yaml_reader import Written, read_yaml
from skillopt.domain.errors import UsageError

T = TypeVar("T", bound=msgspec.Struct)

EXTENDS = "extends"
_LONGEST_CHAIN = 20
_MOST_SHOWN = 20
_SEGMENT = re.compile(r'"([^"]+)"|([^".=\s]+)')
_FLAG = re.compile(rf"(?P<key>(?:{_SEGMENT.pattern})(?:\.(?:{_SEGMENT.pattern}))*)=(?P<value>.*)", re.DOTALL)


class Loaded(msgspec.Struct, Generic[T], frozen=True, kw_only=True):
    """Settings, where each came from (by dotted key), and the folder their paths start from."""

    config: T
    origins: Mapping[str, Origin]
    root: Path


def load(path: Path, shape: type[T], *, sets: Sequence[str] = (), environ: Mapping[str, str]) -> Loaded[T]:
    """Load a file as `shape`; `sets` are `key=value` flags. All problems are reported together, in one error."""
    root = _folder(path)
    files = _chain(root, path)
    given = [_override(*override) for override in overrides(environ)] + [_flag(text) for text in sets]
    written = [*files, *given]
    problems = [problem for one in written for problem in one.problems]
    problems += [found for one in written for found in literal_secrets(one.node, is_reference)]
    problems += [found for one in given for found in _files_only(one.node)]
    tree = reduce(merge, (_without_extends(one.node) for one in written))
    config = _built(shape, tree, path.name, problems)
    origins = {dotted(key): origin_at(tree, key) for key, _ in leaves(config)}
    return Loaded(config=config, origins=MappingProxyType(origins), root=root)


def typed(raw: object, under: object, shape: type[T], *, name: str) -> T:
    """Return settings that a program gives as plain values, over others; what is wrong is told as for a file."""
    origin = Origin(layer="flag", where=name)
    tree = wrapped(msgspec.to_builtins(raw), origin)
    whole = merge(wrapped(msgspec.to_builtins(under), origin), tree)
    return _built(shape, whole, name, list(literal_secrets(whole, is_reference)))


def _built(shape: type[T], tree: Node, name: str, problems: Sequence[Problem]) -> T:
    config, wrong = build(shape, tree, also=(EXTENDS,))
    if config is None or problems or wrong:
        raise _report(name, [*problems, *wrong])
    return config


def _folder(path: Path) -> Path:
    try:
        return path.parent.resolve()
    except (OSError, RuntimeError, ValueError) as error:
        raise UsageError(f"{shown(str(path))} is not a path.", hint="Give the path of a configuration file.") from error


def _chain(root: Path, path: Path) -> list[Written]:
    """Return the file and all it extends, the most general first."""
    file = root / path.name
    seen: list[Path] = []
    found: list[Written] = []
    while True:
        name = file.relative_to(root).as_posix() if file.is_relative_to(root) else file.name
        found.insert(0, read_file(file, name))
        seen.append(file)
        extends = entries(found[0].node).get(EXTENDS)
        if extends is None:
            return found
        file = _extended(root, file, extends)
        if file in seen or len(seen) >= _LONGEST_CHAIN:
            chain = " → ".join(one.name for one in [*seen, file])
            raise UsageError(f"{extends.origin}: extends goes round in a circle: {chain}.", hint="Remove one link.")


def _extended(root: Path, file: Path, extends: Node) -> Path:
    """Return the file that `extends` names; it must lie in the folder of the configuration, links followed."""
    if not isinstance(extends.value, str) or not extends.value:
        raise UsageError(
            f"{extends.origin}: extends: expected the path of a file, got {shown(extends.value)}.",
            hint="Give one path, relative to this file.",
        )
    try:
        target = (file.parent / extends.value).resolve()
    except (OSError, RuntimeError, ValueError) as error:
        raise UsageError(f"{extends.origin}: extends: not a path.", hint="Give one path.") from error
    if not target.is_relative_to(root):
        raise UsageError(
            f"{extends.origin}: extends: {shown(extends.value)} is outside the configuration's folder.",
            hint="Move that file beside this one.",
        )
    return target


def _override(variable: str, path: tuple[str, ...], text: str) -> Written:
    return _given("environment", variable, path, text)


def _flag(text: str) -> Written:
    match = _FLAG.fullmatch(text)
    if match is None:
        raise UsageError(f"--set {shown(text)}: expected key=value.", hint="For example --set train.batch_size=20.")
    path = tuple(quoted or plain for quoted, plain in _SEGMENT.findall(match["key"]))
    return _given("flag", f"--set {match['key']}", path, match["value"])


def _given(layer: Layer, where: str, path: tuple[str, ...], text: str) -> Written:
    origin = Origin(layer=layer, where=where)
    written = read_yaml(text, partial(_anywhere, origin), one_line=True)
    problems = (msgspec.structs.replace(problem, path=(*path, *problem.path)) for problem in written.problems)
    return Written(node=nested(path, written.node), problems=tuple(problems))


def _anywhere(origin: Origin, _line: int | None) -> Origin:
    return origin


def _files_only(tree: Node) -> list[Problem]:
    if EXTENDS not in entries(tree):
        return []
    return [Problem(origin=tree.origin, path=(EXTENDS,), text="is read from files only")]


def _without_extends(tree: Node) -> Node:
    return Node({key: node for key, node in entries(tree).items() if key != EXTENDS}, tree.origin)


def _report(name: str, problems: Sequence[Problem]) -> UsageError:
    lines = list(dict.fromkeys(str(problem) for problem in problems))
    count = "1 problem" if len(lines) == 1 else f"{len(lines)} problems"
    more = [f"… and {len(lines) - _MOST_SHOWN} more"] if len(lines) > _MOST_SHOWN else []
    listed = "\n".join(f"  {line}" for line in [*lines[:_MOST_SHOWN], *more])
    return UsageError(
        f"{name} cannot be used; it has {count}:\n{listed}", hint="`skillopt config schema` lists all settings."
    )
