from __future__ import annotations

from collections import Counter

import msgspec
import pytest

from skillopt.domain.progress.frontier import Frontier, Pair, places
from skillopt.domain.progress.standing import Standing
from skillopt.domain.scores import Metric, Score, Scoreboard, Scored
from skillopt.domain.seeds import dice
from skillopt.domain.skill import Edit, EditOp, Region, Skill, apply, with_region

HARD = Metric()


def standing(name: str, marks: str, *edits: Edit) -> Standing:
    """Return a skill of this name with one trial of each task: 1, 0, or - where it failed."""
    rows = (
        Scored(task_id=f"t{place}", cause="down")
        if mark == "-"
        else Scored(task_id=f"t{place}", score=Score(hard=float(mark), soft=float(mark)))
        for place, mark in enumerate(marks)
    )
    return Standing(skill=Skill.from_text(f"# {name}\n"), board=Scoreboard(tuple(rows)), origin=name, edits=edits)


def names(frontier: Frontier) -> list[str]:
    return [member.origin for member in frontier.members]


def grown(width: int, *standings: Standing, best: Standing | None = None) -> Frontier:
    frontier = Frontier(width=width, members=standings[:1])
    for each in standings[1:]:
        frontier = frontier.entered(each, each if best is None else best, HARD)
    return frontier


def append(content: str) -> Edit:
    return Edit(op=EditOp.APPEND, content=content)


def test_a_frontier_of_one_is_whoever_was_accepted_last() -> None:
    assert names(grown(1, standing("a", "11"), standing("b", "00"))) == ["b"]
    assert names(grown(1, standing("a", "11"), standing("b", "00"), best=standing("a", "11"))) == ["b"]


@pytest.mark.parametrize(
    ("old", "new", "members"),
    [
        ("100", "011", ["old", "new"]),
        ("100", "110", ["new"]),
        ("110", "110", ["new"]),
        ("000", "100", ["new"]),
        ("1-0", "01-", ["old", "new"]),
        ("---", "100", ["new"]),
    ],
)
def test_who_is_best_nowhere_that_another_is_not_has_to_leave(old: str, new: str, members: list[str]) -> None:
    assert names(grown(3, standing("old", old), standing("new", new))) == members


def test_the_new_one_and_the_best_stay_whatever_they_are_best_on() -> None:
    best = standing("best", "1110")
    assert names(grown(3, best, standing("worse", "1000"), best=best)) == ["best", "worse"]
    assert names(grown(3, best, standing("worse", "1000"), standing("last", "0001"), best=best)) == ["best", "last"]


def test_where_there_is_no_room_those_go_that_are_best_on_the_fewest_tasks() -> None:
    first = (standing("one", "100000"), standing("two", "011000"), standing("three", "000111"))
    assert names(grown(2, *first)) == ["two", "three"]
    assert names(grown(3, *first)) == ["one", "two", "three"]


def test_the_same_text_stands_once_with_its_newest_board() -> None:
    again = standing("a", "010")
    frontier = grown(3, standing("a", "100"), standing("b", "001"), again, best=again)
    assert names(frontier) == ["b", "a"]
    assert frontier.members[1] is again


def test_nobody_is_best_where_nobody_gets_anything() -> None:
    (one, two) = places([standing("a", "100"), standing("b", "100")], HARD)
    assert one.best_on == two.best_on == {"t0"}


def test_who_is_best_more_often_has_its_turn_more_often() -> None:
    frontier = Frontier(width=3, members=(standing("a", "1000"), standing("b", "0111"), standing("c", "0000")))
    turns = Counter(frontier.drawn(dice("turn", number), HARD).origin for number in range(1000))
    assert 500 < turns["b"] < 700
    assert 130 < turns["a"] < 270
    assert turns["c"], "the best overall may be best on no single task"


def test_complements_are_best_where_the_other_is_not_and_the_widest_pair_comes_first() -> None:
    a, b, c = standing("a", "110000"), standing("b", "001110"), standing("c", "100000")
    pairs = Frontier(width=3, members=(a, b, c)).complements(HARD)
    assert [(pair.better.origin, pair.other.origin) for pair in pairs] == [("b", "a"), ("b", "c")]


def test_what_the_better_one_lacks_are_the_edits_since_the_two_parted() -> None:
    shared, own, other = append("Be brief."), append("Cite."), append("Be kind.")
    grounds = Skill.from_text("# Rules\n")
    better = Standing(skill=apply(grounds, [shared, own]).skill, board=Scoreboard(()), origin="a", edits=(shared, own))
    said = Edit(op=EditOp.INSERT_AFTER, target="# Rules", content="Cite.")
    lends = Standing(
        skill=apply(grounds, [shared, other]).skill, board=Scoreboard(()), origin="b", edits=(shared, other, said)
    )
    assert Pair(better=better, other=lends).lacking == (other,), "nothing is said twice"


def test_a_union_comes_from_the_steps_of_both() -> None:
    one, two = standing("a", "1"), standing("b", "1")
    better = msgspec.structs.replace(one, lineage=frozenset({1, 2}))
    other = msgspec.structs.replace(two, lineage=frozenset({1, 4}))
    assert Pair(better=better, other=other).parent.lineage == {1, 2, 4}


def test_a_delete_counts_though_its_words_are_there() -> None:
    taken = Edit(op=EditOp.DELETE, target="# a")
    assert Pair(better=standing("a", "1"), other=standing("b", "1", taken)).lacking == (taken,)


def test_members_and_unions_that_were_tried_are_known() -> None:
    member, union = standing("a", "1"), Skill.from_text("# union\n")
    frontier = Frontier(width=2, members=(member,))
    assert frontier.knows(member.skill)
    assert not frontier.knows(union)
    assert frontier.trying(union).knows(union)


def test_a_member_that_is_written_differently_keeps_its_place() -> None:
    a, b = standing("a", "10"), standing("b", "01")
    worn = Standing(skill=with_region(a.skill, Region.SLOW_UPDATE, ""), board=a.board, origin="a")
    frontier = Frontier(width=2, members=(a, b)).wearing(worn)
    assert frontier.members == (worn, b)
    assert frontier.as_it_stands(a) is worn
    assert frontier.as_it_stands(standing("gone", "00")).origin == "gone"
