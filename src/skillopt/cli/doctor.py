"""`skillopt doctor`: checks this machine, a config and its models, and says what to do about each finding.
Owns the layout; refuses to know the checks."""

from __future__ import annotations

import asyncio
from pathlib import Path

import click

from skillopt.cli.output import print_json, print_text

_MARKS = {True: "ok  ", False: "FAIL", None: "note"}


@click.command(epilog="Example: skillopt doctor skillopt.yaml --call")
@click.argument("config", type=click.Path(path_type=Path), required=False)
@click.option("--call", is_flag=True, help="Ask each model one word; this may cost a little.")
@click.option("--json", "as_json", is_flag=True, help="Answer with one JSON object on one line.")
def command(config: Path | None, *, call: bool, as_json: bool) -> int:
    """Check this machine, the models and the configuration. Nothing is changed."""
    from skillopt.app.doctor import examine
    from skillopt.app.environ import variables

    findings = asyncio.run(examine(config, environ=variables(), call=call))
    failed = any(finding.ok is False for finding in findings)
    if as_json:
        print_json({"ok": not failed, "findings": findings})
    else:
        print_text("\n".join(f"{_MARKS[finding.ok]}  {finding.check}: {finding.says}" for finding in findings))
    return 2 if failed else 0
