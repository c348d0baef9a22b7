"""Reads one configuration file: YAML, TOML or JSON by its suffix, at most one megabyte of UTF-8.
Owns the limits on files; refuses to know what a setting means."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import NoReturn

from skillopt.app.settings.layers import Node, Origin, Problem, without_quotes, wrapped
from skillopt.app.settings.yaml_reader import Written, read_yaml
from skillopt.domain.errors import UsageError, unknown_name

LARGEST = 1_000_000


def read_file(path: Path, name: str) -> Written:
    """Read a file into a tree of settings; `name` is what errors call it."""
    reader = _READERS.get(path.suffix.lower())
    if reader is None:
        raise unknown_name(f"kind of configuration file ({name}): suffix", path.suffix, _READERS)
    written = reader(_text(path, name), name)
    if written.node.value is None:
        return Written(node=Node({}, written.node.origin), problems=written.problems)
    if not isinstance(written.node.value, dict):
        raise UsageError(f"{name}: the file is not a mapping of settings.", hint="Write `key: value` lines.")
    return written


def _text(path: Path, name: str) -> str:
    try:
        if not path.is_file():
            raise UsageError(f"{name}: there is no such file.", hint="Check the path.")
        with path.open("rb") as file:
            content = file.read(LARGEST + 1)
    except (OSError, ValueError) as error:
        raise UsageError(f"{name}: cannot be read ({type(error).__name__}).", hint="Check its permissions.") from error
    if len(content) > LARGEST:
        raise UsageError(f"{name}: larger than {LARGEST:,} bytes.", hint="Data does not belong in a configuration.")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UsageError(f"{name}: is not UTF-8 (byte {error.start}).", hint="Save it as UTF-8.") from error


def _yaml(text: str, name: str) -> Written:
    return read_yaml(text, partial(_place, name))


def _place(name: str, line: int | None) -> Origin:
    return Origin(layer="file", where=name if line is None else f"{name}:{line}")


def _toml(text: str, name: str) -> Written:
    try:
        raw = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise _unreadable(name, "TOML", without_quotes(str(error))) from error
    except (ValueError, RecursionError) as error:
        raise _unreadable(name, "TOML", "a number is too long, or a list too deep") from error
    return Written(node=wrapped(raw, _place(name, None)))


def _json(text: str, name: str) -> Written:
    repeated: list[str] = []
    try:
        raw = json.loads(text, object_pairs_hook=partial(_object, repeated), parse_constant=_no_constant)
    except json.JSONDecodeError as error:
        raise _unreadable(f"{name}:{error.lineno}", "JSON", error.msg) from error
    except (ValueError, RecursionError) as error:
        raise _unreadable(name, "JSON", "a number is too long or not finite, or a list too deep") from error
    origin = _place(name, None)
    problems = tuple(Problem(origin=origin, path=(key,), text="given twice in one object") for key in repeated)
    return Written(node=wrapped(raw, origin), problems=problems)


def _object(repeated: list[str], pairs: list[tuple[str, object]]) -> dict[str, object]:
    found: dict[str, object] = {}
    for key, value in pairs:
        if key in found:
            repeated.append(key)
        found[key] = value
    return found


def _no_constant(text: str) -> NoReturn:
    raise ValueError(text)


def _unreadable(place: str, language: str, said: str) -> UsageError:
    return UsageError(f"{place}: cannot be read as {language}: {said}.", hint="Correct it, then try again.")


_READERS: Mapping[str, Callable[[str, str], Written]] = MappingProxyType(
    {".yaml": _yaml, ".yml": _yaml, ".toml": _toml, ".json": _json}
)
