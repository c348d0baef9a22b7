from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from skillopt.domain.seeds import dice, shuffled
from skillopt.domain.tasks import Task
from skillopt.phases.consolidate.pairs import Comparison, Pair, Policy, Side, compare, counted, drawn, paired
from tests.unit.phases.consolidate.comparisons import comparison, side, tasks


@pytest.mark.parametrize(
    ("before", "now", "category"),
    [
        ("0", "1", "improved"),
        ("1", "0", "regressed"),
        ("0", "0", "persistent_fail"),
        ("1", "1", "stable_success"),
        ("h", "0", "regressed"),
        ("h", "1", "stable_success"),
        ("0", "h", "improved"),
    ],
)
def test_a_pair_is_called_by_what_became_of_it(before: str, now: str, category: str) -> None:
    (pair,) = comparison(before, now).pairs
    assert pair.category == category


@pytest.mark.parametrize(("before", "now"), [("x", "1"), ("1", "x"), ("x", "x"), ("u", "0"), ("0", "u")])
def test_a_failed_side_makes_no_pair_and_is_no_regression(before: str, now: str) -> None:
    found = comparison(f"1{before}", f"1{now}")
    assert [pair.task.id for pair in found.pairs] == ["t0"]
    assert found.left_out == ("t1",)


def test_all_categories_are_counted() -> None:
    found = comparison("110010", "100111")
    assert counted(found.pairs) == {"regressed": 1, "persistent_fail": 1, "improved": 2, "stable_success": 2}


def test_each_epoch_looks_at_the_tasks_in_an_order_of_its_own() -> None:
    train = tasks(30)
    assert drawn(train, 42, 3) == shuffled(train, 6042)
    assert drawn(train, 42, 2) != drawn(train, 42, 3)


class World:
    """Says how each task goes, and keeps how many were asked at once."""

    def __init__(self, before: str, now: str) -> None:
        self.marks = {f"t{number}": marks for number, marks in enumerate(zip(before, now, strict=True))}
        self.asked: list[tuple[str, int]] = []

    async def measure(self, phase: str, of: Sequence[Task]) -> tuple[Side, Side]:
        """Return both sides."""
        self.asked.append((phase, len(of)))
        before, now = ("".join(self.marks[task.id][place] for task in of) for place in (0, 1))
        return side(of, before), side(of, now)

    def compared(self, policy: Policy, samples: int) -> Comparison:
        """Compare on the tasks in their own order."""
        return asyncio.run(compare(tasks(len(self.marks)), policy, samples, self.measure))


@pytest.mark.parametrize(
    ("policy", "kept", "looked_at"),
    [
        ("mixed", ["t0", "t1", "t2", "t3"], 4),
        ("unchanged", ["t0", "t3"], 4),
        ("changed", ["t1", "t2", "t4", "t7"], 8),
    ],
)
def test_policies(policy: Policy, kept: list[str], looked_at: int) -> None:
    found = World("0101101011", "0011001110").compared(policy, 4)
    assert [pair.task.id for pair in found.kept] == kept
    assert len(found.pairs) == looked_at


def test_only_the_sample_is_measured_unless_changes_are_wanted() -> None:
    world = World("01" * 20, "01" * 20)
    assert world.compared("unchanged", 4).kept
    assert world.asked == [("pairs", 4)]


def test_looking_on_ends_with_the_tasks() -> None:
    world = World("0" * 30, "0" * 30)
    assert world.compared("changed", 5).kept == ()
    assert world.asked == [("pairs", 5), ("pairs_1", 8), ("pairs_2", 8), ("pairs_3", 8), ("pairs_4", 1)]


def one_by_one(world: World, samples: int) -> tuple[list[str], list[str]]:
    """Return the kept tasks and those left out, looking at one task after the other as published."""
    of = tasks(len(world.marks))
    kept, left_out = list[str](), list[str]()
    for place, task in enumerate(of):
        if place >= samples and len(kept) == samples:
            break
        sides = asyncio.run(world.measure("one", [task]))
        (found,) = paired([task], sides)
        if isinstance(found, str):
            left_out.append(found)
        elif isinstance(found, Pair) and found.category in {"improved", "regressed"}:
            kept.append(task.id)
    return kept, left_out


def test_waves_find_what_looking_one_by_one_finds() -> None:
    for seed in range(1, 301):
        draw = dice("waves", seed)
        size = draw.randrange(1, 60)
        before, now = ("".join(draw.choice("000011xh") for _ in range(size)) for _ in range(2))
        samples = draw.randrange(1, 25)
        world = World(before, now)
        found = world.compared("changed", samples)
        expected = one_by_one(World(before, now), samples)
        assert ([pair.task.id for pair in found.kept], list(found.left_out)) == expected, f"seed {seed}"
