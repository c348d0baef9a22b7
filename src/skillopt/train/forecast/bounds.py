"""The fewest and the most calls that a run can still make without faults.
Owns the extremes of each phase; refuses to know what is likely."""

from __future__ import annotations

import math
from collections.abc import Iterator

from skillopt.domain.progress.state import Step
from skillopt.train.forecast.calls import (
    NONE,
    Calls,
    Setup,
    bar_calls,
    carries,
    epoch_calls,
    most_merges,
    pairwise_calls,
    plus,
    put,
    reflections,
    times,
)
from skillopt.train.forecast.course import Begun, Course
from skillopt.train.forecast.gating import most_calls
from skillopt.train.forecast.walk import Walked, walk

_MOST_EDITS = 64  # of a candidate, where no budget says


def least(setup: Setup, start: Begun) -> Walked:
    """Return the fewest calls: the skill as it stands is right everywhere."""
    return walk(setup, Course(lessons=0, failing=0.0), start)


def most(setup: Setup, start: Begun) -> Walked:
    """Return the most calls: nothing ends the run early, every phase asks all it can, and all skills differ."""
    if start.ended:
        return Walked(calls={}, steps=0)
    parts = [] if start.baseline else [(bar_calls(setup), 0)]
    learnt, steps, done = start.learnt, 0, start.steps
    for step in setup.plan.steps():
        if step.number > start.steps and not start.closing:
            parts.append((_step(setup, step), learnt))
            done = step.number
            steps += 1
            learnt += _edits(setup, step)
            if step.closes_epoch and step.epoch > 1:
                parts.append((_epoch(setup), learnt))
            if setup.plan.merges_after(step):
                parts.append((_gates(setup, 1), learnt))
    parts.append((_end(setup), learnt))
    calls = dict(plus(*(calls for calls, _ in parts)))
    lessons = plus(
        *({verb: count * carries(setup, verb, known, done) for verb, count in calls.items()} for calls, known in parts)
    )
    asked = {verb: max(0.0, count - start.asked.get(verb, 0)) for verb, count in sorted(calls.items())}
    return Walked(
        calls={verb: count for verb, count in asked.items() if count},
        steps=steps,
        lessons={verb: asked[verb] * lessons[verb] / calls[verb] for verb in asked if verb in lessons},
        phases={verb: _smallest(setup, verb, count, steps) for verb, count in asked.items() if count},
    )


def _smallest(setup: Setup, verb: str, count: float, steps: int) -> tuple[float, ...]:
    """Cut calls into the smallest phases there can be: waves of a gate, the minibatches of a step, single questions."""
    waves = {"rollout": float(setup.gate.wave), "judge": float(setup.gate.wave), "reflect": count / max(1, steps)}
    size = waves.get(verb, 1.0)
    return (size,) * math.ceil(count / size)


def _step(setup: Setup, step: Step) -> Calls:
    optimizer, batches = setup.plan.optimizer, setup.plan.batches(step)
    once = put(setup, [task for batch in batches for task in batch.tasks])
    if not setup.plan.reflects(step):
        return once
    reflected = _most_reflections(setup, [len(batch.tasks) for batch in batches])
    forced = optimizer.skill_aware.enabled and optimizer.skill_aware.accept == "force"
    asked = {
        "rank": float(optimizer.control == "fixed" and setup.plan.edit_budget(step) is not None),
        "budget": float(optimizer.control == "autonomous"),
        "repair": float(optimizer.mode == "patch" and optimizer.repair),
        "rewrite": float(optimizer.mode == "rewrite_from_suggestions"),
        "notes": float(optimizer.skill_aware.enabled and optimizer.skill_aware.consolidate_above > 0),
    }
    return plus(
        once,
        {"reflect": reflected},
        most_merges(setup.aggregate, reflected),
        asked,
        _gates(setup, _edits(setup, step)),
        bar_calls(setup) if forced else NONE,
    )


def _most_reflections(setup: Setup, sizes: list[int]) -> int:
    """Return the minibatches when as many as can be of each microbatch are not full."""
    return sum(max(sum(reflections(setup.reflect, [size], [wrong])) for wrong in range(size + 1)) for size in sizes)


def _gates(setup: Setup, edits: int) -> Calls:
    """A gate, and where rejected changes are tried in halves all parts that there can be."""
    parts = 1 + sum(_parts(setup, edits))
    gate = plus(most_calls(setup), pairwise_calls(setup))
    again = times(2, put(setup, setup.plan.val)) if pairwise_calls(setup) else NONE
    return times(parts, plus(gate, again))


def _parts(setup: Setup, edits: int) -> Iterator[int]:
    """Yield how many parts are tried on each level of halving."""
    settings, size, level = setup.gate, edits, 0
    while settings.bisect and size > 1 and (settings.bisect_levels is None or level < settings.bisect_levels):
        level += 1
        size = (size + 1) // 2
        yield min(2**level, edits)


def _edits(setup: Setup, step: Step) -> int:
    budget = setup.plan.edit_budget(step)
    return _MOST_EDITS if budget is None or setup.plan.optimizer.control == "autonomous" else budget


def _epoch(setup: Setup) -> Calls:
    optimizer, train = setup.plan.optimizer, setup.plan.tasks.train
    slow = optimizer.slow_update
    if not (slow.enabled or optimizer.meta_skill):
        return NONE
    compared = train if slow.pairs == "changed" else train[: slow.samples]
    gate = plus(_gates(setup, 1), bar_calls(setup) if slow.accept == "force" else NONE)
    return plus(times(2, put(setup, compared)), epoch_calls(setup, looked=True), gate if slow.enabled else NONE)


def _end(setup: Setup) -> Calls:
    """The tests of all skills, and what of val was left out where answers do not vary."""
    rest = times(2, put(setup, setup.plan.val)) if setup.gate.deterministic else NONE
    return plus(times(len(set(setup.plan.test)), put(setup, setup.plan.tasks.test)), rest)
