from __future__ import annotations

import pytest

from skillopt.domain.progress.memory import Memory
from skillopt.domain.skill import Edit, EditOp, Patch, Skill
from skillopt.phases.proposals.author import Briefing
from skillopt.phases.select import Selected, select
from tests.unit.phases.authors import Replies, authored

MERGED = Patch(reasoning="Why.", edits=tuple(Edit(op=EditOp.APPEND, content=word) for word in ("a", "b", "c")))


def selected(budget: int | None, *replies: str, merged: Patch = MERGED, **files: int) -> tuple[Selected, Replies]:
    brain = Replies(*(replies or ("no",)))
    briefing = Briefing(skill=Skill.from_text("# Rules\n"), edit_budget=budget, memory=Memory())
    return authored(brain, lambda author: select(author, merged, budget, briefing, files)), brain


def contents(chosen: Selected) -> str:
    return "".join(edit.content for edit in chosen.patch.edits)


@pytest.mark.parametrize(("budget", "kept"), [(None, "abc"), (0, ""), (3, "abc"), (9, "abc")])
def test_what_fits_is_kept_in_order_and_a_budget_of_nothing_keeps_nothing_and_neither_asks(
    budget: int | None, kept: str
) -> None:
    chosen, brain = selected(budget)
    assert contents(chosen) == kept
    assert chosen.patch.reasoning == "Why."
    assert brain.shown == []


@pytest.mark.parametrize(
    ("reply", "kept"),
    [
        ("[2, 0]", "ca"),
        ("[2, 0, 1]", "ca"),
        ("[1]", "b"),
        ("[2, 2, 2, 1]", "cb"),
        ("[3, -1, 99, 1, 0]", "ba"),
        ('["2", 0.0]', "ca"),
    ],
)
def test_ranked_changes_are_kept_in_the_order_of_their_rank(reply: str, kept: str) -> None:
    chosen, brain = selected(2, f'{{"selected_indices": {reply}}}')
    assert contents(chosen) == kept
    assert chosen.unusable == ""
    assert brain.kinds == ["rank"]
    assert "Edit budget: 2" in brain.shown[0].system
    assert '{"index":2,"op":"append","content":"c"' in brain.shown[0].asked


@pytest.mark.parametrize(
    "reply", ["fail", "Hm.", '{"selected_indices": []}', '{"selected_indices": [7, -2]}', '{"selected_indices": null}']
)
def test_without_a_usable_ranking_the_first_ones_are_kept_and_it_is_said(reply: str) -> None:
    chosen, _ = selected(2, reply)
    assert contents(chosen) == "ab"
    assert chosen.unusable


def test_a_file_has_a_budget_of_its_own() -> None:
    edits = [
        Edit(op=EditOp.APPEND, content=word, file="SKILL.md" if word in "ad" else "terms.md")
        for word in ("a", "b", "c", "d")
    ]
    merged = Patch(edits=tuple(edits))
    assert contents(selected(None, merged=merged, **{"terms.md": 1})[0]) == "abd"
    chosen, brain = selected(2, '{"selected_indices": [2, 1, 3]}', merged=merged, **{"terms.md": 1})
    assert contents(chosen) == "cd"
    assert len(brain.shown) == 1
    assert contents(selected(None, merged=merged, **{"terms.md": 0})[0]) == "ad"
