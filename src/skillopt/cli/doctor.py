"""`skillopt doctor`: checks this machine, a config and its models, and says what to do about each finding.
Owns the layout; refuses to know the checks."""

from __future__ import annotations

import asyncio
from pathlib import Path

import click

from skillopt.cli.output import print_json, print_text
from skillopt.domain.errors import UsageError

_MARKS = {True: "ok  ", False: "FAIL", None: "note"}


@click.command(epilog="Example: skillopt doctor skillopt.yaml --call")
@click.argument("config", type=click.Path(path_type=Path), required=False)
@click.option("--call", is_flag=True, help="Ask each model one word; this may cost a little.")
@click.option("--fix-markers", is_flag=True, help="Mend the region markers of the skill at CONFIG, and show how.")
@click.option("--json", "as_json", is_flag=True, help="Answer with one JSON object on one line.")
def command(config: Path | None, *, call: bool, fix_markers: bool, as_json: bool) -> int:
    """Check this machine, the models and the configuration. Only --fix-markers changes a file."""
    from skillopt.app.checkup.doctor import examine
    from skillopt.app.environ import variables

    if fix_markers:
        return _mend(config, as_json=as_json)
    findings = asyncio.run(examine(config, environ=variables(), call=call))
    failed = any(finding.ok is False for finding in findings)
    if as_json:
        print_json({"ok": not failed, "findings": findings})
    else:
        print_text("\n".join(f"{_MARKS[finding.ok]}  {finding.check}: {finding.says}" for finding in findings))
    return 2 if failed else 0


def _mend(skill: Path | None, *, as_json: bool) -> int:
    """Collapse repeated regions and take out stray markers, when a person asked for it."""
    from skillopt.app.project.mend import mend_file
    from skillopt.cli.shown.differences import print_difference

    if skill is None:
        raise UsageError("No skill was named.", hint="Example: skillopt doctor SKILL.md --fix-markers")
    mended = mend_file(skill)
    if as_json:
        print_json(mended)
    else:
        print_difference(mended.diff, mended.notes or ["The markers are sound; nothing was changed."])
    return 0
