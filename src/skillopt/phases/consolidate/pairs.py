"""The same tasks before and after an epoch, as pairs: what became better, worse, or stayed as it was.
Owns the categories, the policies and which tasks are drawn; refuses to know how anything was measured."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Literal, get_args

import msgspec

from skillopt.domain.rollouts import Answered, Rollout
from skillopt.domain.scores import Score, Scoreboard
from skillopt.domain.seeds import shuffled
from skillopt.domain.tasks import Task

Category = Literal["regressed", "persistent_fail", "improved", "stable_success"]
Policy = Literal["mixed", "changed", "unchanged"]
CATEGORIES: tuple[Category, ...] = get_args(Category)

_EPOCH_STRIDE = 2000
_WRONG = 1e-9
_WAVE = 8
_WANTED: dict[Policy, tuple[Category, ...]] = {
    "mixed": CATEGORIES,
    "changed": ("regressed", "improved"),
    "unchanged": ("persistent_fail", "stable_success"),
}


class Side(msgspec.Struct, frozen=True, kw_only=True):
    """How one skill did on some tasks, in their order."""

    rollouts: tuple[Rollout, ...]
    board: Scoreboard


class Told(msgspec.Struct, frozen=True, kw_only=True):
    """One answer with its score."""

    text: str
    score: Score

    @property
    def right(self) -> bool:
        """Whether it counts as right."""
        return self.score.hard >= _WRONG


class Pair(msgspec.Struct, frozen=True, kw_only=True):
    """One task, answered with the earlier skill and with the later one."""

    task: Task
    before: Told
    after: Told

    @property
    def category(self) -> Category:
        """What became of the task."""
        if self.before.right:
            return "stable_success" if self.after.right else "regressed"
        return "improved" if self.after.right else "persistent_fail"


class Comparison(msgspec.Struct, frozen=True, kw_only=True):
    """The pairs that were looked at, those a policy keeps, and the tasks that have no pair because a side failed."""

    pairs: tuple[Pair, ...] = ()
    kept: tuple[Pair, ...] = ()
    left_out: tuple[str, ...] = ()


Measure = Callable[[str, Sequence[Task]], Awaitable[tuple[Side, Side]]]


def drawn(train: Sequence[Task], seed: int, epoch: int) -> tuple[Task, ...]:
    """Return the train tasks in the order in which an epoch's comparison looks at them."""
    return shuffled(train, seed + epoch * _EPOCH_STRIDE)


def paired(tasks: Sequence[Task], sides: tuple[Side, Side]) -> tuple[Pair | str, ...]:
    """Return for each task its pair, or its id where a side has no score: a failure is no regression."""
    before, after = (_told(side) for side in sides)
    return tuple(
        task.id if old is None or new is None else Pair(task=task, before=old, after=new)
        for task, old, new in zip(tasks, before, after, strict=True)
    )


async def compare(order: Sequence[Task], policy: Policy, samples: int, measure: Measure) -> Comparison:
    """Compare two skills on the first tasks of the order; for `changed`, look on until there are enough of those.

    The look-on goes in waves, since one pair after the other would take as long as the train split. What a wave found
    beyond the last pair that was missing is not looked at, so the result is that of looking one by one.
    """
    sample, rest = order[:samples], order[samples:]
    seen = list(paired(sample, await measure("pairs", sample)))
    wave = 0
    while policy == "changed" and rest and (missing := samples - len(_wanted(seen, policy))) > 0:
        wave += 1
        size = max(missing, _WAVE)
        tasks, rest = rest[:size], rest[size:]
        seen += up_to(paired(tasks, await measure(f"pairs_{wave}", tasks)), missing)
    return Comparison(
        pairs=tuple(each for each in seen if isinstance(each, Pair)),
        kept=_wanted(seen, policy),
        left_out=tuple(each for each in seen if isinstance(each, str)),
    )


def up_to(found: Sequence[Pair | str], missing: int) -> tuple[Pair | str, ...]:
    """Return what was found up to the last changed pair that was missing."""
    for place, each in enumerate(found):
        if isinstance(each, Pair) and each.category in _WANTED["changed"]:
            missing -= 1
            if not missing:
                return tuple(found[: place + 1])
    return tuple(found)


def counted(pairs: Sequence[Pair]) -> dict[Category, int]:
    """Return how many pairs there are of each category."""
    return {category: sum(1 for pair in pairs if pair.category == category) for category in CATEGORIES}


def _wanted(seen: Sequence[Pair | str], policy: Policy) -> tuple[Pair, ...]:
    return tuple(each for each in seen if isinstance(each, Pair) and each.category in _WANTED[policy])


def _told(side: Side) -> tuple[Told | None, ...]:
    return tuple(
        Told(text=rollout.text, score=scored.score)
        if isinstance(rollout, Answered) and scored.score is not None
        else None
        for rollout, scored in zip(side.rollouts, side.board.rows, strict=True)
    )
