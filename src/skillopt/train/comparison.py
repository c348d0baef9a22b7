"""Runs side by side: scores, cost, accepted edits, and whether the first is really beaten on the tasks of test.
Owns what is compared with what; refuses to know where runs are kept and how this is shown."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence

import msgspec

from skillopt.domain.pairs import Paired, paired
from skillopt.kernel.events import EditFact, Measured
from skillopt.kernel.view import RunView
from skillopt.train.summary import ScoreRow, Summary


class Recorded(msgspec.Struct, frozen=True, kw_only=True):
    """One run as its journal has it; `tests` names the contents of its test tasks."""

    summary: Summary
    view: RunView
    tests: str


class Compared(msgspec.Struct, frozen=True, kw_only=True):
    """One run of a comparison; `against` pairs its best skill with that of the first run, or `why_not` says why not.

    `chosen_by_val` says that its val score is of the trials that chose it.
    """

    run: str
    status: str
    stop_reason: str
    steps: int
    accepts: int
    seed_test: ScoreRow | None
    best_test: ScoreRow | None
    best_val: ScoreRow | None
    chosen_by_val: bool = True
    calls: int
    usd: float
    edits: tuple[EditFact, ...]
    against: Paired | None
    beyond_noise: bool | None
    why_not: str


def comparison(runs: Sequence[Recorded]) -> tuple[Compared, ...]:
    """Return the runs in the order given, each but the first held against the first."""
    return tuple(_compared(run, runs[0], comparisons=len(runs) - 1) for run in runs)


def _compared(run: Recorded, first: Recorded, *, comparisons: int) -> Compared:
    summary = run.summary
    why_not = "" if run is first else _why_not(run, first)
    against = None if run is first or why_not else paired(_tested(first), _tested(run))
    return Compared(
        run=summary.run,
        status=summary.status,
        stop_reason=summary.stop_reason,
        steps=summary.steps,
        accepts=summary.accepts,
        seed_test=summary.scores.baseline.test,
        best_test=summary.scores.best.test,
        best_val=summary.scores.best.val,
        chosen_by_val=summary.claimed_val is None,
        calls=summary.usage.total.calls,
        usd=summary.usage.total.usd,
        edits=_accepted_edits(run.view),
        against=against,
        beyond_noise=None if against is None else against.beyond_noise(comparisons),
        why_not=why_not,
    )


def _why_not(run: Recorded, first: Recorded) -> str:
    if run.tests != first.tests:
        return "their test tasks differ"
    for each in (first, run):
        if not _tested(each):
            return f"the best skill of {each.summary.run} was not measured on test"
    return ""


def _tested(run: Recorded) -> dict[str, float]:
    """Return the mean hard score of the best skill on each test task."""
    measured: Measured | None = run.view.score("best", "test")
    trials: dict[str, list[float]] = defaultdict(list)
    for row in () if measured is None else measured.rows:
        if row.hard is not None:
            trials[row.task_id].append(row.hard)
    return {task: math.fsum(values) / len(values) for task, values in trials.items()}


def _accepted_edits(view: RunView) -> tuple[EditFact, ...]:
    return tuple(
        edit
        for step in view.finished_steps
        if step.gate is not None and step.candidate is not None and "accept" in step.gate.action
        for edit in step.candidate.edits
        if edit.status == "applied"
    )
