"""How a difference of two skills is printed: in colours on a terminal, with what should be looked at twice below it.
Owns the colours; refuses to know where the skills come from."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType

import click

from skillopt.cli.output import strip_controls, wants_colour

_COLOURS: Mapping[str, str] = MappingProxyType({"+": "green", "-": "red", "@": "cyan", "!": "yellow"})


def print_difference(diff: Sequence[str], words: Iterable[str] = (), warnings: Sequence[str] = ()) -> None:
    """Print a diff, what should be looked at twice, and what is said of it; plain where nobody looks."""
    from skillopt.app.environ import variables

    coloured = wants_colour(sys.stdout, variables())
    for line in [*_coloured([*diff, *(f"! {warning}" for warning in warnings)]), *map(strip_controls, words)]:
        click.echo(line, color=coloured)


def _coloured(lines: Sequence[str]) -> Iterator[str]:
    for line in lines:
        colour = _COLOURS.get(line[:1])
        shown = strip_controls(line)
        yield shown if colour is None else click.style(shown, fg=colour)
