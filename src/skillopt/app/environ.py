"""The only door to the process environment: a snapshot, secret references and configuration overrides.
Owns what a variable's name means; refuses to keep a secret: a reference is resolved when a call needs it."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from skillopt.domain.errors import UsageError

PREFIX = "SKILLOPT_"
DEBUG = "SKILLOPT_DEBUG"
_NOT_SETTINGS = frozenset({DEBUG})
_REFERENCE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")


class Override(NamedTuple):
    """A setting given by a variable: its name, the path of the setting, and the text not yet read as YAML."""

    variable: str
    path: tuple[str, ...]
    text: str


def variables() -> Mapping[str, str]:
    """Return what the environment holds now; later changes do not show."""
    return MappingProxyType(dict(os.environ))


def is_reference(text: str) -> bool:
    """Say whether a text is exactly one `${NAME}`."""
    return _REFERENCE.fullmatch(text) is not None


def resolve_reference(text: str, environ: Mapping[str, str] | None = None) -> str:
    """Return the secret that `${NAME}` stands for; call it when the secret is sent, and keep nothing."""
    match = _REFERENCE.fullmatch(text)
    if match is None:
        raise UsageError("A secret was not given as a reference.", hint="Write ${NAME}, the name of a variable.")
    name = match.group(1)
    value = (variables() if environ is None else environ).get(name)
    if value is None:
        raise UsageError(f"The environment variable {name} is not set.", hint=f"Set it: export {name}=…")
    if not value.strip():
        raise UsageError(f"The environment variable {name} is empty.", hint=f"Set it: export {name}=…")
    return value


def overrides(environ: Mapping[str, str]) -> tuple[Override, ...]:
    """Return the settings given as SKILLOPT_SECTION__KEY, sorted, so that the more specific one comes last."""
    return tuple(
        Override(name, tuple(name.removeprefix(PREFIX).lower().split("__")), environ[name])
        for name in sorted(environ)
        if name.startswith(PREFIX) and name not in _NOT_SETTINGS
    )
