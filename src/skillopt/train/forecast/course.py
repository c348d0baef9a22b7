"""How a training may go: how much there is to learn, how often a change is tried that helps nowhere, where it starts.
Owns the assumptions behind an estimate, each with its reason; refuses to know what a phase costs."""

from __future__ import annotations

import math
from collections.abc import Sequence

import msgspec

from skillopt.kernel.view import RunView, StepView

# The two small worlds that come with the package: six lessons and an optimizer that is tempted, or eight and a
# steady one. Four in five of their tasks fail at first; what helps nowhere spoils one in four.
USUAL = ((6, 0.25), (8, 0.0))
USUAL_FAILING = 0.8
USUAL_HARM = 0.25
_LESSONS_A_TASK = 1.75  # so many of the lessons does a failing task need, on average

_DOUBT = 0.5  # a few steps of one run show a chance roughly: half of a step is thought added on either side
LESSONS_A_FAILURE = 2 / 3  # some failures show what others show too


class Course(msgspec.Struct, frozen=True, kw_only=True):
    """One way a run may go: `lessons` are still to be learnt, and a `failing` share of tasks fails for want of them.

    `tempted` is the chance that a minibatch leads to a change that helps nowhere, and harms a share of the tasks; if it
    `repeats`, it is always the same one.
    `asked` is how often an earlier run asked in a step what depends on proposals that nobody has seen.
    """

    lessons: int
    failing: float
    tempted: float = 0.0
    harm: float = USUAL_HARM
    repeats: bool = True
    asked: dict[str, float] = {}

    def failing_at(self, left: int) -> float:
        """Return the share of tasks that fails while so many lessons are left."""
        if not self.lessons:
            return self.failing
        return self.failing * (1 - math.pow(1 - left / self.lessons, _LESSONS_A_TASK))


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
    learnt: int = 0
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
        learnt=_learnt(steps),
        since_accept=len(since),
        failing=_failing(view, steps),
        seen=frozenset(row.task_id for step in since for row in step.rows),
        passed=_passed(since),
        asked=asked,
    )


def courses(start: Begun, earlier: RunView | None) -> tuple[Course, ...]:
    """Return the ways a run may go on from here, all equally likely: as an earlier run went, or as is usual."""
    usual = tuple(Course(lessons=lessons, failing=USUAL_FAILING, tempted=tempted) for lessons, tempted in USUAL)
    ways = usual if earlier is None else (*2 * (_as_before(earlier),), *usual)
    return tuple(_onwards(way, start) for way in ways)


def _onwards(way: Course, start: Begun) -> Course:
    """Return what is left of a way; while tasks fail there is something left to learn, if ever there was."""
    if start.failing is None:
        return way
    left = max(1, way.lessons - start.learnt) if way.lessons and start.failing else 0
    return msgspec.structs.replace(way, lessons=left, failing=start.failing)


def _as_before(view: RunView) -> Course:
    """Return the way an earlier run went: what it learnt, and how often it tried something where nothing was wrong."""
    steps = view.finished_steps
    idle = [step.candidate for step in steps if not _accepted(step) and all(row.hard == 1.0 for row in step.rows)]
    tried = [candidate.skill_digest for candidate in idle if candidate is not None and candidate.changed]
    share = (len(tried) + _DOUBT) / (len(idle) + 2 * _DOUBT)
    prompts = max(1.0, _rate(view, "reflect"))
    return Course(
        lessons=_learnt(steps),
        failing=_at_first(view),
        tempted=1 - (1 - share) ** (1 / prompts),
        repeats=len(set(tried)) < len(tried),
        asked={verb: _rate(view, verb) for verb in ("merge", "repair", "notes")},
    )


def _rate(view: RunView, verb: str) -> float:
    """Return how many calls of a verb a step took."""
    return view.stages[verb].calls / len(view.finished_steps) if verb in view.stages else 0.0


def _learnt(steps: Sequence[StepView]) -> int:
    """Return how many changes were kept."""
    kept = [step.candidate.edits for step in steps if step.candidate is not None and _accepted(step)]
    return sum(1 for edits in kept for edit in edits if edit.status == "applied")


def _accepted(step: StepView) -> bool:
    return step.gate is not None and "accept" in step.gate.action


def _failing(view: RunView, steps: Sequence[StepView]) -> float:
    """Return the share of tasks that failed when last looked at: in the last step, or on val before the first."""
    return _share([row.hard for row in steps[-1].rows]) if steps else _at_first(view)


def _at_first(view: RunView) -> float:
    baseline = view.score("baseline", "val")
    return 0.0 if baseline is None else _share([row.hard for row in baseline.rows])


def _share(marks: Sequence[float | None]) -> float:
    """Return the share of failures among what was measured; where nothing was, nothing failed."""
    measured = [mark for mark in marks if mark is not None]
    return sum(1 for mark in measured if mark < 1.0) / len(measured) if measured else 0.0


def _passed(steps: Sequence[StepView]) -> frozenset[str]:
    passed: frozenset[str] = frozenset()
    for step in steps:
        rows = [row for row in step.rows if row.hard is not None]
        whole = all(row.hard == 1.0 for row in rows)
        passed = passed | frozenset(row.task_id for row in rows) if whole else frozenset()
    return passed
