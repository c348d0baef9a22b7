"""How a training may go: how many changes are accepted, how many candidates are measured for nothing, where it starts.
Owns the assumptions behind an estimate, each with its reason; refuses to know what a phase costs."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from skillopt.kernel.view import RunView, StepView

# What small skills took on the scripted worlds: two or three changes are accepted, and one candidate or none fails.
USUAL = ((2, 0), (2, 1), (3, 0), (3, 1))
USUAL_FAILING = 0.7


class Course(msgspec.Struct, frozen=True, kw_only=True):
    """One way a run may go: its first steps are accepted, the next ones rejected, later candidates change nothing.

    `sides` is how many of the two skills that an epoch compares have to answer anew; at 0 no guidance comes of it.
    """

    accepts: int
    rejects: int
    failing: float
    stops: bool = True
    sides: int = 1


class Begun(msgspec.Struct, frozen=True, kw_only=True):
    """How far the journal carries the run without a call.

    `asked` counts, by verb, what of the open part is answered: the step that is not whole, or the end of the run, which
    `closing` says has begun.
    """

    baseline: bool = False
    closing: bool = False
    ended: bool = False
    steps: int = 0
    accepts: int = 0
    since_accept: int = 0
    failing: float | None = None
    seen: frozenset[str] = frozenset()
    passed: frozenset[str] = frozenset()
    asked: dict[str, int] = {}


def begun(view: RunView, asked: dict[str, int]) -> Begun:
    """Return how far a run has come; `asked` is what was answered since its last whole step."""
    steps = view.finished_steps
    baseline = view.score("baseline", "val")
    if baseline is None and not steps:
        return Begun(asked=asked)
    accepted = [place for place, step in enumerate(steps) if _accepted(step)]
    since = steps[accepted[-1] + 1 :] if accepted else steps
    return Begun(
        baseline=baseline is not None,
        closing=view.phase is not None and view.phase.path.startswith("end/"),
        ended=view.ended is not None,
        steps=len(steps),
        accepts=len(accepted),
        since_accept=len(since),
        failing=_failing(view, steps),
        seen=frozenset(row.task_id for step in since for row in step.rows),
        passed=_passed(since),
        asked=asked,
    )


def courses(start: Begun, earlier: RunView | None) -> tuple[Course, ...]:
    """Return the ways a run may go on from here, all equally likely: as an earlier run went, or as is usual."""
    failing = USUAL_FAILING if start.failing is None else start.failing
    ways = USUAL if earlier is None else (_way(earlier),)
    return tuple(
        Course(accepts=max(0, accepts - start.accepts), rejects=rejects, failing=failing) for accepts, rejects in ways
    )


def _way(view: RunView) -> tuple[int, int]:
    """Return how many changes a run accepted, and how many other candidates it measured; the same one costs once."""
    steps = view.finished_steps
    kept = {step.candidate.skill_digest for step in steps if step.candidate is not None and _accepted(step)}
    tried = {
        step.candidate.skill_digest
        for step in steps
        if step.candidate is not None and step.measured is not None and step.candidate.changed
    }
    return len(kept), len(tried - kept)


def _accepted(step: StepView) -> bool:
    return step.gate is not None and "accept" in step.gate.action


def _failing(view: RunView, steps: Sequence[StepView]) -> float | None:
    """Return the share of tasks that failed when last looked at: in the last step, or on val before the first."""
    if steps:
        rows = steps[-1].rows
    else:
        baseline = view.score("baseline", "val")
        rows = () if baseline is None else baseline.rows
    measured = [row.hard for row in rows if row.hard is not None]
    return sum(1 for hard in measured if hard < 1.0) / len(measured) if measured else None


def _passed(steps: Sequence[StepView]) -> frozenset[str]:
    passed: frozenset[str] = frozenset()
    for step in steps:
        rows = [row for row in step.rows if row.hard is not None]
        whole = all(row.hard == 1.0 for row in rows)
        passed = passed | frozenset(row.task_id for row in rows) if whole else frozenset()
    return passed
