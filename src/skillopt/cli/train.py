"""`skillopt train`: runs a training in the folder of its config, shows it, and ends with its summary.
Owns the options and what is printed; refuses to know how a run is made."""

from __future__ import annotations

import asyncio
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict, Unpack

import click

from skillopt.cli.asking.trust import settle_trust
from skillopt.cli.output import is_terminal, print_json, print_text, show_error

if TYPE_CHECKING:
    from skillopt.app.planning.forecast import Forecast
    from skillopt.app.project.prepare import Prepared
    from skillopt.app.session import Ended, Interrupt


class TrainOptions(TypedDict):
    """The options of the command, as click passes them."""

    workspace: Path | None
    name: str | None
    fresh: bool
    sets: tuple[str, ...]
    trust: bool
    only_plan: bool
    as_json: bool


_SIGNALS = (signal.SIGINT, signal.SIGTERM)


@click.command(epilog="Example: skillopt train skillopt.yaml --set train.epochs=2")
@click.argument("config", type=click.Path(path_type=Path))
@click.option("--workspace", type=click.Path(path_type=Path), help="Where runs are kept; .skillopt beside CONFIG.")
@click.option("--run", "name", help="Name the run; by default its plan's digest.")
@click.option("--fresh", is_flag=True, help="Start another run of the same plan instead of going on.")
@click.option("--set", "sets", multiple=True, metavar="KEY=VALUE", help="Change one setting; may be repeated.")
@click.option("--trust", is_flag=True, help="Allow the program that grades the answers, until its files change.")
@click.option("--plan", "only_plan", is_flag=True, help="Say what it would cost; send nothing and write nothing.")
@click.option("--json", "as_json", is_flag=True, help="Print the summary as one JSON object on one line.")
def command(config: Path, **options: Unpack[TrainOptions]) -> int:
    """Train the skill of CONFIG. The same command again goes on where it stopped, or shows the finished result."""
    from skillopt.app.environ import variables
    from skillopt.app.project.prepare import prepare

    name, fresh, as_json = options["name"], options["fresh"], options["as_json"]
    prepared = prepare(config, sets=options["sets"], environ=variables(), workspace=options["workspace"])
    for warning in prepared.plan.tasks.warnings:
        click.echo(f"warning: {warning}", err=True)
    if options["only_plan"]:
        return _show_plan(asyncio.run(_planned(prepared, name=name, fresh=fresh)), as_json=as_json)
    settle_trust(prepared, trust=options["trust"])
    if not _wanted(prepared, name=name, fresh=fresh):
        click.echo("Nothing was sent.", err=True)
        return 0
    ended = asyncio.run(run_training(prepared, name=name, fresh=fresh))
    return show_ended(ended, as_json=as_json)


async def _planned(prepared: Prepared, *, name: str | None, fresh: bool) -> Forecast:
    from skillopt.app.planning.forecast import forecast
    from skillopt.app.runs import list_rows
    from skillopt.app.workspace import unused_name

    wanted = prepared.default_name if name is None else name
    taken = {row.name for row in list_rows(prepared.workspace)} if fresh else set[str]()
    return await forecast(prepared, unused_name(wanted, taken))


def _show_plan(plan: Forecast, *, as_json: bool) -> int:
    from skillopt.cli.shown.planned import plan_lines

    if as_json:
        print_json(plan)
    else:
        print_text("\n".join(plan_lines(plan)))
    return 0


def _wanted(prepared: Prepared, *, name: str | None, fresh: bool) -> bool:
    """Ask a person whether to spend more than they said; only on a terminal, and only with known prices."""
    from skillopt.app.models import known_price
    from skillopt.cli.shown.planned import confirmed

    models, most = prepared.config.models, prepared.config.limits.confirm_usd
    priced = known_price(models.target) is not None and known_price(models.optimizer) is not None
    if most is None or not priced or not (is_terminal(sys.stdin) and is_terminal(sys.stderr)):
        return True
    return confirmed(asyncio.run(_planned(prepared, name=name, fresh=fresh)), most)


async def run_training(prepared: Prepared, *, name: str | None, fresh: bool) -> Ended:
    """Train with a console on stderr; Ctrl-C stops it cleanly."""
    from skillopt.app.environ import variables
    from skillopt.app.session import train_session
    from skillopt.app.workspace import opened_journal, run_name
    from skillopt.cli.shown.console import watching
    from skillopt.kernel.clock import SystemClock

    clock = SystemClock()
    caps = prepared.config.limits.caps
    async with opened_journal(prepared.workspace, clock) as journal:
        wanted = prepared.default_name if name is None else name
        chosen = run_name(journal, wanted, fresh=fresh)
        with watching(sys.stderr, now=clock.now, environ=variables(), caps=caps) as console:
            return await train_session(
                prepared, journal, clock, name=chosen, observers=(console,), started=listen_for_signals
            )


def listen_for_signals(interrupt: Interrupt) -> None:
    """Let Ctrl-C and a request to end call `interrupt`, each time they come."""
    loop = asyncio.get_running_loop()
    for each in _SIGNALS:
        loop.add_signal_handler(each, interrupt)


def show_ended(ended: Ended, *, as_json: bool) -> int:
    """Print the summary, then the error if there is one, and return the exit code."""
    from skillopt.cli.words import summary_lines

    if as_json:
        print_json(ended.summary)
    else:
        print_text("\n".join(summary_lines(ended.summary)))
    if ended.error is None:
        return 0
    show_error(ended.error)
    return ended.error.exit_code
