"""`skillopt eval`: measures any skill on one split, with an interval.
Owns the options and what is printed; refuses to know how a skill is measured."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict, Unpack

import click
import msgspec

from skillopt.cli.asking.trust import settle_trust
from skillopt.cli.output import print_json, print_text, show_error

if TYPE_CHECKING:
    from skillopt.app.project.prepare import Prepared
    from skillopt.app.session import Examined
    from skillopt.kernel.events import Measured
    from skillopt.train.summary import ScoreRow, Status, UsageRow


class EvalSummary(msgspec.Struct, frozen=True, kw_only=True):
    """What `eval --json` prints: the score of the split over all trials, what it cost by role, and each trial."""

    run: str
    status: Status
    skill: str
    skill_digest: str
    split: str
    score: ScoreRow
    failed: int
    usage: dict[str, UsageRow]
    trials: tuple[Measured, ...]


class EvalOptions(TypedDict):
    """The options of the command, as click passes them."""

    skill: str | None
    split: str
    trials: int
    workspace: Path | None
    sets: tuple[str, ...]
    trust: bool
    as_json: bool


@click.command(epilog="Example: skillopt eval skillopt.yaml --skill best_skill.md --split test")
@click.argument("config", type=click.Path(path_type=Path))
@click.option("--skill", help="The skill to measure; the one of CONFIG unless given. Relative to CONFIG's folder.")
@click.option("--split", default="val", show_default=True, help="train, val or test.")
@click.option("--trials", default=1, show_default=True, type=click.IntRange(1, 100), help="How often each task is put.")
@click.option("--workspace", type=click.Path(path_type=Path), help="Where answers are kept; .skillopt beside CONFIG.")
@click.option("--set", "sets", multiple=True, metavar="KEY=VALUE", help="Change one setting; may be repeated.")
@click.option("--trust", is_flag=True, help="Allow the program that grades the answers, until its files change.")
@click.option("--json", "as_json", is_flag=True, help="Answer with one JSON object on one line.")
def command(config: Path, **options: Unpack[EvalOptions]) -> int:
    """Measure a skill on one split of CONFIG's tasks. Answers that the workspace has are not paid for again."""
    from skillopt.app.environ import variables
    from skillopt.app.project.prepare import prepare

    prepared = prepare(config, sets=options["sets"], environ=variables(), workspace=options["workspace"])
    settle_trust(prepared, trust=options["trust"])
    examined = asyncio.run(_measure(prepared, options))
    if options["as_json"]:
        named = prepared.config.skill if options["skill"] is None else options["skill"]
        print_json(_summary(examined, skill=named or "", split=options["split"]))
    else:
        _show(examined)
    if examined.error is None:
        return 0
    show_error(examined.error)
    return examined.error.exit_code


def _summary(examined: Examined, *, skill: str, split: str) -> EvalSummary:
    from skillopt.domain.tasks import SplitName
    from skillopt.train.summary import UsageRow, score_row

    return EvalSummary(
        run=examined.run,
        status=examined.status,
        skill=skill,
        skill_digest=examined.trials[0].skill_digest if examined.trials else "",
        split=SplitName.parse(split).value,
        score=score_row(examined.mean),
        failed=examined.mean.failed,
        usage={role: UsageRow.of(usage) for role, usage in examined.usage.items()},
        trials=examined.trials,
    )


def _show(examined: Examined) -> None:
    from skillopt.cli.words import score_words
    from skillopt.train.summary import score_row

    if len(examined.trials) > 1:
        print_text(f"all {len(examined.trials)} trials: {score_words(score_row(examined.mean))}")
    for each in examined.trials:
        failed = f", {each.mean.failed} failed" if each.mean.failed else ""
        print_text(f"{each.label} on {each.split}: {score_words(score_row(each.mean))}{failed}")


async def _measure(prepared: Prepared, options: EvalOptions) -> Examined:
    from skillopt.app.project.secrets import scrubbed_skill
    from skillopt.app.project.skills import read_skill
    from skillopt.app.session import Exam, eval_session
    from skillopt.app.workspace import opened_journal
    from skillopt.cli.train import listen_for_signals
    from skillopt.domain.tasks import SplitName
    from skillopt.kernel.clock import SystemClock

    clock = SystemClock()
    path = options["skill"]
    skill = prepared.plan.seed_skill
    if path is not None:
        skill, warnings = scrubbed_skill(read_skill(prepared.root, path), prepared.scrub)
        for warning in warnings:
            click.echo(f"warning: {warning}", err=True)
    exam = Exam(skill=skill, split=SplitName.parse(options["split"]), trials=options["trials"])
    async with opened_journal(prepared.workspace, clock) as journal:
        return await eval_session(prepared, journal, clock, exam, started=listen_for_signals)
