"""How many calls a run will make: one small function for each phase, and a walk over the steps that adds them up.
Owns the arithmetic of each phase's calls; refuses to know tokens, prices and journals."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence

import msgspec

from skillopt.domain.progress.state import Step
from skillopt.domain.tasks import Task
from skillopt.phases.gate import GateSettings
from skillopt.phases.judging.settings import JudgeSettings
from skillopt.phases.reflect import ReflectSettings
from skillopt.train.forecast.course import Begun, Course
from skillopt.train.plan import Plan


class Setup(msgspec.Struct, frozen=True, kw_only=True):
    """What decides how many calls a run makes: its plan, and the settings of the phases that ask."""

    plan: Plan
    reflect: ReflectSettings = ReflectSettings()
    gate: GateSettings = GateSettings()
    judge: JudgeSettings = JudgeSettings()


class Walked(msgspec.Struct, frozen=True, kw_only=True):
    """What a course comes to: calls by verb, and the steps it takes."""

    calls: dict[str, int]
    steps: int

    @property
    def total(self) -> int:
        """All calls."""
        return sum(self.calls.values())


class _Place(msgspec.Struct, kw_only=True):
    """Where a walk is; a task that was put to the present skill before is not paid for again."""

    accepts: int
    rejects: int
    since_accept: int
    seen: frozenset[str]
    passed: frozenset[str]


def walk(setup: Setup, course: Course, start: Begun) -> Walked:
    """Return the calls still to be made if the run goes this way from here."""
    if start.ended:
        return Walked(calls={}, steps=0)
    calls = Counter[str]() if start.baseline else baseline_calls(setup)
    place = _Place(
        accepts=course.accepts,
        rejects=course.rejects,
        since_accept=start.since_accept,
        seen=start.seen,
        passed=start.passed,
    )
    steps = 0
    for step in _to_go(setup.plan, start, course, place):
        batches = setup.plan.batches(step)
        tasks = {task.id: task for batch in batches for task in batch.tasks}
        failing = course.failing * place.accepts / course.accepts if course.accepts else 0.0
        calls += put(setup, [task for name, task in tasks.items() if name not in place.seen])
        if setup.plan.reflects(step):
            calls += reflect_calls(setup.reflect, [len(batch.tasks) for batch in batches], failing)
        calls += _decided(setup, place, frozenset(tasks), failing)
        if step.closes_epoch and not _ends(setup.plan, course, place):
            calls += epoch_calls(setup, course, step.epoch)
            if setup.plan.optimizer.slow_update.enabled and step.epoch > 1 and course.stops and place.accepts:
                _changed(place)  # while tasks fail, guidance is as good a change as any
        if setup.plan.merges_after(step) and course.accepts > 1:
            calls += gate_calls(setup)
        steps += 1
    calls += test_calls(setup, changed=start.accepts + course.accepts * (steps > 0) > 0)
    for verb, count in start.asked.items():
        calls[verb] = max(0, calls[verb] - count)
    return Walked(calls={verb: count for verb, count in sorted(calls.items()) if count}, steps=steps)


def put(setup: Setup, tasks: Sequence[Task]) -> Counter[str]:
    """Tasks put to the target, and their answers to a judge where they have a rubric."""
    judged = sum(1 for task in tasks if task.rubric is not None)
    return Counter(rollout=len(tasks), judge=judged * setup.judge.repeats)


def baseline_calls(setup: Setup) -> Counter[str]:
    """The seed skill on val."""
    return put(setup, setup.plan.val)


def reflect_calls(settings: ReflectSettings, batches: Sequence[int], failing: float) -> Counter[str]:
    """One for each minibatch of failures and of successes, microbatch by microbatch."""
    groups = 0
    for size in batches:
        wrong = round(size * failing)
        groups += math.ceil(wrong / settings.minibatch_size)
        if not settings.failures_only:
            groups += math.ceil((size - wrong) / settings.minibatch_size)
    return Counter(reflect=groups)


def gate_calls(setup: Setup) -> Counter[str]:
    """A candidate on val."""
    return put(setup, setup.plan.val)


def epoch_calls(setup: Setup, course: Course, epoch: int) -> Counter[str]:
    """Looking back on an epoch, from the second on: the comparison, the guidance with its gate, and the advice."""
    settings = setup.plan.optimizer
    slow = settings.slow_update
    calls = Counter(slow_update=int(slow.enabled), meta_skill=int(settings.meta_skill))
    if epoch == 1 or not calls.total():
        return Counter()
    train = setup.plan.tasks.train
    compared = train if slow.pairs != "mixed" and course.sides > 1 else train[: slow.samples]
    calls += put(setup, compared * course.sides)
    return calls + gate_calls(setup) if slow.enabled and course.sides else calls


def test_calls(setup: Setup, *, changed: bool) -> Counter[str]:
    """Each different skill on test; the best and the last are mostly the same."""
    skills = {"initial" if name == "initial" or not changed else "best" for name in setup.plan.test}
    return put(setup, setup.plan.tasks.test * len(skills))


def most(setup: Setup, start: Begun) -> Walked:
    """Return the most calls: nothing ends the run early, every step is accepted, and the best is not the last."""
    to_go = setup.plan.total_steps - start.steps
    whole = walk(setup, Course(accepts=max(1, to_go), rejects=0, failing=0.5, stops=False, sides=2), start)
    if whole.calls and {"best", "last"} <= set(setup.plan.test):
        calls = Counter(whole.calls) + put(setup, setup.plan.tasks.test)
        return msgspec.structs.replace(whole, calls=dict(calls))
    return whole


def least(setup: Setup, start: Begun) -> Walked:
    """Return the fewest calls: the skill as it stands is right everywhere."""
    return walk(setup, Course(accepts=0, rejects=0, failing=0.0, sides=0), start)


def _decided(setup: Setup, place: _Place, tasks: frozenset[str], failing: float) -> Counter[str]:
    """Let the step be accepted, rejected or empty, and return what its gate costs."""
    place.seen |= tasks
    place.passed = place.passed | tasks if failing == 0.0 else frozenset()
    place.since_accept += 1
    if place.accepts:
        _changed(place)
        return gate_calls(setup)
    if place.rejects:
        place.rejects -= 1
        return gate_calls(setup)
    return Counter()


def _changed(place: _Place) -> None:
    """Accept a change: the new skill has answered nothing yet."""
    place.accepts -= 1
    place.seen = place.passed = frozenset()
    place.since_accept = 0


def _ends(plan: Plan, course: Course, place: _Place) -> bool:
    """Say whether the run ends here before its last step."""
    solved = plan.stop.when == "solved" and not place.accepts and len(place.passed) == len(plan.tasks.train)
    tired = plan.stop.patience is not None and place.since_accept >= plan.stop.patience
    return course.stops and (solved or tired)


def _to_go(plan: Plan, start: Begun, course: Course, place: _Place) -> Iterator[Step]:
    """Yield the steps until the plan is done or the course ends it."""
    for step in plan.steps():
        if step.number <= start.steps:
            continue
        if start.closing or _ends(plan, course, place):
            return
        yield step
