"""Asks once whether a program that comes with a project may run.
Owns the question; refuses to answer it for the person: off a terminal only the flag does."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from skillopt.cli.output import is_terminal, strip_controls

if TYPE_CHECKING:
    from skillopt.app.project.prepare import Prepared


def settle_trust(prepared: Prepared, *, trust: bool) -> None:
    """Allow the command grader of a config when the person says so; a run refuses one that is not allowed."""
    from skillopt.app.project.trust import described

    program = prepared.program
    if program is None or prepared.trust.has(program):
        return
    if not trust and is_terminal(sys.stdin) and is_terminal(sys.stderr):
        click.echo(strip_controls(f"Answers are graded by {described(program)}, in the sandbox."), err=True)
        trust = click.confirm("Have you looked at it, and may it run?", default=False, err=True)
    if trust:
        prepared.trust.grant(program)
