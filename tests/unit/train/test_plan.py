from __future__ import annotations

import msgspec
import pytest

from skillopt.domain.errors import OptimizerError, UnavailableError
from skillopt.domain.progress.state import TrainState
from skillopt.domain.scores import Metric, Score, Scoreboard, Scored
from skillopt.domain.skill import Skill
from skillopt.domain.tasks import Task, TaskSet
from skillopt.train.plan import Plan
from skillopt.train.settings import OptimizerSettings, SearchSettings, StopSettings, TrainSettings


def plan(count: int = 10, /, **settings: object) -> Plan:
    def tasks(split: str, size: int) -> tuple[Task, ...]:
        return tuple(Task(id=f"{split}-{n}", input=f"{split} {n}", reference="x") for n in range(size))

    built = Plan(seed_skill=Skill.blank(), tasks=TaskSet(train=tasks("train", count), val=tasks("val", 2)))
    return msgspec.structs.replace(built, **settings)


def board(*hard: float | None) -> Scoreboard:
    return Scoreboard(
        tuple(
            Scored(task_id=f"val-{n}", cause="down")
            if value is None
            else Scored(task_id=f"val-{n}", score=Score(hard=value, soft=value))
            for n, value in enumerate(hard)
        )
    )


def state(*hard: float | None, **more: object) -> TrainState:
    begun = TrainState.begin(Skill.blank(), board(*hard), Metric())
    return msgspec.structs.replace(begun, steps_done=5, **more)


ALL = frozenset(f"train-{n}" for n in range(10))


@pytest.mark.parametrize(
    ("stop", "at", "reason"),
    [
        pytest.param({}, state(1.0, 1.0, passed=ALL), "solved", id="all of val, and a full pass of train"),
        pytest.param({}, state(1.0, 1.0, passed=ALL - {"train-3"}), None, id="not yet a full pass"),
        pytest.param({}, state(1.0, 0.9, passed=ALL), None, id="nearly is not solved"),
        pytest.param({}, state(1.0, None, passed=ALL), None, id="unknown is not solved"),
        pytest.param({"when": "never"}, state(1.0, 1.0, passed=ALL), None, id="not asked to stop when solved"),
        pytest.param({"patience": 3}, state(0.0, since_accept=3), "patience", id="patience is over"),
        pytest.param({"patience": 3}, state(0.0, since_accept=2), None, id="patience is left"),
        pytest.param({"patience": 0}, state(0.0), "patience", id="no patience at all"),
        pytest.param({"target": 0.5}, state(1.0, 0.0), "target", id="the target is reached"),
        pytest.param({"target": 0.51}, state(1.0, 0.0), None, id="the target is not reached"),
        pytest.param({"target": 0.0}, state(0.0, 0.0), "target", id="zero is a target"),
        pytest.param({"target": 0.0}, state(None, None), None, id="unknown reaches no target"),
        pytest.param({"target": 0.5, "patience": 0}, state(1.0), "target", id="the best reason first"),
    ],
)
def test_when_a_run_ends_early(stop: dict[str, object], at: TrainState, reason: str | None) -> None:
    assert plan(stop=msgspec.convert(stop, StopSettings)).stop_reason(at) == reason


@pytest.mark.parametrize(
    ("mute", "silent", "done", "error"),
    [
        (1, 0, 1, OptimizerError),
        (1, 0, 2, None),
        (2, 0, 2, None),
        (3, 0, 7, OptimizerError),
        (0, 1, 1, None),
        (0, 2, 5, None),
        (0, 3, 5, UnavailableError),
    ],
)
def test_silence_is_no_success(mute: int, silent: int, done: int, error: type[Exception] | None) -> None:
    quiet = msgspec.structs.replace(state(0.0), mute=mute, silent=silent, steps_done=done)
    if error is None:
        assert plan().stop_reason(quiet) is None
        return
    with pytest.raises(error, match="--fresh"):
        plan().stop_reason(quiet)


def test_steps_are_numbered_in_the_run_and_in_their_epoch() -> None:
    steps = list(plan(10, train=TrainSettings(epochs=2, batch_size=2, accumulation=2)).steps())
    assert [(step.number, step.epoch, step.in_epoch, step.closes_epoch) for step in steps] == [
        (1, 1, 1, False),
        (2, 1, 2, False),
        (3, 1, 3, True),
        (4, 2, 1, False),
        (5, 2, 2, False),
        (6, 2, 3, True),
    ]
    assert {step.total for step in steps} == {6}
    assert steps[3].origin == "step_0004"


def test_no_epochs_are_no_steps() -> None:
    assert list(plan(train=TrainSettings(epochs=0)).steps()) == []


def test_an_epoch_sees_every_task_and_each_in_its_own_order() -> None:
    planned = plan(10, train=TrainSettings(epochs=2, batch_size=5))
    orders = []
    for epoch in (1, 2):
        steps = [step for step in planned.steps() if step.epoch == epoch]
        orders.append([task.id for step in steps for batch in planned.batches(step) for task in batch.tasks])
    assert sorted(orders[0]) == sorted(orders[1]) == sorted(ALL)
    assert orders[0] != orders[1]


def test_batches_do_not_depend_on_what_was_asked_before() -> None:
    settings = TrainSettings(epochs=3, batch_size=3, accumulation=2)
    forwards, backwards = plan(train=settings), plan(train=settings)
    steps = list(forwards.steps())
    first = [forwards.batches(step) for step in steps]
    assert [backwards.batches(step) for step in reversed(steps)] == first[::-1]
    assert all(len(batches) == 2 for batches in first)


def test_the_edit_budget_follows_the_step_number() -> None:
    settings = OptimizerSettings(edit_budget=4, min_edit_budget=2, schedule="cosine")
    planned = plan(40, train=TrainSettings(epochs=1, batch_size=1), optimizer=settings)
    budgets = [planned.edit_budget(step) for step in planned.steps()]
    assert (budgets.count(4), budgets.count(3), budgets.count(2)) == (13, 13, 14)
    unlimited = plan(optimizer=OptimizerSettings(schedule="unlimited"))
    assert {unlimited.edit_budget(step) for step in unlimited.steps()} == {None}


@pytest.mark.parametrize("bad", [{"epochs": -1}, {"batch_size": 0}, {"accumulation": 0}])
def test_settings_that_make_no_sense_are_refused(bad: dict[str, int]) -> None:
    with pytest.raises(ValueError, match=r"train\."):
        TrainSettings(**bad)


def test_a_step_has_its_tasks_one_microbatch_after_the_other() -> None:
    made = plan(10, train=TrainSettings(epochs=2, batch_size=2, accumulation=2))
    assert [step.number for step in made.steps()] == list(range(1, made.total_steps + 1))
    for step in made.steps():
        assert made.step(step.number) == step
        assert made.tasks_of(step) == tuple(task for batch in made.batches(step) for task in batch.tasks)


@pytest.mark.parametrize(
    ("stop", "epochs", "surely"),
    [
        ({}, 1, True),
        ({"patience": 1}, 1, True),
        ({"patience": 0}, 1, False),
        ({"target": 0.0}, 1, False),
        ({}, 0, False),
    ],
)
def test_whether_the_first_step_is_certain(stop: dict[str, object], epochs: int, *, surely: bool) -> None:
    made = plan(stop=msgspec.structs.replace(StopSettings(), **stop), train=TrainSettings(epochs=epochs))
    assert made.surely_steps is surely


def test_drawn_tasks_stay_in_their_microbatches() -> None:
    drawn = plan(12, drawn=True, train=TrainSettings(epochs=3, batch_size=4, seed=5))
    whole = {drawn.tasks.train[start : start + 4] for start in (0, 4, 8)}
    for epoch in (1, 2, 3):
        steps = [step for step in drawn.steps() if step.epoch == epoch]
        assert {drawn.tasks_of(step) for step in steps} == whole
    shuffled = msgspec.structs.replace(drawn, drawn=False)
    assert not {shuffled.tasks_of(step) for step in shuffled.steps()} & whole


@pytest.mark.parametrize(
    ("optimizer", "reflects"),
    [({}, True), ({"edit_budget": 0}, False), ({"edit_budget": 0, "skill_aware": {"enabled": True}}, True)],
)
def test_a_step_that_can_come_to_nothing_is_not_reflected_on(optimizer: dict[str, object], *, reflects: bool) -> None:
    given = plan(optimizer=msgspec.convert({"min_edit_budget": 0, **optimizer}, OptimizerSettings))
    assert given.reflects(given.step(1)) is reflects


@pytest.mark.parametrize(
    ("search", "steps"),
    [
        (SearchSettings(), []),
        (SearchSettings(merge_every=1), []),
        (SearchSettings(frontier=2), [2, 4]),
        (SearchSettings(frontier=2, merge_every=3), [3]),
        (SearchSettings(frontier=2, merge_every=0), []),
    ],
)
def test_after_which_steps_two_skills_are_put_together(search: SearchSettings, steps: list[int]) -> None:
    one = plan(search=search, train=TrainSettings(epochs=2, batch_size=5))
    assert [step.number for step in one.steps() if one.merges_after(step)] == steps


@pytest.mark.parametrize("wrong", [{"frontier": 0}, {"frontier": 2, "merge_every": -1}])
def test_a_frontier_of_nobody_and_merges_before_the_first_step_are_refused(wrong: dict[str, int]) -> None:
    with pytest.raises(ValueError, match=r"search\."):
        SearchSettings(**wrong)
