"""How anything reaches a person's terminal: without control characters, errors in three lines, JSON in one.
Owns stdout and stderr; refuses to know what a command does."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping
from typing import TextIO

import click

from skillopt.domain.errors import SkilloptError

_SEQUENCE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)?|[ -/]*[0-~])")
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff]")
_HALF = re.compile("[\ud800-\udfff]")


def strip_controls(text: str) -> str:
    """Return text that cannot steer a terminal or hide its order; line ends and tabs stay."""
    return _HALF.sub("\N{REPLACEMENT CHARACTER}", _CONTROL.sub("", _SEQUENCE.sub("", text)))


def wants_colour(stream: TextIO, environ: Mapping[str, str]) -> bool:
    """Say whether to colour: only on a terminal that can, and not when NO_COLOR is set to anything."""
    return is_terminal(stream) and not environ.get("NO_COLOR") and environ.get("TERM") != "dumb"


def is_terminal(stream: TextIO) -> bool:
    """Say whether a person is looking; a closed stream is no terminal."""
    return not stream.closed and stream.isatty()


def error_panel(message: str, *, cause: str | None = None, hint: str | None = None) -> str:
    """Return what a person reads when something failed: what happened, why, and what to do next."""
    lines = [("error", message), ("cause", cause), ("next", hint)]
    return "\n".join(f"{name + ':':<7}{strip_controls(text)}" for name, text in lines if text)


def show_error(error: SkilloptError) -> None:
    """Write an error to stderr; the cause is given when it is the machine's or our own, never a parser's quotation."""
    reason = error.__cause__
    cause = f"{type(reason).__name__}: {reason}" if isinstance(reason, OSError | SkilloptError) else None
    show_panel(error_panel(error.message, cause=cause, hint=error.hint))


def show_panel(panel: str) -> None:
    """Write an error panel to stderr, its first word in red on a terminal."""
    from skillopt.app.environ import variables
    from skillopt.app.project.secrets import scrubber

    # what a provider, a file or an argument said may hold a secret
    first, colon, rest = scrubber().text(panel).partition(":")
    if wants_colour(sys.stderr, variables()):
        first = click.style(first, fg="red", bold=True)
    click.echo(f"{first}{colon}{rest}", err=True, color=True)


def print_text(text: str) -> None:
    """Write a result for people to stdout."""
    click.echo(strip_controls(text), color=True)


def json_line(value: object) -> str:
    """Return a value as JSON on one line, in ASCII, so that no terminal and no locale can change it."""
    import msgspec

    return json.dumps(msgspec.to_builtins(value), ensure_ascii=True, allow_nan=False)


def print_json(value: object) -> None:
    """Write the one JSON object of a command to stdout."""
    click.echo(json_line(value))
