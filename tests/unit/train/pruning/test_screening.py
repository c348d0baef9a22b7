from __future__ import annotations

import asyncio

import pytest

from skillopt.domain.skill import Skill
from skillopt.train.pruning.screening import Screened, Screening
from tests.unit.train.pruning.boards import Bench, Marks, tasks

SKILL = Skill.from_text("Be brief.\n")
OTHER = Skill.from_text("Be kind.\n")


def screened(marks: Marks, count: int = 20) -> tuple[Screened, Bench]:
    bench = Bench(marks)
    screening = Screening(bench.measure, tasks(count))
    return asyncio.run(screening.screen(OTHER, "without_001")), bench


def test_only_what_the_original_solves_each_time_can_be_lost() -> None:
    bench = Bench(lambda _, task, trial: {"v0": "11", "v1": "10", "v2": "x1", "v3": "00", "v4": "1x"}[task.id][trial])
    screening = asyncio.run(Screening.of(bench.measure, SKILL, tasks(5)))
    assert [task.id for task in screening.solved] == ["v0"]
    assert [(asked.label, asked.trial, len(asked.tasks)) for asked in bench.asked] == [
        ("original_0", 0, 5),
        ("original_1", 1, 5),
    ]


def test_a_skill_that_loses_nothing_is_tried_on_every_task_in_growing_waves() -> None:
    found, bench = screened(lambda _skill, _task, _trial: "1", count=30)
    assert found == Screened(calls=30)
    assert found.harmless
    assert [len(asked.tasks) for asked in bench.asked] == [8, 16, 6]
    assert len({asked.label for asked in bench.asked}) == 3


def test_the_first_loss_ends_it_after_its_wave() -> None:
    found, bench = screened(lambda _, task, _trial: "0" if task.id in {"v3", "v12"} else "1")
    assert found == Screened(lost=("v3",), calls=9)
    assert not found.harmless
    assert [asked.tasks[-1] for asked in bench.asked] == ["v7", "v3"]


def test_one_wrong_answer_may_be_chance() -> None:
    found, bench = screened(lambda _, task, trial: "0" if (task.id, trial) == ("v3", 0) else "1")
    assert found == Screened(calls=21)
    assert [(asked.tasks, asked.trial) for asked in bench.asked[1:2]] == [(("v3",), 1)]


@pytest.mark.parametrize(("answers", "harmless"), [("x1", True), ("xx", False), ("0x", False)])
def test_no_answer_is_no_loss_and_no_proof(answers: str, harmless: bool) -> None:
    found, _ = screened(lambda _, task, trial: answers[trial] if task.id == "v5" else "1")
    assert found.harmless is harmless
    assert found.lost == ()
    assert found.unmeasured == (() if harmless else ("v5",))
