"""Walks over the steps that a run has still to go, along one course, and adds up what is asked.
Owns what a step leads to on a course; refuses to know tokens, prices and journals."""

from __future__ import annotations

import math
from collections.abc import Sequence

import msgspec

from skillopt.domain.evidence.alpha import Spending
from skillopt.domain.progress.state import Step
from skillopt.domain.seeds import dice
from skillopt.domain.tasks import Task
from skillopt.phases.consolidate.pairs import drawn
from skillopt.train.forecast.calls import (
    Calls,
    Setup,
    bar_calls,
    carries,
    choice_calls,
    epoch_calls,
    last_test_calls,
    merge_calls,
    pairwise_calls,
    plus,
    put,
    reflections,
    rewrite_calls,
    seed_test_calls,
)
from skillopt.train.forecast.course import LESSONS_A_FAILURE, Begun, Course
from skillopt.train.forecast.gating import Change, hold


class Walked(msgspec.Struct, frozen=True, kw_only=True):
    """What a course comes to: calls by verb, the steps it takes, and the lessons that all calls were told.

    `phases` are, by verb, the calls that can be made at once, one phase after the other.
    """

    calls: dict[str, float]
    steps: int
    lessons: dict[str, float] = {}
    phases: dict[str, tuple[float, ...]] = {}

    @property
    def total(self) -> float:
        """All calls."""
        return sum(self.calls.values())


def walk(setup: Setup, course: Course, start: Begun, number: int = 0) -> Walked:
    """Return the calls still to be made if the run goes this way from here; each number throws the dice anew."""
    if start.ended:
        return Walked(calls={}, steps=0)
    return _Walk(setup, course, start, number).to_the_end(start)


class _Walk:
    """Where a walk is; a task that was put to the present skill before is not paid for again."""

    def __init__(self, setup: Setup, course: Course, start: Begun, number: int) -> None:
        self._setup = setup
        self._plan = setup.plan
        self._course = course
        self._dice = dice("forecast", number)
        self._left = course.lessons
        self._spoilt = False
        self._learnt = start.learnt
        self._steps = start.steps
        self._changed = start.accepts > 0
        self._since_accept = start.since_accept
        self._seen = set(start.seen)
        self._passed = set(start.passed)
        self._skill = 0
        self._before = (0, self._seen)  # the skill that closed the last epoch, and what was put to it
        self._tempted = False
        self._gates = 0
        self._accepts: list[int] = []
        self._calls: dict[str, float] = {}
        self._lessons: dict[str, float] = {}
        self._phases: dict[str, tuple[float, ...]] = {}

    def to_the_end(self, start: Begun) -> Walked:
        """Take the steps that are left, and the tests."""
        if not start.baseline:
            self._pay(bar_calls(self._setup))
        for step in self._plan.steps():
            if step.number <= start.steps:
                continue
            if start.closing or self._ends():
                break
            self._step(step)
            self._steps += 1
            if self._plan.merges_after(step) and len(self._accepts) > 1:
                self._gate_in_vain()
            if step.closes_epoch and not self._ends():
                self._look_back(step)
        self._pay(seed_test_calls(self._setup), beside=True)
        self._pay(last_test_calls(self._setup, changed=self._changed))
        asked = {verb: max(0.0, count - start.asked.get(verb, 0)) for verb, count in self._calls.items()}
        calls = {verb: float(round(count)) for verb, count in sorted(asked.items()) if round(count)}
        lessons = {verb: calls[verb] * self._lessons[verb] / self._calls[verb] for verb in calls}
        phases = {verb: self._phases.get(verb, ()) for verb in calls}
        return Walked(calls=calls, steps=self._steps - start.steps, lessons=lessons, phases=phases)

    @property
    def _failing(self) -> float:
        failing = self._course.failing_at(self._left)
        return failing + self._course.harm * (1 - failing) if self._spoilt else failing

    def _pay(self, calls: Calls, *, beside: bool = False) -> None:
        """Add up calls; those that are made beside others, while these wait, are no phase of their own."""
        self._calls = dict(plus(self._calls, calls))
        carried = {verb: count * carries(self._setup, verb, self._learnt, self._steps) for verb, count in calls.items()}
        self._lessons = dict(plus(self._lessons, carried))
        for verb in self._calls.keys() - self._lessons.keys():
            self._lessons[verb] = 0.0
        for verb, count in () if beside else calls.items():
            self._phases[verb] = (*self._phases.get(verb, ()), count)

    def _pay_all(self, phases: Sequence[Calls]) -> None:
        for calls in phases:
            self._pay(calls)

    def _put(self, tasks: Sequence[Task]) -> None:
        self._pay(put(self._setup, [task for task in tasks if task.id not in self._seen]))
        self._seen.update(task.id for task in tasks)

    def _step(self, step: Step) -> None:
        batches = self._plan.batches(step)
        wrong = [self._wrong(len(batch.tasks)) for batch in batches]
        self._put([task for batch in batches for task in batch.tasks])
        if any(wrong):
            self._passed.clear()
        else:
            self._passed.update(task.id for batch in batches for task in batch.tasks)
        self._since_accept += 1
        if self._plan.reflects(step):
            self._propose(step, wrong)
        reminding = self._plan.optimizer.skill_aware
        if reminding.enabled and reminding.accept == "force" and any(wrong):
            self._pay(bar_calls(self._setup))
            self._another_skill()

    def _propose(self, step: Step, wrong: Sequence[int]) -> None:
        """Reflect on what failed, and hold what comes of it against the skill."""
        batches = self._plan.batches(step)
        prompts = reflections(self._setup.reflect, [len(batch.tasks) for batch in batches], wrong)
        self._pay({"reflect": sum(prompts)})
        found, tempted = self._found(sum(wrong)), self._is_tempted(sum(prompts))
        budget = self._plan.edit_budget(step)
        proposed = found + tempted
        self._choose(proposed, prompts[0] if found else 0, budget)
        tempted = tempted and (budget is None or proposed <= budget)  # a ranking leaves out what few ask for
        taught = found if budget is None else min(found, budget)
        if taught:
            self._gate(taught, spoilt=tempted)
        elif tempted:
            self._gate_in_vain()

    def _wrong(self, tasks: int) -> int:
        failing = self._failing
        return sum(1 for _ in range(tasks) if self._dice.random() < failing)

    def _found(self, wrong: int) -> int:
        """Return how many different lessons so many failures show."""
        return min(self._left + self._spoilt, math.ceil(LESSONS_A_FAILURE * wrong))

    def _is_tempted(self, prompts: int) -> bool:
        return not self._spoilt and self._dice.random() < 1 - (1 - self._course.tempted) ** prompts

    def _choose(self, proposed: int, minibatches: int, budget: int | None) -> None:
        known = self._course.asked
        self._pay({"merge": known["merge"]} if "merge" in known else merge_calls(self._setup.aggregate, minibatches))
        self._pay(choice_calls(self._setup, proposed, budget))
        self._pay(rewrite_calls(self._setup, proposed))
        self._pay({verb: known[verb] for verb in ("repair", "notes") if verb in known})

    def _gate(self, taught: int, *, spoilt: bool = False) -> None:
        """Hold a change that teaches so many lessons against the skill; a rejected one is perhaps tried in halves."""
        levels = self._setup.gate.bisect_levels
        parts: tuple[int, ...] = (taught,)
        while not self._accepted(parts, spoilt=spoilt) and self._setup.gate.bisect and max(parts) > 1 and levels != 0:
            parts = tuple(half for part in parts if part > 1 for half in ((part + 1) // 2, part // 2))
            levels = None if levels is None else levels - 1
            spoilt = False

    def _accepted(self, parts: Sequence[int], *, spoilt: bool) -> bool:
        """Decide on each part; keep the first that is accepted."""
        accepted = 0
        for part in parts:
            if self._held(part, spoilt=spoilt):
                self._pay(pairwise_calls(self._setup))
                self._accepts.append(self._gates)
                accepted = accepted or part
        if accepted:
            lessons = min(self._left, accepted - self._spoilt)
            self._left -= lessons
            self._learnt += lessons
            self._spoilt = spoilt
            self._since_accept = 0
            self._another_skill()
        return accepted > 0

    def _held(self, taught: int, *, spoilt: bool) -> bool:
        """Hold the gate; what was spoilt is the first that is mended."""
        after = self._course.failing_at(max(0, self._left - (taught - self._spoilt)))
        harm = self._course.harm * (1 - after) if spoilt else 0.0
        held = hold(self._setup, self._alpha(), Change(failing=self._failing, still=after, spoilt=harm))
        self._pay_all(held.phases)
        return held.accepted

    def _gate_in_vain(self) -> None:
        """Hold a change that helps nowhere against the skill; what was measured before is decided without a call."""
        fresh = self._setup.gate.rule == "paired" or not (self._tempted and self._course.repeats)
        failing = self._failing
        change = Change(failing=failing, still=failing, spoilt=self._course.harm * (1 - failing))
        held = hold(self._setup, self._alpha(), change)
        self._tempted = True
        if fresh:
            self._pay_all(held.phases)
        if held.accepted:
            self._spoilt = True
            self._since_accept = 0
            self._another_skill()

    def _alpha(self) -> float:
        self._gates += 1
        settings = self._setup.gate
        spending = Spending(alpha=settings.alpha, control=settings.control, horizon=max(1, self._plan.total_steps))
        return spending.at(self._gates, self._accepts)

    def _another_skill(self) -> None:
        """A new skill has answered nothing yet."""
        self._changed = True
        self._skill += 1
        self._tempted = False
        self._seen, self._passed = set[str](), set[str]()

    def _look_back(self, step: Step) -> None:
        """Close an epoch: the first has nothing to be compared with."""
        settings, slow = self._plan.optimizer, self._plan.optimizer.slow_update
        if step.epoch > 1 and (slow.enabled or settings.meta_skill):
            looked = slow.pairs != "changed" or self._skill != self._before[0]
            if looked:
                self._compare(step)
            self._pay(epoch_calls(self._setup, looked=looked))
            if slow.enabled and looked:
                self._guide(forced=slow.accept == "force")
        self._before = (self._skill, self._seen)

    def _compare(self, step: Step) -> None:
        """Put a sample of train to the skill of an epoch ago and to that of now."""
        order = drawn(self._plan.tasks.train, self._plan.train.seed, step.epoch)
        sample = order[: self._plan.optimizer.slow_update.samples]
        skill, seen = self._before
        if skill != self._skill:
            self._pay(put(self._setup, [task for task in sample if task.id not in seen]))
        self._put(sample)

    def _guide(self, *, forced: bool) -> None:
        """Let the gate decide on guidance: it may teach what is left to learn, and takes nothing out of the skill."""
        if forced:
            self._pay(bar_calls(self._setup))
            self._another_skill()
        elif found := min(self._left, self._found(self._wrong(self._plan.optimizer.slow_update.samples))):
            self._gate(found)
        else:
            self._gate_in_vain()

    def _ends(self) -> bool:
        """Say whether the run ends here before its last step."""
        stop = self._plan.stop
        val = len(self._plan.val)
        wrong = round(val * self._failing)
        solved = stop.when == "solved" and not wrong and len(self._passed) == len(self._plan.tasks.train)
        tired = stop.patience is not None and self._since_accept >= stop.patience
        reached = stop.target is not None and 1 - wrong / max(1, val) >= stop.target
        return solved or tired or reached
