"""What a run will probably cost, in a person's words, and the question before it is spent.
Owns the layout of the plan and of the question; refuses to know how it was estimated."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from skillopt.cli.words import lasting

if TYPE_CHECKING:
    from skillopt.app.planning.forecast import Forecast
    from skillopt.train.forecast.estimate import Bill, Range


def plan_lines(plan: Forecast) -> Iterator[str]:
    """Yield the lines of a plan."""
    found = plan.estimate
    yield f"run {plan.run}: {plan.steps} steps in {plan.epochs} epochs, {plan.steps_done} of them done"
    yield f"{'still to do':<16}{'at least':>14}{'likely':>14}{'at most':>14}"
    yield _row("steps", found.steps)
    for role, bill in found.roles.items():
        yield _row(f"{role} calls", bill.calls)
    yield from _bill(found.total)
    yield from _time(found.seconds)
    if found.cap is not None:
        yield f"limits.{found.cap} will probably end it before; the same command with a higher cap goes on."
    if not plan.known:
        yield "No run of this workspace was finished yet: how it goes and how long replies are is guessed."
    yield "Retries, and unreadable replies asked for again, come on top. Nothing was sent."
    yield f"It will write {' and '.join(plan.files)}"


def confirmed(plan: Forecast, most: float | None) -> bool:
    """Ask before more dollars than `most` are spent; a price that nobody knows cannot be asked about."""
    usd = plan.estimate.total.usd
    if most is None or usd is None or usd.likely <= most:
        return True
    return click.confirm(f"This will likely cost ${usd.likely:.2f}, at most ${usd.high:.2f}. Go on?", err=True)


def _bill(bill: Bill) -> Iterator[str]:
    yield _row("all calls", bill.calls)
    yield _row("tokens read", bill.input_tokens)
    yield _row("tokens written", bill.output_tokens)
    if bill.usd is None:
        yield f"{'dollars':<16}{'a price is not known':>42}"
    else:
        yield f"{'dollars':<16}{bill.usd.low:>14.2f}{bill.usd.likely:>14.2f}{bill.usd.high:>14.2f}"


def _time(seconds: Range | None) -> Iterator[str]:
    if seconds is None:
        yield f"{'time':<16}{'no run of this workspace tells how long an answer takes':>58}"
    else:
        low, likely, high = (lasting(each) for each in (seconds.low, seconds.likely, seconds.high))
        yield f"{'time':<16}{low:>14}{likely:>14}{high:>14}"


def _row(name: str, numbers: Range) -> str:
    return f"{name:<16}{numbers.low:>14,.0f}{numbers.likely:>14,.0f}{numbers.high:>14,.0f}"
