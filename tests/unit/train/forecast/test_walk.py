from __future__ import annotations

import pytest

from skillopt.phases.consolidate.notes import SkillAwareSettings
from skillopt.phases.consolidate.slow_update import SlowUpdateSettings
from skillopt.phases.gate import GateSettings
from skillopt.train.forecast.bounds import most
from skillopt.train.forecast.calls import Setup
from skillopt.train.forecast.course import Begun, Course
from skillopt.train.forecast.walk import walk
from skillopt.train.settings import OptimizerSettings, StopSettings
from tests.unit.train.forecast.plans import setup

NEVER = StopSettings(when="never")
RIGHT = Course(lessons=0, failing=0.0)
STUCK = Course(lessons=0, failing=1.0)
ONE = Course(lessons=1, failing=1.0)


def test_a_skill_that_is_right_costs_a_baseline_one_pass_and_a_test() -> None:
    walked = walk(setup(), RIGHT, Begun())
    assert walked.steps == 2
    assert walked.calls == {"rollout": 5 + 12 + 4, "reflect": 2 * 2}


def test_a_task_is_not_put_twice_to_the_same_skill() -> None:
    never = setup(stop=NEVER)
    assert walk(never, STUCK, Begun()).calls["rollout"] == 5 + 12 + 4
    assert walk(never, ONE, Begun()).calls["rollout"] == 5 + (6 + 5) + 12 + 2 * 4


def test_what_is_learnt_stands_in_the_skill_of_later_calls() -> None:
    walked = walk(setup(stop=NEVER), ONE, Begun())
    assert walked.lessons["rollout"] == 12 + 2 * 4
    assert walk(setup(), RIGHT, Begun()).lessons["rollout"] == 0


def test_a_worthless_change_is_measured_once_if_it_repeats() -> None:
    tempted = Course(lessons=0, failing=0.0, tempted=1.0)
    never = setup(stop=NEVER)
    none = walk(never, RIGHT, Begun()).calls["rollout"]
    assert walk(never, tempted, Begun()).calls["rollout"] == none + 5
    fresh = Course(lessons=0, failing=0.0, tempted=1.0, repeats=False)
    assert walk(never, fresh, Begun()).calls["rollout"] == none + 4 * 5


def test_patience_and_a_target_end_it() -> None:
    assert walk(setup(stop=StopSettings(when="never", patience=1)), STUCK, Begun()).steps == 1
    reached = walk(setup(stop=StopSettings(when="never", target=1.0)), RIGHT, Begun())
    assert (reached.steps, reached.calls) == (0, {"rollout": 5 + 4})


def test_what_is_done_is_not_counted_again() -> None:
    whole = walk(setup(), RIGHT, Begun())
    half = Begun(baseline=True, steps=1, seen=frozenset(f"train-{n}" for n in range(6)), asked={"rollout": 3})
    assert walk(setup(), RIGHT, half).total < whole.total - 5
    closing = Begun(baseline=True, steps=2, closing=True, asked={"rollout": 3})
    assert walk(setup(), RIGHT, closing).calls == {"rollout": 1}
    assert walk(setup(), RIGHT, Begun(baseline=True, steps=2, ended=True)).total == 0


def test_the_same_number_throws_the_same_dice() -> None:
    course = Course(lessons=6, failing=0.5, tempted=0.3)
    ready = setup(sizes=(40, 20, 4))
    walks = [walk(ready, course, Begun(), number) for number in range(8)]
    assert walks == [walk(ready, course, Begun(), number) for number in range(8)]
    assert len({walked.total for walked in walks}) > 1


def test_a_rejected_change_is_tried_in_halves() -> None:
    learning = Course(lessons=8, failing=0.1)  # two of its lessons mend no task of twenty

    def rollouts(gate: GateSettings) -> float:
        ready = setup(sizes=(48, 20, 0), batch_size=24, gate=gate, stop=NEVER)
        return walk(ready, learning, Begun(), 1).calls["rollout"]

    assert rollouts(GateSettings(bisect=True)) > rollouts(GateSettings())


@pytest.mark.parametrize(
    ("optimizer", "more"),
    [
        (OptimizerSettings(slow_update=SlowUpdateSettings(accept="force"), meta_skill=False), 5),
        (
            OptimizerSettings(
                slow_update=SlowUpdateSettings(enabled=False),
                meta_skill=False,
                skill_aware=SkillAwareSettings(enabled=True, accept="force"),
            ),
            4 * 5,
        ),
    ],
)
def test_what_is_kept_by_force_is_measured(optimizer: OptimizerSettings, more: int) -> None:
    forced, plain = setup(stop=NEVER, optimizer=optimizer), setup(stop=NEVER)
    calls = [walk(each, STUCK, Begun()).calls["rollout"] for each in (forced, plain)]
    assert calls[0] >= calls[1] + more


def test_an_epoch_is_looked_back_on_from_the_second_on() -> None:
    def asked(ready: Setup) -> float:
        return walk(ready, STUCK, Begun()).calls.get("slow_update", 0.0)

    assert asked(setup(guided=True, stop=NEVER, epochs=1)) == 0
    assert asked(setup(guided=True, stop=NEVER, epochs=3)) == 2
    assert asked(setup(stop=NEVER, epochs=3)) == 0


def test_a_step_without_a_budget_asks_for_no_changes() -> None:
    frozen = OptimizerSettings(
        edit_budget=0, min_edit_budget=0, meta_skill=False, slow_update=SlowUpdateSettings(enabled=False)
    )
    idle = setup(optimizer=frozen, stop=NEVER)
    assert walk(idle, ONE, Begun()).calls == {"rollout": 5 + 12 + 4}
    assert most(idle, Begun()).calls.keys() & {"reflect", "merge", "rank"} == set()
