from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillopt.domain.errors import UsageError
from skillopt.domain.progress.batches import base_seeds, epoch_batches, seeded_batches, steps_per_epoch
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


@pytest.mark.parametrize(
    ("n", "batch", "accumulation", "seeds"), [(4, 2, 1, (8, 9)), (5, 2, 2, (8, 9, 10, 11)), (0, 2, 1, ())]
)
def test_the_base_seeds_follow_the_seed(n: int, batch: int, accumulation: int, seeds: tuple[int, ...]) -> None:
    assert base_seeds(n, batch, accumulation, 7) == seeds


@given(st.integers(1, 40), st.integers(1, 5), st.integers(1, 4), st.integers(0, 99), st.integers(1, 9))
def test_seeded_batches_stay_whole_and_change_places(n: int, batch: int, steps: int, seed: int, epoch: int) -> None:
    seeds = base_seeds(n, batch, steps, seed)
    drawn = [Task(id=f"{own}-{place}", input="Q") for own in seeds for place in range(batch)]
    batches = seeded_batches(drawn, epoch, batch, steps, seed)
    order = list(seeds)
    random.Random(seed + epoch * 1000).shuffle(order)
    assert [each.seed for each in batches] == order
    for index, each in enumerate(batches):
        assert (each.index, each.step, each.epoch) == (index, index // steps + 1, epoch)
        assert [task.id for task in each.tasks] == [f"{each.seed}-{place}" for place in range(batch)]
