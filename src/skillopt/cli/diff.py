"""`skillopt diff`: what a run, or one of its steps, made of the skill.
Owns the options and what is printed; refuses to know how the change came about."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from skillopt.cli.output import print_json

if TYPE_CHECKING:
    from skillopt.app.recorded.change import Change


@click.command(epilog="Example: skillopt diff 3f2a9c01d4e7 --step 2")
@click.argument("run")
@click.option("--step", type=int, help="What this step proposed, kept or not; by default seed against best.")
@click.option(
    "--workspace", type=click.Path(path_type=Path), default=Path(".skillopt"), show_default=True, help="Where RUN is."
)
@click.option("--json", "as_json", is_flag=True, help="Answer with one JSON object on one line.")
def command(run: str, step: int | None, workspace: Path, *, as_json: bool) -> None:
    """Show what RUN made of its skill, with a warning for each new address and command."""
    from skillopt.app.recorded.change import change_of
    from skillopt.cli.shown.differences import print_difference

    change = change_of(workspace, run, step)
    if as_json:
        print_json(change)
        return
    print_difference(change.diff, _words(change), change.warnings)


def _words(change: Change) -> list[str]:
    verdict = f"step {change.step}: {change.action} ({change.reason})"
    said = [] if change.step is None else [verdict]
    return said if change.diff else [*said, "Nothing was changed."]
