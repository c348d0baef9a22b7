"""`skillopt demo`: trains a shipped example on the scripted model, and shows what came of it.
Owns where the example goes and what is printed at the end; trains exactly as `skillopt train` does."""

from __future__ import annotations

import asyncio
import shlex
import tempfile
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

import click
import msgspec

from skillopt.cli.output import print_json
from skillopt.domain.errors import UsageError

if TYPE_CHECKING:
    from skillopt.train.summary import Summary


EXAMPLES: Mapping[str, str] = MappingProxyType({"house-style": "example", "skill-folder": "example_folder"})


class Demonstrated(msgspec.Struct, frozen=True, kw_only=True):
    """What `demo --json` prints."""

    folder: str
    report: str
    diff: tuple[str, ...]
    summary: Summary
    next: str


@click.command(epilog="Example: skillopt demo --keep my-first-skill")
@click.option(
    "--example",
    type=click.Choice(list(EXAMPLES)),
    default="house-style",
    show_default=True,
    help="Which one: a document, or a folder with references.",
)
@click.option("--keep", type=click.Path(path_type=Path), help="Put the example here; by default in a temporary folder.")
@click.option("--json", "as_json", is_flag=True, help="Print what came of it as one JSON object on one line.")
def command(example: str, keep: Path | None, *, as_json: bool) -> int:
    """Train a small skill on the scripted model, with no key and no network, and show what changed."""
    from skillopt.app.project.prepare import prepare
    from skillopt.cli.train import run_training, show_ended

    folder = _laid_out(EXAMPLES[example], keep)
    config = folder / "skillopt.yaml"
    # without the environment's settings, so that the demo is the same everywhere and never asks a real model
    prepared = prepare(config, environ={})
    ended = asyncio.run(run_training(prepared, name=None, fresh=False))
    if ended.error is not None:
        return show_ended(ended, as_json=as_json)
    shown = _demonstrated(folder, ended.summary)
    if as_json:
        print_json(shown)
    else:
        _show(shown)
    return 0


def _laid_out(name: str, keep: Path | None) -> Path:
    """Copy an example into an empty folder and return it."""
    import skillopt.testing

    example = Path(skillopt.testing.__file__).with_name(name)
    try:
        folder = Path(tempfile.mkdtemp(prefix="skillopt-demo-")) if keep is None else keep.resolve()
        folder.mkdir(parents=True, exist_ok=True)
        if any(folder.iterdir()):
            raise UsageError(f"{folder} is not empty.", hint="Give --keep a folder that does not exist yet.")
        for file in sorted(example.rglob("*")):
            if file.is_file():
                copy = folder / file.relative_to(example)
                copy.parent.mkdir(parents=True, exist_ok=True)
                copy.write_bytes(file.read_bytes())
    except OSError as error:
        raise UsageError("The example could not be written.", hint="Choose another folder with --keep.") from error
    return folder


def _demonstrated(folder: Path, summary: Summary) -> Demonstrated:
    from skillopt.app.recorded.change import change_of
    from skillopt.app.workspace import WORKSPACE

    return Demonstrated(
        folder=str(folder),
        report=str(folder / summary.run_dir / "report.html"),
        diff=change_of(folder / WORKSPACE, summary.run, step=None).diff,
        summary=summary,
        next=f"skillopt train {shlex.quote(str(folder / 'skillopt.yaml'))} --set gate.rule=force",
    )


def _show(shown: Demonstrated) -> None:
    from skillopt.cli.shown.differences import print_difference

    print_difference(shown.diff, ["", *_words(shown)])


def _words(shown: Demonstrated) -> list[str]:
    from skillopt.cli.words import score_words

    scores, summary = shown.summary.scores, shown.summary
    counts = f"{summary.accepts} accepted, {summary.rejects} rejected, {summary.inconclusive} inconclusive"
    return [
        f"before  {score_words(scores.baseline.test)}  on test tasks, which decided nothing",
        f"after   {score_words(scores.best.test)}",
        f"gate    {counts}, {summary.skips} with nothing to test; val chose step {summary.best_step}",
        "        A scripted model stands in for a real one, so these scores are rounder than yours will be.",
        "",
        f"report  {shown.report}",
        f"next    {shown.next}",
        "        (the same run with no gate: see what it would have let in)",
    ]
