"""Which training tasks each step of an epoch sees: the published arithmetic, exactly.
Owns the epoch plan and its seeds; refuses to know what a task holds or what becomes of it."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from skillopt.domain.errors import UsageError
from skillopt.domain.seeds import shuffled
from skillopt.domain.tasks import Task

_EPOCH_STRIDE = 1000  # seeds of neighbouring epochs stay this far apart


class BatchSpec(msgspec.Struct, frozen=True, kw_only=True):
    """One microbatch: `step` counts from 1 within the epoch, `index` counts microbatches from 0."""

    epoch: int
    step: int
    index: int
    seed: int
    tasks: tuple[Task, ...]


def steps_per_epoch(n: int, batch_size: int, accumulation: int) -> int:
    """Return how many steps one pass over n tasks takes."""
    if batch_size < 1 or accumulation < 1:
        raise UsageError(
            f"Batches of {batch_size} tasks, {accumulation} to a step, are not possible.",
            hint="Set train.batch_size and train.accumulation to at least 1.",
        )
    return -(-n // (batch_size * accumulation))


def base_seeds(n: int, batch_size: int, accumulation: int, seed: int) -> tuple[int, ...]:
    """Return the seeds from which the microbatches of an epoch of about n tasks are drawn: in every epoch the same."""
    batches = steps_per_epoch(n, batch_size, accumulation) * accumulation
    return tuple(range(seed + 1, seed + batches + 1))


def seeded_batches(
    train: Sequence[Task], epoch: int, batch_size: int, accumulation: int, seed: int
) -> tuple[BatchSpec, ...]:
    """Return the microbatches of one epoch in its own order; `train` is what the base seeds gave, in theirs."""
    seeds = base_seeds(len(train), batch_size, accumulation, seed)
    return tuple(
        BatchSpec(
            epoch=epoch,
            step=index // accumulation + 1,
            index=index,
            seed=own_seed,
            tasks=tuple(train[(own_seed - seed - 1) * batch_size : (own_seed - seed) * batch_size]),
        )
        for index, own_seed in enumerate(shuffled(seeds, seed + epoch * _EPOCH_STRIDE))
    )


def epoch_batches(
    train: Sequence[Task], epoch: int, batch_size: int, accumulation: int, seed: int
) -> tuple[BatchSpec, ...]:
    """Return the microbatches of one epoch, in order.

    One shuffled pass over the tasks, cut into slices. Microbatches left without a task at the end are drawn afresh
    from all of them, each by its own seed.
    """
    base = seed + epoch * _EPOCH_STRIDE
    order = shuffled(train, base)
    batches = []
    for index in range(steps_per_epoch(len(order), batch_size, accumulation) * accumulation):
        own_seed = base + index + 1
        start = index * batch_size
        tasks = order[start : start + batch_size] if start < len(order) else shuffled(order, own_seed)[:batch_size]
        step = index // accumulation + 1
        batches.append(BatchSpec(epoch=epoch, step=step, index=index, seed=own_seed, tasks=tasks))
    return tuple(batches)
