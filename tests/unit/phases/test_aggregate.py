from __future__ import annotations

import pytest

from skillopt.domain.skill import Edit, EditOp, EditSource, Patch
from skillopt.phases.aggregate import aggregate


def edit(content: str, source: EditSource = "failure", minibatch: int = 0) -> Edit:
    tasks = (f"task-{minibatch}",)
    return Edit(op=EditOp.APPEND, content=content, source=source, minibatches=(minibatch,), tasks=tasks)


def patch(*edits: Edit, reasoning: str = "") -> Patch:
    return Patch(reasoning=reasoning, edits=edits)


@pytest.mark.parametrize(
    ("first", "second", "same"),
    [
        ("Use commas.", "use   COMMAS", True),
        ("Use commas.", "Use commas;", True),
        ("Use commas", "Use comma", False),
        ("Use commas, always", "Use commas always", False),
    ],
)
def test_edits_are_the_same_but_for_case_spacing_and_closing_punctuation(first: str, second: str, same: bool) -> None:
    merged = aggregate([patch(edit(first)), patch(edit(second, minibatch=1))])
    assert [each.support for each in merged.edits] == ([2] if same else [1, 1])
    assert merged.edits[0].content == first


def test_another_operation_target_or_file_is_another_edit() -> None:
    one = edit("Same.")
    others = [
        Edit(op=EditOp.REPLACE, content="Same.", target="x", source="failure"),
        Edit(op=EditOp.REPLACE, content="Same.", target="X", source="failure"),
        Edit(op=EditOp.APPEND, content="Same.", file="references/a.md", source="failure"),
    ]
    assert len(aggregate([patch(one, *others)]).edits) == 4


def test_support_is_counted_with_its_evidence() -> None:
    merged = aggregate([patch(edit("Same.")), patch(edit("Same.", minibatch=1)), patch(edit("Same.", minibatch=1))])
    (one,) = merged.edits
    assert (one.support, one.minibatches, one.tasks) == (3, (0, 1), ("task-0", "task-1"))


def test_failures_come_first_then_support_then_the_order_proposed() -> None:
    merged = aggregate(
        [
            patch(edit("s2", "success"), edit("f1"), edit("f2")),
            patch(edit("s2", "success", 1), edit("s1", "success", 1), edit("f2", minibatch=1), edit("f3", minibatch=1)),
        ]
    )
    assert [each.content for each in merged.edits] == ["f2", "f1", "f3", "s2", "s1"]


def test_what_repairs_a_failure_stays_so_when_successes_agree() -> None:
    (one,) = aggregate([patch(edit("Same.", "success")), patch(edit("Same."))]).edits
    assert one.source == "failure"


def test_reasons_are_kept_once_and_only_where_there_are_edits() -> None:
    merged = aggregate([patch(edit("a"), reasoning="Why."), patch(edit("b"), reasoning="Why."), patch(reasoning="No.")])
    assert merged.reasoning == "Why."
    assert aggregate([]) == Patch.empty()
