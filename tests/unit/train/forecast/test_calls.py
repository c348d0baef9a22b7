from __future__ import annotations

import msgspec
import pytest

from skillopt.domain.tasks import Task
from skillopt.phases.aggregate import AggregateSettings
from skillopt.phases.gate import GateSettings
from skillopt.phases.judging.settings import JudgeSettings
from skillopt.phases.reflect import ReflectSettings
from skillopt.train.forecast.calls import (
    Setup,
    bar_calls,
    choice_calls,
    epoch_calls,
    last_test_calls,
    merge_calls,
    most_merges,
    pairwise_calls,
    plus,
    put,
    reflections,
    rewrite_calls,
    seed_test_calls,
    times,
)
from skillopt.train.settings import OptimizerSettings
from tests.unit.train.forecast.plans import setup


def judged(base: Setup, **judge: object) -> Setup:
    tasks = msgspec.structs.replace(
        base.plan.tasks, val=(Task(id="a", input="x", rubric="Be brief."), Task(id="b", input="x", reference="y"))
    )
    settings = msgspec.convert(judge, JudgeSettings)
    return msgspec.structs.replace(base, plan=msgspec.structs.replace(base.plan, tasks=tasks), judge=settings)


def test_sums_and_products() -> None:
    assert plus({"a": 1, "b": 2}, {"b": 3, "c": 0}) == {"a": 1, "b": 5}
    assert times(3, {"a": 2}) == {"a": 6}


@pytest.mark.parametrize(
    ("batches", "wrong", "failures_only", "groups"),
    [
        ([8], [4], False, (1, 1)),
        ([8], [4], True, (1, 0)),
        ([9], [9], False, (3, 0)),
        ([4, 4], [1, 1], False, (2, 2)),
        ([8], [0], True, (0, 0)),
    ],
)
def test_one_reflection_for_each_minibatch(
    batches: list[int], wrong: list[int], failures_only: bool, groups: tuple[int, int]
) -> None:
    settings = ReflectSettings(minibatch_size=4, failures_only=failures_only)
    assert reflections(settings, batches, wrong) == groups


def test_answers_to_tasks_with_a_rubric_are_judged() -> None:
    thrice = judged(setup(), repeats=3)
    assert put(thrice, thrice.plan.val) == {"rollout": 2, "judge": 3}


def test_a_bar_has_as_many_trials_as_the_rule_wants() -> None:
    assert bar_calls(setup()) == {"rollout": 5}
    assert bar_calls(setup(gate=GateSettings(known_trials=2))) == {"rollout": 10}
    assert bar_calls(setup(gate=GateSettings(deterministic=True))) == {"rollout": 5}


def test_a_pair_is_shown_in_both_orders_and_only_if_the_config_says_so() -> None:
    assert pairwise_calls(judged(setup())) == {}
    assert pairwise_calls(judged(setup(), mode="pairwise", repeats=2)) == {"judge": 4}
    assert pairwise_calls(judged(setup(gate=GateSettings(rule="force")), mode="pairwise")) == {}


@pytest.mark.parametrize(
    ("failures", "successes", "groups"), [(0, 0, 0), (1, 0, 0), (1, 1, 1), (3, 0, 2), (3, 3, 5), (4, 1, 4)]
)
def test_proposals_are_merged_in_two_trees_that_meet(failures: int, successes: int, groups: int) -> None:
    always = AggregateSettings(fan_in=2, ask="always")
    assert merge_calls(always, failures, successes) == plus({"merge": groups})
    assert merge_calls(AggregateSettings(fan_in=2), failures, successes) == plus({"merge": groups / 2})


def test_the_most_merges_do_not_depend_on_what_fails() -> None:
    always = AggregateSettings(fan_in=3, ask="always")
    for failures in range(8):
        merges = merge_calls(always, failures, 7 - failures)["merge"]
        assert merges <= most_merges(AggregateSettings(fan_in=3), 7)["merge"]


def test_a_ranking_is_asked_for_where_more_is_proposed_than_allowed() -> None:
    assert choice_calls(setup(), 5, 4) == {"rank": 1}
    assert choice_calls(setup(), 4, 4) == choice_calls(setup(), 4, 0) == choice_calls(setup(), 9, None) == {}
    autonomous = setup(optimizer=OptimizerSettings(budget_control="autonomous"))
    assert choice_calls(autonomous, 5, 4) == {"budget": 1}
    assert choice_calls(autonomous, 0, 4) == {}


def test_only_one_mode_rewrites() -> None:
    rewriting = setup(optimizer=OptimizerSettings(mode="rewrite_from_suggestions"))
    assert rewrite_calls(rewriting, 2) == {"rewrite": 1}
    assert rewrite_calls(rewriting, 0) == rewrite_calls(setup(), 2) == {}


def test_an_epoch_asks_for_guidance_and_advice() -> None:
    assert epoch_calls(setup(guided=True), looked=True) == {"slow_update": 1, "meta_skill": 1}
    assert epoch_calls(setup(guided=True), looked=False) == {"meta_skill": 1}
    assert epoch_calls(setup(), looked=True) == {}


def test_the_best_and_the_last_are_tested_once() -> None:
    both, last, none = setup(), setup(test=("best",)), setup(test=())
    assert (seed_test_calls(both), last_test_calls(both, changed=True)) == ({"rollout": 4}, {"rollout": 4})
    assert last_test_calls(both, changed=False) == {}
    assert (seed_test_calls(last), last_test_calls(last, changed=False)) == ({}, {"rollout": 4})
    assert (seed_test_calls(none), last_test_calls(none, changed=True)) == ({}, {})
