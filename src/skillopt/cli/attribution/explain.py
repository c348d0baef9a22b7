"""`skillopt explain`: says of each line of a trained skill where it came from, and on what evidence it was kept.
Owns the layout of the answer; refuses to know how lines are traced."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from skillopt.cli.output import print_json, print_text

if TYPE_CHECKING:
    from skillopt.train.attribution.blame import Origin
    from skillopt.train.attribution.explain import Explained, ExplainedLine

_NAMED = 12


@click.command(epilog="Example: skillopt explain .skillopt/runs/first/best_skill.md:12")
@click.argument("place")
@click.option("--workspace", type=click.Path(path_type=Path), help="Where the runs are kept; .skillopt unless given.")
@click.option("--json", "as_json", is_flag=True, help="Answer with one JSON object on one line.")
def command(place: str, workspace: Path | None, *, as_json: bool) -> None:
    """Say where the lines of a skill came from: the step, the edit, the tasks behind it and the gate's evidence.

    PLACE is a file that a run wrote, or the name of a run, which stands for its best skill; with :12 only line 12.
    """
    from skillopt.app.attribution.explain import explain

    told = explain(place, workspace)
    if as_json:
        print_json(told)
    elif told.line is None:
        print_text("\n".join((*_annotated(told), *_legend(told))))
    else:
        print_text("\n".join(_about_line(told, told.lines[0])))


def _annotated(told: Explained) -> Iterator[str]:
    """Yield each line behind its origin, as a blame of it."""
    yield f"{told.file} of run {told.run}"
    width = max((len(line.origin) for line in told.lines), default=1)
    digits = len(str(len(told.lines)))
    for line in told.lines:
        yield f"{line.origin:<{width}}  {line.number:>{digits}} | {line.text}".rstrip()


def _legend(told: Explained) -> Iterator[str]:
    for origin in told.origins:
        yield f"{origin.name}: {_verdict(origin)}"


def _about_line(told: Explained, line: ExplainedLine) -> Iterator[str]:
    origin = told.origin(line.origin)
    yield f"{told.file}:{line.number} of run {told.run}"
    yield f"  {line.text}"
    yield f"from:   {origin.name}" + ("" if origin.kept else ", which the gate did not let in")
    if line.edit is not None:
        told_of = f" (support {line.edit.support}, after a {line.edit.source})"
        yield f"edit:   {line.edit.op.replace('_', ' ')}{told_of}"
        yield f"tasks:  {_named(line.failed_without)} failed without it"
    yield f"gate:   {_verdict(origin)}"
    if origin.gate is not None:
        yield f"val:    better {_named(origin.better)}; worse {_named(origin.worse)}"


def _verdict(origin: Origin) -> str:
    gate = origin.gate
    if gate is None:
        return "not asked: it was in the skill the run started from, or its owner wrote it"
    compared = f"{_number(gate.incumbent)} → {_number(gate.candidate)}"
    return f"{gate.action}, {gate.rule} on {gate.metric}: {compared}, n={gate.n}, {gate.calls} calls ({gate.reason})"


def _number(value: float | None) -> str:
    return "not measured" if value is None else f"{value:.3f}"


def _named(tasks: tuple[str, ...]) -> str:
    if not tasks:
        return "none"
    more = f" and {len(tasks) - _NAMED} more" if len(tasks) > _NAMED else ""
    return ", ".join(tasks[:_NAMED]) + more
