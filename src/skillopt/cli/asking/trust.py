"""Asks once whether what comes with a project may run.
Owns the question; refuses to answer it for the person: off a terminal only the flag does."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from skillopt.cli.output import is_terminal, strip_controls

if TYPE_CHECKING:
    from skillopt.app.project.prepare import Prepared


def settle_trust(prepared: Prepared, *, trust: bool) -> None:
    """Allow what a config would have run on this machine when the person says so; a run refuses what is not allowed."""
    for asked in prepared.asked:
        if prepared.trust.has(asked):
            continue
        allowed = trust
        if not allowed and is_terminal(sys.stdin) and is_terminal(sys.stderr):
            click.echo(strip_controls(f"{asked.key} would run {asked.words}."), err=True)
            allowed = click.confirm("Have you looked at it, and may it run?", default=False, err=True)
        if allowed:
            prepared.trust.grant(asked)
