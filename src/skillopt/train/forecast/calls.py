"""How many calls each phase makes: one small function for each, given how much there is to do.
Owns the arithmetic of each phase's calls; refuses to know how a run goes, tokens, prices and journals."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import msgspec

from skillopt.domain.tasks import Task
from skillopt.phases.aggregate import AggregateSettings, groups_of
from skillopt.phases.gate import GateSettings
from skillopt.phases.judging.settings import JudgeSettings
from skillopt.phases.recall import STEPS_SHOWN
from skillopt.phases.reflect import ReflectSettings
from skillopt.train.plan import Plan

Calls = Mapping[str, float]

NONE: Calls = {}
_TOLD_AGAIN = 3  # lessons: what an earlier step takes where the ledger tells of it
_IN_DOUBT = 0.5  # of the groups of proposals, as long as nobody knows: those related closely enough to be asked about


class Setup(msgspec.Struct, frozen=True, kw_only=True):
    """What decides how many calls a run makes: its plan, and the settings of the phases that ask."""

    plan: Plan
    reflect: ReflectSettings = ReflectSettings()
    aggregate: AggregateSettings = AggregateSettings()
    gate: GateSettings = GateSettings()
    judge: JudgeSettings = JudgeSettings()


def carries(setup: Setup, verb: str, learnt: int, steps: int) -> float:
    """Return the lessons that a call is told: those in the skill, and those of earlier steps that the ledger tells."""
    told = _TOLD_AGAIN * min(STEPS_SHOWN, steps) if verb == "reflect" and setup.reflect.ledger else 0
    return learnt + told


def plus(*parts: Calls) -> Calls:
    """Return the sum, verb by verb."""
    whole: dict[str, float] = {}
    for part in parts:
        for verb, count in part.items():
            whole[verb] = whole[verb] + count if verb in whole else count
    return {verb: count for verb, count in whole.items() if count}


def times(count: float, calls: Calls) -> Calls:
    """Return the calls of doing it so often."""
    return plus({verb: count * each for verb, each in calls.items()})


def put(setup: Setup, tasks: Sequence[Task]) -> Calls:
    """Tasks put to the target, and their answers to a judge where they have a rubric; a program is no call."""
    judged = sum(1 for task in tasks if task.rubric is not None)
    return plus({"rollout": len(tasks), "judge": judged * setup.judge.repeats})


def bar_calls(setup: Setup) -> Calls:
    """A skill on val, as often as later candidates need to be compared with it; so begins a run, and each accept."""
    return times(setup.gate.trials, put(setup, setup.plan.val))


def pairwise_calls(setup: Setup) -> Calls:
    """Old and new answers shown to the judge in both orders, before a change is kept; both are there already."""
    if setup.judge.mode != "pairwise" or setup.gate.rule == "force":
        return NONE
    return times(2, plus({"judge": put(setup, setup.plan.val).get("judge", 0)}))


def reflections(settings: ReflectSettings, batches: Sequence[int], wrong: Sequence[int]) -> tuple[int, int]:
    """Return how many minibatches of failures and of successes there are, microbatch by microbatch."""
    size = settings.minibatch_size
    failures = sum(math.ceil(count / size) for count in wrong)
    successes = sum(math.ceil((batch - count) / size) for batch, count in zip(batches, wrong, strict=True))
    return failures, 0 if settings.failures_only else successes


def merge_calls(settings: AggregateSettings, failures: int, successes: int = 0) -> Calls:
    """The groups in the trees of those minibatches that propose something; `related` asks about some of them only."""
    share = 1.0 if settings.ask == "always" else _IN_DOUBT
    return plus({"merge": share * _groups(settings.fan_in, failures, successes)})


def most_merges(settings: AggregateSettings, minibatches: int) -> Calls:
    """All groups in the trees, however many of the minibatches are failures."""
    splits = ((failures, minibatches - failures) for failures in range(minibatches + 1))
    return plus({"merge": max(_groups(settings.fan_in, *split) for split in splits)})


def choice_calls(setup: Setup, proposed: int, budget: int | None) -> Calls:
    """The optimizer's budget, or its ranking where more is proposed than the schedule allows."""
    control = setup.plan.optimizer.control
    ranked = control == "fixed" and budget is not None and 0 < budget < proposed
    return plus({"budget": float(control == "autonomous" and proposed > 0), "rank": float(ranked)})


def rewrite_calls(setup: Setup, proposed: int) -> Calls:
    """A rewrite, in the mode that works suggestions in."""
    return plus({"rewrite": float(setup.plan.optimizer.mode == "rewrite_from_suggestions" and proposed > 0)})


def epoch_calls(setup: Setup, *, looked: bool) -> Calls:
    """The questions at the end of an epoch from the second on: guidance where pairs were looked at, and advice."""
    settings = setup.plan.optimizer
    return plus(
        {"slow_update": float(settings.slow_update.enabled and looked), "meta_skill": float(settings.meta_skill)}
    )


def seed_test_calls(setup: Setup) -> Calls:
    """The seed skill on test, where that is wanted; it is certain from the beginning."""
    return put(setup, setup.plan.tasks.test) if "initial" in setup.plan.test else NONE


def last_test_calls(setup: Setup, *, changed: bool) -> Calls:
    """What else is put to test at the end; the best and the last are mostly the same."""
    others = {"best", "last"} & set(setup.plan.test)
    return put(setup, setup.plan.tasks.test) if others and (changed or "initial" not in setup.plan.test) else NONE


def _groups(fan_in: int, failures: int, successes: int) -> int:
    """Return how many groups of two and more there are, on all levels of both trees and where these meet."""
    groups = 0
    while max(failures, successes) > 1:
        levels = (groups_of(failures, fan_in), groups_of(successes, fan_in))
        groups += sum(1 for level in levels for size in level if size > 1)
        failures, successes = (len(level) for level in levels)
    return groups + (failures + successes > 1)
