from __future__ import annotations

import msgspec
import pytest

from skillopt.domain.tasks import Task
from skillopt.phases.judging.settings import JudgeSettings
from skillopt.phases.reflect import ReflectSettings
from skillopt.train.forecast.calls import epoch_calls, least, most, put, reflect_calls, walk
from skillopt.train.forecast.calls import test_calls as calls_on_test
from skillopt.train.forecast.course import Begun, Course
from skillopt.train.settings import SearchSettings, StopSettings
from tests.unit.train.forecast.plans import setup


def course(accepts: int = 0, rejects: int = 0, failing: float = 0.5) -> Course:
    return Course(accepts=accepts, rejects=rejects, failing=failing)


@pytest.mark.parametrize(
    ("batches", "failing", "failures_only", "groups"),
    [([8], 0.5, False, 2), ([8], 0.5, True, 1), ([9], 1.0, False, 3), ([4, 4], 0.25, False, 4), ([8], 0.0, True, 0)],
)
def test_one_reflection_for_each_minibatch(
    batches: list[int], failing: float, failures_only: bool, groups: int
) -> None:
    assert reflect_calls(ReflectSettings(minibatch_size=4, failures_only=failures_only), batches, failing) == {
        "reflect": groups
    }


def test_a_skill_that_is_right_costs_a_baseline_one_pass_and_a_test() -> None:
    walked = least(setup(), Begun())
    assert walked.steps == 2
    assert walked.calls == {"rollout": 5 + 12 + 4, "reflect": 2 * 2}


def test_the_most_is_every_step_accepted_and_three_tests() -> None:
    walked = most(setup(), Begun())
    assert walked.steps == 4
    assert walked.calls["rollout"] == 5 + 4 * (6 + 5) + 3 * 4


def test_a_frontier_costs_a_gate_whenever_two_skills_may_be_put_together() -> None:
    without, merging = most(setup(), Begun()), most(setup(search=SearchSettings(frontier=2)), Begun())
    assert merging.calls["rollout"] == without.calls["rollout"] + 2 * 5, "at the end of each of two epochs"
    assert least(setup(search=SearchSettings(frontier=2)), Begun()) == least(setup(), Begun())


def test_a_task_is_not_put_twice_to_the_same_skill() -> None:
    never = setup(stop=StopSettings(when="never"))
    assert walk(never, course(), Begun()).calls["rollout"] == 5 + 12 + 4
    assert walk(never, course(accepts=1), Begun()).calls["rollout"] == 5 + (6 + 5) + 12 + 2 * 4


def test_a_rejected_candidate_costs_a_gate_and_changes_nothing() -> None:
    one, none = (walk(setup(), course(rejects=n), Begun()).calls["rollout"] for n in (1, 0))
    assert one - none == 5


def test_patience_ends_it() -> None:
    impatient = setup(stop=StopSettings(when="never", patience=1))
    assert walk(impatient, course(), Begun()).steps == 1


def test_what_is_done_is_not_counted_again() -> None:
    whole = walk(setup(), course(), Begun())
    half = Begun(baseline=True, steps=1, seen=frozenset(f"train-{n}" for n in range(6)), asked={"rollout": 3})
    rest = walk(setup(), course(), half)
    assert rest.steps < 4
    assert rest.total < whole.total - 5
    closing = Begun(baseline=True, steps=2, closing=True, asked={"rollout": 3})
    assert walk(setup(), course(), closing).calls == {"rollout": 1}
    assert walk(setup(), course(), Begun(baseline=True, steps=2, ended=True)).total == 0


def test_the_best_and_the_last_are_tested_once() -> None:
    assert calls_on_test(setup(), changed=True)["rollout"] == 8
    assert calls_on_test(setup(), changed=False)["rollout"] == 4
    assert calls_on_test(setup(test=("best",)), changed=True)["rollout"] == 4
    assert calls_on_test(setup(test=()), changed=True)["rollout"] == 0


def test_answers_to_tasks_with_a_rubric_are_judged() -> None:
    tasks = [Task(id="a", input="x", rubric="Be brief."), Task(id="b", input="x", reference="y")]
    thrice = msgspec.structs.replace(setup(), judge=JudgeSettings(repeats=3))
    assert put(thrice, tasks) == {"rollout": 2, "judge": 3}


def test_an_epoch_is_looked_back_on_from_the_second_on() -> None:
    guided = setup(guided=True)
    likely, never, always = (Course(accepts=0, rejects=0, failing=0.5, sides=sides) for sides in (1, 0, 2))
    assert epoch_calls(guided, likely, epoch=1) == {}
    assert epoch_calls(guided, never, epoch=2) == {"slow_update": 1, "meta_skill": 1}
    assert epoch_calls(guided, likely, epoch=2)["rollout"] == 12 + 5
    assert epoch_calls(guided, always, epoch=2)["rollout"] == 2 * 12 + 5
    assert epoch_calls(setup(), likely, epoch=2) == {}


def test_without_an_edit_budget_nothing_is_reflected_on() -> None:
    idle = setup()
    optimizer = msgspec.structs.replace(idle.plan.optimizer, edit_budget=0, min_edit_budget=0)
    idle = msgspec.structs.replace(idle, plan=msgspec.structs.replace(idle.plan, optimizer=optimizer))
    assert "reflect" in walk(setup(), course(), Begun()).calls
    assert "reflect" not in walk(idle, course(), Begun()).calls
