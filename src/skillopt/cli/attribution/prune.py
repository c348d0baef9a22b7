"""`skillopt prune`: takes out of a skill what nothing on val depends on, and shows what was measured.
Owns the options and what is printed; refuses to know how passages are tried."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict, Unpack

import click

from skillopt.cli.output import print_json, print_text, show_error

if TYPE_CHECKING:
    from skillopt.app.attribution.prune import PruneEnded
    from skillopt.app.project.prepare import Prepared
    from skillopt.kernel.events import PassagesTried
    from skillopt.train.pruning.summary import PruneSummary

_NAMED = 5
_LONGEST = 60


class PruneOptions(TypedDict):
    """The options of the command, as click passes them."""

    skill: str | None
    name: str | None
    workspace: Path | None
    sets: tuple[str, ...]
    as_json: bool


@click.command(epilog="Example: skillopt prune skillopt.yaml --skill .skillopt/runs/first/best_skill.md")
@click.argument("config", type=click.Path(path_type=Path))
@click.option("--skill", help="The skill to prune; the one of CONFIG unless given. Relative to CONFIG's folder.")
@click.option("--run", "name", help="Name the run; by default it is named by what decides it.")
@click.option("--workspace", type=click.Path(path_type=Path), help="Where runs are kept; .skillopt beside CONFIG.")
@click.option("--set", "sets", multiple=True, metavar="KEY=VALUE", help="Change one setting; may be repeated.")
@click.option("--json", "as_json", is_flag=True, help="Answer with one JSON object on one line.")
def command(config: Path, **options: Unpack[PruneOptions]) -> int:
    """Take out of a skill the passages that nothing on val depends on, and confirm that the rest is as good.

    The pruned skill is written to the run's folder, never over the file it came from. The same command again goes on
    where it stopped.
    """
    from skillopt.app.environ import variables
    from skillopt.app.project.prepare import prepare

    prepared = prepare(config, sets=options["sets"], environ=variables(), workspace=options["workspace"])
    ended = asyncio.run(_prune(prepared, options))
    if options["as_json"]:
        print_json(ended.summary)
    else:
        print_text("\n".join(_lines(ended.summary)))
    if ended.error is None:
        return 0
    show_error(ended.error)
    return ended.error.exit_code


async def _prune(prepared: Prepared, options: PruneOptions) -> PruneEnded:
    from skillopt.app.attribution.prune import prune_session
    from skillopt.app.project.secrets import scrubbed_skill
    from skillopt.app.project.skills import read_skill
    from skillopt.app.workspace import opened_journal
    from skillopt.cli.train import listen_for_signals
    from skillopt.kernel.clock import SystemClock

    clock = SystemClock()
    skill = prepared.plan.seed_skill
    if options["skill"] is not None:
        skill, warnings = scrubbed_skill(read_skill(prepared.root, options["skill"]), prepared.scrub)
        for warning in warnings:
            click.echo(f"warning: {warning}", err=True)
    async with opened_journal(prepared.workspace, clock) as journal:
        return await prune_session(prepared, journal, clock, skill, name=options["name"], started=listen_for_signals)


def _lines(summary: PruneSummary) -> Iterator[str]:
    yield f"run {summary.run}: {summary.status}" + (f" ({summary.stop_reason})" if summary.stop_reason else "")
    yield from (_tried(each) for each in summary.tried)
    decided = summary.decided
    if decided is not None:
        seen = "" if decided.loss is None else f"; mean loss {decided.loss:.3f} over {decided.pairs} pairs of answers"
        yield f"{'confirmed' if decided.confirmed else 'nothing was taken out'}: {decided.reason}{seen}"
    yield from summary.diff
    yield f"cost: {summary.usage.calls} calls, ${summary.usage.usd:.4f}"
    yield f"skill: {summary.pruned_skill}"


def _tried(each: PassagesTried) -> str:
    where = ", ".join(str(first) if first == last else f"{first}-{last}" for first, last in each.lines)
    first = " ".join(each.texts[0].split())
    words = first if len(first) <= _LONGEST else f"{first[:_LONGEST]}…"
    more = f" and {len(each.texts) - 1} more" if len(each.texts) > 1 else ""
    return f"without line {where} ({words}{more}): {_finding(each)}; {each.calls} calls"


def _finding(each: PassagesTried) -> str:
    if each.taken_out:
        return "nothing lost"
    if each.lost:
        return f"lost {_named(each.lost)}"
    return f"no answer on {_named(each.unmeasured)}"


def _named(tasks: tuple[str, ...]) -> str:
    return ", ".join(tasks[:_NAMED]) + (f" and {len(tasks) - _NAMED} more" if len(tasks) > _NAMED else "")
