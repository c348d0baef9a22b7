from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillopt.domain.errors import UsageError
from skillopt.domain.progress.batches import epoch_batches, steps_per_epoch
from skillopt.domain.tasks import Task


def tasks(n: int) -> tuple[Task, ...]:
    return tuple(Task(id=str(number), input=f"Question {number}") for number in range(n))


@pytest.mark.parametrize(
    ("train", "steps"), [(400, 10), (107, 3), (80, 2), (50, 2), (35, 1), (39, 1), (40, 1), (41, 2), (0, 0)]
)
def test_published_steps_per_epoch(train: int, steps: int) -> None:
    assert steps_per_epoch(train, 40, 1) == steps


@pytest.mark.parametrize(("n", "batch", "accumulation", "steps"), [(100, 10, 3, 4), (5, 2, 4, 1), (9, 2, 4, 2)])
def test_accumulation_makes_fewer_steps(n: int, batch: int, accumulation: int, steps: int) -> None:
    assert steps_per_epoch(n, batch, accumulation) == steps


@pytest.mark.parametrize(("batch", "accumulation"), [(0, 1), (-1, 1), (1, 0)])
def test_empty_batches_are_refused(batch: int, accumulation: int) -> None:
    with pytest.raises(UsageError, match="at least 1"):
        steps_per_epoch(10, batch, accumulation)


def test_one_epoch_is_pinned() -> None:
    batches = epoch_batches(tasks(5), epoch=1, batch_size=2, accumulation=1, seed=42)
    order = list("01234")
    random.Random(1042).shuffle(order)
    assert [[task.id for task in batch.tasks] for batch in batches] == [order[:2], order[2:4], order[4:]]
    assert [(batch.epoch, batch.step, batch.index, batch.seed) for batch in batches] == [
        (1, 1, 0, 1043),
        (1, 2, 1, 1044),
        (1, 3, 2, 1045),
    ]


def test_trailing_empty_microbatches_are_refilled_from_the_shuffled_epoch() -> None:
    batches = epoch_batches(tasks(3), epoch=2, batch_size=2, accumulation=4, seed=7)
    order = list("012")
    random.Random(2007).shuffle(order)
    third, fourth = list(order), list(order)
    random.Random(2010).shuffle(third)
    random.Random(2011).shuffle(fourth)
    assert [[task.id for task in batch.tasks] for batch in batches] == [order[:2], order[2:], third[:2], fourth[:2]]
    assert [batch.step for batch in batches] == [1, 1, 1, 1]


def test_steps_group_microbatches() -> None:
    batches = epoch_batches(tasks(8), epoch=1, batch_size=1, accumulation=2, seed=0)
    assert [batch.step for batch in batches] == [1, 1, 2, 2, 3, 3, 4, 4]


def test_no_tasks_no_batches() -> None:
    assert epoch_batches((), epoch=1, batch_size=4, accumulation=2, seed=0) == ()


@given(st.integers(1, 60), st.integers(1, 9), st.integers(1, 4), st.integers(0, 5), st.integers(0, 10**6))
def test_an_epoch_shows_each_task_once_before_any_refill(
    n: int, batch: int, accumulation: int, epoch: int, seed: int
) -> None:
    batches = epoch_batches(tasks(n), epoch, batch, accumulation, seed)
    seen = [task.id for one in batches for task in one.tasks]
    assert sorted(seen[:n]) == sorted(str(number) for number in range(n))
    assert all(0 < len(one.tasks) <= batch for one in batches)
    assert len(batches) == steps_per_epoch(n, batch, accumulation) * accumulation
    assert len({one.seed for one in batches}) == len(batches)
