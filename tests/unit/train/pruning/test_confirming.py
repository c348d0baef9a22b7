from __future__ import annotations

import asyncio

import pytest

from skillopt.domain.skill import Skill
from skillopt.train.pruning.confirming import Confirmed, confirm
from skillopt.train.pruning.settings import PruneSettings
from tests.unit.train.pruning.boards import Bench, Marks, tasks

ORIGINAL = Skill.from_text("Be brief. Be kind.\n")
PRUNED = Skill.from_text("Be brief.\n")


def confirmed(marks: Marks, count: int = 40, settings: PruneSettings = PruneSettings()) -> tuple[Confirmed, Bench]:
    bench = Bench(marks)
    return asyncio.run(confirm(bench.measure, ORIGINAL, PRUNED, tasks(count), settings)), bench


def test_no_difference_is_confirmed_as_soon_as_it_can_be_in_fresh_trials_of_both() -> None:
    found, bench = confirmed(lambda _skill, task, _trial: "0" if task.id == "v1" else "1")
    assert (found.verdict, found.loss, found.rounds, found.calls) == (True, 0.0, 2, 160)
    assert [(asked.label, asked.trial) for asked in bench.asked] == [
        ("confirm_1.original", 2),
        ("confirm_1.pruned", 2),
        ("confirm_2.original", 3),
        ("confirm_2.pruned", 3),
    ]


def test_a_loss_that_is_seen_ends_it() -> None:
    found, _ = confirmed(lambda skill, task, _: "0" if skill == PRUNED and task.id in {"v1", "v2", "v3"} else "1")
    assert (found.verdict, found.rounds, found.reason) == (False, 2, "a mean loss of 0.075 was seen")


def test_a_gain_is_no_loss() -> None:
    found, _ = confirmed(lambda skill, task, _: "0" if skill == ORIGINAL and task.id == "v1" else "1")
    assert found.verdict is True
    assert found.loss == pytest.approx(-1 / 40)


def test_what_cannot_be_ruled_out_is_not_confirmed() -> None:
    found, _ = confirmed(lambda skill, task, _: "0" if skill == PRUNED and task.id == "v1" else "1")
    assert (found.verdict, found.rounds) == (False, 10)
    assert found.reason == "a loss of 0.05 could not be ruled out in 10 trials a task"


@pytest.mark.parametrize(("failing", "verdict"), [(4, True), (5, False), (40, False)])
def test_failures_are_left_out_until_there_are_too_many(failing: int, verdict: bool) -> None:
    found, _ = confirmed(lambda skill, task, _: "x" if skill == PRUNED and int(task.id[1:]) < failing else "1")
    assert found.verdict is verdict
    if not verdict:
        assert found.reason == f"{failing} of 40 pairs have no answer on one side"
        assert found.rounds == 1
    assert found.loss == (None if failing == 40 else 0.0)
