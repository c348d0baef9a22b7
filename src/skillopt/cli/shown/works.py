"""What agents did, run by run, as lines for a person.
Owns the wording; refuses to know where it is read from and printed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from skillopt.cli.words import lasting

if TYPE_CHECKING:
    from skillopt.app.recorded.work import Worked


def work_lines(work: Worked, *, raw: bool) -> Iterator[str]:
    """Yield what is said of one run of an agent, what its program wrote last, and an empty line."""
    yield f"== {work.task_id} ({work.phase})"
    if work.failure is not None:
        yield f"failed: {work.failure.kind}: {work.failure.message}"
    else:
        yield from _done(work)
    if raw and work.raw:
        yield "output of the program:"
        yield work.raw.rstrip("\n")
    yield ""


def _done(work: Worked) -> Iterator[str]:
    if work.summary:
        yield work.summary
    yield f"cost: {_cost(work)}"
    if work.steps:
        yield "steps:"
        yield work.steps
    yield "answer:"
    yield work.answer


def _cost(work: Worked) -> str:
    used = work.usage
    told = "" if used is None else f", {used.input_tokens:,} tokens in, {used.output_tokens:,} out, ${used.usd:.4f}"
    requests = f", {work.requests} requests" if work.requests else ""
    attempts = f", begun {work.attempts} times" if work.attempts > 1 else ""
    return f"{lasting(work.seconds)}{told}{requests}{attempts}"
