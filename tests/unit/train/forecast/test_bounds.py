from __future__ import annotations

import msgspec
import pytest

from skillopt.phases.aggregate import AggregateSettings
from skillopt.phases.consolidate.notes import SkillAwareSettings
from skillopt.phases.gate import GateSettings
from skillopt.train.forecast.bounds import least, most
from skillopt.train.forecast.course import Begun
from skillopt.train.settings import OptimizerSettings, SearchSettings
from tests.unit.train.forecast.plans import setup


def test_the_least_is_a_skill_that_is_right() -> None:
    assert least(setup(), Begun()).calls == {"rollout": 5 + 12 + 4, "reflect": 2 * 2}


def test_the_most_is_every_step_accepted_and_three_tests() -> None:
    walked = most(setup(), Begun())
    assert walked.steps == 4
    assert walked.calls["rollout"] == 5 + 4 * (6 + 5) + 3 * 4
    assert walked.calls["reflect"] == 4 * 3
    assert walked.calls["rank"] == walked.calls["repair"] == 4
    assert walked.lessons["rollout"] > 0


def test_the_paired_gate_may_try_each_task_four_times() -> None:
    assert most(setup(gate=GateSettings()), Begun()).calls["rollout"] == 3 * 5 + 4 * (6 + 4 * 5 + 3 * 5) + 3 * 4


@pytest.mark.parametrize(("levels", "parts"), [(1, 2), (2, 6), (None, 6)])
def test_halves_multiply_gates(levels: int | None, parts: int) -> None:
    halving = GateSettings(rule="strict", bisect=True, bisect_levels=levels)
    steady = OptimizerSettings(edit_budget=4, min_edit_budget=4, meta_skill=False)
    ready = setup(gate=halving, epochs=1, optimizer=steady)
    assert most(ready, Begun()).calls["rollout"] == 5 + 2 * (6 + (1 + parts) * 5) + 3 * 4


@pytest.mark.parametrize(
    ("optimizer", "verbs"),
    [
        (OptimizerSettings(mode="rewrite_from_suggestions"), {"rewrite", "rank"}),
        (OptimizerSettings(mode="full_rewrite_minibatch"), set()),
        (OptimizerSettings(budget_control="autonomous"), {"budget", "repair"}),
        (OptimizerSettings(repair=False, skill_aware=SkillAwareSettings(enabled=True, consolidate_above=3)), {"notes"}),
    ],
)
def test_each_way_of_changing_a_skill_asks_what_it_needs(optimizer: OptimizerSettings, verbs: set[str]) -> None:
    asked = most(setup(optimizer=optimizer), Begun()).calls.keys()
    assert verbs <= asked
    assert not {"rewrite", "budget", "notes"} - verbs & asked


def test_all_merges_are_counted_at_most() -> None:
    ready = msgspec.structs.replace(setup(epochs=1), aggregate=AggregateSettings(fan_in=2))
    assert most(ready, Begun()).calls["merge"] == 2 * 2


def test_what_is_done_is_not_counted_again() -> None:
    assert most(setup(), Begun(baseline=True, steps=4, ended=True)).total == 0
    closing = Begun(baseline=True, steps=4, closing=True, asked={"rollout": 3})
    assert most(setup(), closing).calls == {"rollout": 3 * 4 - 3}


def test_a_frontier_costs_a_gate_whenever_two_skills_may_be_put_together() -> None:
    without = most(setup(), Begun()).calls["rollout"]
    assert most(setup(search=SearchSettings(frontier=2)), Begun()).calls["rollout"] == without + 2 * 5, "two epochs"
    assert least(setup(search=SearchSettings(frontier=2)), Begun()) == least(setup(), Begun())
