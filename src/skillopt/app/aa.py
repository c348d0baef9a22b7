"""The gate on changes that change nothing: how often it is fooled, how much answers vary, what it could see.
Owns the changes it makes up and what is told of them; refuses to know how the gate decides."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Sequence

import msgspec

from skillopt.app.project.prepare import Prepared
from skillopt.app.session import Started, ending_of, interrupt_of, opened
from skillopt.domain.errors import SkilloptError
from skillopt.domain.evidence.forecast import tasks_for
from skillopt.domain.evidence.terms import Terms
from skillopt.domain.progress.state import Gated, TrainState
from skillopt.domain.scores import Scoreboard, wilson
from skillopt.domain.seeds import dice
from skillopt.domain.skill import Candidate, Edit, EditOp, apply
from skillopt.domain.verdicts import Accept
from skillopt.kernel.journal import Journal
from skillopt.kernel.ports import Clock
from skillopt.phases.gate import GateSettings
from skillopt.train.lab import Lab
from skillopt.train.plan import Plan

_LINES = (
    "Nothing is asked for in line {number}.",
    "Entry {number} of this page is left empty on purpose.",
    "Paragraph {number} begins and ends here.",
)


class Flips(msgspec.Struct, frozen=True, kw_only=True):
    """How often two answers of one task differ in being right; None where each task was put once only."""

    task: str
    rate: float | None


class Fooled(msgspec.Struct, frozen=True, kw_only=True):
    """What `aa` found: false accepts with their 95 % interval, flips, and the tasks that a lift would take.

    `tasks_needed` is None where even the largest val that was tried would not do, or where answers do not vary.
    """

    gates: int
    accepted: int
    rate: float
    low: float
    high: float
    calls: int
    flip_rate: float | None
    flips: tuple[Flips, ...]
    lift: float
    tasks_needed: int | None


async def aa_session(
    prepared: Prepared, journal: Journal, clock: Clock, *, gates: int, lift: float, started: Started
) -> tuple[Fooled | None, SkilloptError | None]:
    """Send so many changes of nothing through the gate, on a run of its own; what was answered before is not paid."""
    name = f"aa-{prepared.digest[:12]}"
    found: list[Gated] = []
    states: list[TrainState] = []

    async def serve(lab: Lab) -> None:
        states.append(await lab.baseline(prepared.plan))
        for number in range(1, gates + 1):
            candidate = changes_nothing(states[0], number, prepared.plan)
            found.append(await lab.gate(prepared.plan, f"aa_{number:04d}", candidate, states[0]))

    async with opened(prepared, journal, clock, name, ()) as session:
        working = asyncio.ensure_future(serve(session.lab))
        started(interrupt_of(session.run, working))
        error = await ending_of(working)
        await session.run.close()
        journal.end_session(session.handle, "finished" if error is None else "stopped", "")
        await journal.sync()
    return (told(found, states[0].incumbent.board, prepared.config.gate, lift) if found else None), error


def changes_nothing(state: TrainState, number: int, plan: Plan) -> Candidate:
    """Return the incumbent again, as a copy that says so, or with a line that instructs nothing."""
    if number % 2:
        line = f"This is another copy of this page, number {number}."
    else:
        line = dice("aa", plan.train.seed, number).choice(_LINES).format(number=number)
    return apply(state.skill, [Edit(op=EditOp.APPEND, content=line)])


def told(found: Sequence[Gated], board: Scoreboard, settings: GateSettings, lift: float) -> Fooled:
    """Return what these gates and these known trials come to."""
    accepted = sum(isinstance(gated.verdict, Accept) for gated in found)
    low, high = wilson(accepted / len(found), len(found))
    flips = tuple(_flips(board))
    rates = [each.rate for each in flips if each.rate is not None]
    return Fooled(
        gates=len(found),
        accepted=accepted,
        rate=accepted / len(found),
        low=low,
        high=high,
        calls=sum(gated.verdict.calls for gated in found),
        flip_rate=sum(rates) / len(rates) if rates else None,
        flips=flips,
        lift=lift,
        tasks_needed=_needed(board, settings, lift),
    )


def _by_task(board: Scoreboard) -> dict[str, list[bool]]:
    by_task: dict[str, list[bool]] = defaultdict(list)
    for row in board.rows:
        if row.score is not None:
            by_task[row.task_id].append(row.score.hard >= 1.0)
    return by_task


def _flips(board: Scoreboard) -> list[Flips]:
    found = []
    for task, trials in _by_task(board).items():
        right, count = sum(trials), len(trials)
        rate = 2 * right * (count - right) / (count * (count - 1)) if count > 1 else None
        found.append(Flips(task=task, rate=rate))
    return sorted(found, key=lambda each: -1.0 if each.rate is None else -each.rate)


def _needed(board: Scoreboard, settings: GateSettings, lift: float) -> int | None:
    known = [sum(trials) for trials in _by_task(board).values() if len(trials) == settings.trials]
    if settings.rule != "paired" or settings.deterministic or not known:
        return None
    return tasks_for(lift, known, Terms(order=(), trials=settings.trials, alpha=settings.alpha, wave=settings.wave))
