"""`skillopt aa`: tries the gate on changes that change nothing.
Owns the options and what is printed; refuses to know how the gate decides."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict, Unpack

import click

from skillopt.cli.output import print_json, print_text, show_error

if TYPE_CHECKING:
    from skillopt.app.aa import Fooled
    from skillopt.app.project.prepare import Prepared
    from skillopt.domain.errors import SkilloptError

_MOST_FLIPS = 5


class AaOptions(TypedDict):
    """The options of the command, as click passes them."""

    gates: int
    lift: float
    workspace: Path | None
    sets: tuple[str, ...]
    as_json: bool


@click.command(epilog="Example: skillopt aa skillopt.yaml --gates 40")
@click.argument("config", type=click.Path(path_type=Path))
@click.option(
    "--gates", default=20, show_default=True, type=click.IntRange(1, 1000), help="How many changes are tried."
)
@click.option(
    "--lift",
    default=0.1,
    show_default=True,
    type=click.FloatRange(0.01, 1.0),
    help="The gain on val for which the tasks needed are told.",
)
@click.option("--workspace", type=click.Path(path_type=Path), help="Where answers are kept; .skillopt beside CONFIG.")
@click.option("--set", "sets", multiple=True, metavar="KEY=VALUE", help="Change one setting; may be repeated.")
@click.option("--json", "as_json", is_flag=True, help="Answer with one JSON object on one line.")
def command(config: Path, **options: Unpack[AaOptions]) -> int:
    """Send CONFIG's skill through its own gate, with changes that change nothing: how often is the gate fooled?"""
    from skillopt.app.environ import variables
    from skillopt.app.project.prepare import prepare

    prepared = prepare(config, sets=options["sets"], environ=variables(), workspace=options["workspace"])
    fooled, error = asyncio.run(_tried(prepared, options))
    if fooled is not None:
        if options["as_json"]:
            print_json(fooled)
        else:
            _show(fooled)
    if error is None:
        return 0
    show_error(error)
    return error.exit_code


def _show(fooled: Fooled) -> None:
    print_text(
        f"{fooled.accepted} of {fooled.gates} changes that change nothing were accepted: "
        f"{fooled.rate:.3f} ({fooled.low:.3f} to {fooled.high:.3f}), {fooled.calls / fooled.gates:.1f} calls each"
    )
    if fooled.flip_rate is None:
        print_text("Each task was put once only, so nothing is known of how much answers vary.")
    else:
        print_text(f"Two answers of a task differ in being right {fooled.flip_rate:.3f} of the time. The most:")
        for each in fooled.flips[:_MOST_FLIPS]:
            print_text(f"  {each.task} {each.rate:.3f}" if each.rate is not None else f"  {each.task} put once")
    needed = "more than were tried" if fooled.tasks_needed is None else f"about {fooled.tasks_needed}"
    print_text(f"Val tasks needed to accept a lift of {fooled.lift:g} four times in five: {needed}")


async def _tried(prepared: Prepared, options: AaOptions) -> tuple[Fooled | None, SkilloptError | None]:
    from skillopt.app.aa import aa_session
    from skillopt.app.workspace import opened_journal
    from skillopt.cli.train import listen_for_signals
    from skillopt.kernel.clock import SystemClock

    clock = SystemClock()
    async with opened_journal(prepared.workspace, clock) as journal:
        return await aa_session(
            prepared, journal, clock, gates=options["gates"], lift=options["lift"], started=listen_for_signals
        )
