"""`skillopt runs`: what a workspace holds. Lists, shows, looks into, compares, exports, imports and removes runs.
Owns the layout of these answers; refuses to know how runs are kept."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click
import msgspec

from skillopt.cli.output import print_json, print_text

if TYPE_CHECKING:
    from skillopt.kernel.journal import RunRow

_WORKSPACE = click.option(
    "--workspace",
    type=click.Path(path_type=Path),
    default=Path(".skillopt"),
    show_default=True,
    help="Where the runs are kept.",
)
_JSON = click.option("--json", "as_json", is_flag=True, help="Answer with one JSON object on one line.")


class RunList(msgspec.Struct, frozen=True, kw_only=True):
    """What `runs list --json` prints."""

    runs: tuple[RunRow, ...]


@click.group(epilog="Example: skillopt runs list")
def command() -> None:
    """List, show, look into, compare, export, import and remove the runs of a workspace."""


@command.command("list", epilog="Example: skillopt runs list --workspace project/.skillopt")
@_WORKSPACE
@_JSON
def list_runs(workspace: Path, *, as_json: bool) -> None:
    """List all runs, the oldest first."""
    from skillopt.app.runs import list_rows

    rows = list_rows(workspace)
    if as_json:
        print_json({"runs": rows})
        return
    if not rows:
        print_text(f"There are no runs in {workspace}.")
    for row in rows:
        state = "running now" if row.held else "killed" if row.status == "running" else row.status
        print_text(f"{row.name}  {state}{f' ({row.reason})' if row.reason else ''}  sessions: {row.sessions}")


@command.command(epilog="Example: skillopt runs show 3f2a9c01d4e7")
@click.argument("name")
@_WORKSPACE
@_JSON
def show(name: str, workspace: Path, *, as_json: bool) -> None:
    """Fold the journal of a run and print its summary; works for live, finished and crashed runs."""
    from skillopt.app.runs import summary_of
    from skillopt.cli.words import summary_lines

    summary = summary_of(workspace, name)
    if as_json:
        print_json(summary)
    else:
        print_text("\n".join(summary_lines(summary)))


@command.command(epilog="Example: skillopt runs compare paired strict")
@click.argument("names", nargs=-1, required=True, metavar="FIRST OTHER…")
@_WORKSPACE
@_JSON
def compare(names: tuple[str, ...], workspace: Path, *, as_json: bool) -> None:
    """Hold runs against the first: scores, cost, accepted edits, and whether test scores differ by more than noise."""
    from skillopt.app.recorded.compare import compare as held_against
    from skillopt.cli.words import comparison_lines

    compared = held_against(workspace, names)
    if as_json:
        print_json({"runs": compared})
    else:
        print_text("\n".join(comparison_lines(compared)))


@command.command(epilog="Example: skillopt runs work 3f2a9c01d4e7 --step 2 --task berth-17 --raw")
@click.argument("name")
@click.option("--step", type=int, help="Only what was done in this step.")
@click.option("--task", help="Only what was done for this task.")
@click.option("--raw", is_flag=True, help="Also what the agent's program wrote on its output, up to 256 KiB a run.")
@_WORKSPACE
@_JSON
def work(name: str, step: int | None, task: str | None, workspace: Path, *, raw: bool, as_json: bool) -> None:
    """Show what the agents of a run did: how each went about its task, its steps, files, cost and answer."""
    from skillopt.app.recorded.work import work_of
    from skillopt.cli.shown.works import work_lines

    works = work_of(workspace, name, step=step, task=task)
    if as_json:
        print_json({"works": works if raw else [msgspec.structs.replace(each, raw="") for each in works]})
    else:
        print_text("\n".join(line for each in works for line in work_lines(each, raw=raw)))


@command.command(epilog="Example: skillopt runs export 3f2a9c01d4e7 > run.jsonl")
@click.argument("name")
@_WORKSPACE
def export(name: str, workspace: Path) -> None:
    """Write a run with its answers to stdout, one JSON object a line."""
    from skillopt.app.runs import export_lines

    for line in export_lines(workspace, name):
        click.echo(line)


@command.command("import", epilog="Example: skillopt runs import < run.jsonl")
@_WORKSPACE
def import_run(workspace: Path) -> None:
    """Read a run that `runs export` wrote from stdin."""
    from skillopt.app.runs import import_lines

    print_text(f"imported {import_lines(workspace, sys.stdin)}")


@command.command(epilog="Example: skillopt runs rm 3f2a9c01d4e7")
@click.argument("name")
@_WORKSPACE
def rm(name: str, workspace: Path) -> None:
    """Forget a run and its folder; answers that other runs use stay."""
    from skillopt.app.runs import remove

    asyncio.run(remove(workspace, name))
    print_text(f"removed {name}")
