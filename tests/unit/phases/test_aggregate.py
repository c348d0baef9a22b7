from __future__ import annotations

import json
from collections.abc import Sequence

import msgspec
import pytest

from skillopt.domain.progress.memory import Memory
from skillopt.domain.skill import Draft, Edit, EditOp, EditSource, Patch, Skill
from skillopt.phases.aggregate import AggregateSettings, Merged, aggregate, groups_of
from skillopt.phases.proposals.author import Briefing
from skillopt.phases.proposals.modes import MODES
from skillopt.testing.conversation import BrainReply, Conversation
from tests.unit.phases.authors import Replies, authored

SKILL = Skill.from_text("# Rules\n")
# words that no two sentences share, so that nothing looks related that is not meant to
NOUNS = ("commas", "dates", "units", "titles", "sources", "money", "parcels", "names", "orders", "rates")


def edit(content: str, source: EditSource = "failure", minibatch: int = 0) -> Edit:
    tasks = (f"task-{minibatch}",)
    return Edit(op=EditOp.APPEND, content=content, source=source, minibatches=(minibatch,), tasks=tasks)


def patch(*edits: Edit, reasoning: str = "") -> Patch:
    return Patch(reasoning=reasoning, edits=edits)


def many(count: int, source: EditSource = "failure") -> list[Patch]:
    """Return patches that all speak of the same thing in other words."""
    return [patch(edit(f"Sort {NOUNS[number]} first.", source, number)) for number in range(count)]


class Merger:
    """Merges what it is shown: the first proposal of each set; keeps the contents it was shown, request by request."""

    def __init__(self) -> None:
        self.merges: list[tuple[str, list[list[str]]]] = []

    def __call__(self, conversation: Conversation) -> BrainReply:
        """Answer with the first edit of the first set."""
        sets = [json.loads(line) for line in conversation.asked.splitlines() if line.startswith('{"edits"')]
        contents = [[edit["content"] for edit in each["edits"]] for each in sets]
        kind = "final" if "become one" in conversation.system else "right" if "got right" in conversation.system else ""
        self.merges.append((kind or "wrong", contents))
        return BrainReply(text=json.dumps({"reasoning": "merged", "edits": [sets[0]["edits"][0]]}))


def aggregated(
    failures: Sequence[Patch],
    successes: Sequence[Patch] = (),
    brain: Replies | Merger | None = None,
    settings: AggregateSettings = AggregateSettings(),
    mode: str = "patch",
) -> Merged:
    briefing = Briefing(skill=SKILL, edit_budget=4, memory=Memory(advice="Short ones stay."))
    return authored(
        Replies("no") if brain is None else brain,
        lambda author: aggregate(author, settings, failures, successes, briefing),
        mode=MODES[mode],
    )


def together(*failures: Patch) -> Patch:
    return aggregated(failures).patch


@pytest.mark.parametrize(
    ("count", "fan_in", "sizes"),
    [(0, 8, ()), (1, 8, (1,)), (8, 8, (8,)), (9, 8, (8, 1)), (17, 8, (8, 8, 1)), (5, 2, (2, 2, 1))],
)
def test_patches_are_grouped_in_order_and_the_last_group_may_be_smaller(
    count: int, fan_in: int, sizes: tuple[int, ...]
) -> None:
    assert groups_of(count, fan_in) == sizes


@pytest.mark.parametrize(
    ("failures", "successes", "fan_in", "sizes"),
    [
        (1, 0, 8, []),
        (2, 0, 8, [("wrong", 2)]),
        (8, 0, 8, [("wrong", 8)]),
        (9, 0, 8, [("wrong", 8), ("wrong", 2)]),
        (5, 0, 2, [("wrong", 2), ("wrong", 2), ("wrong", 2), ("wrong", 2)]),
        (0, 3, 8, [("right", 3)]),
        (1, 1, 8, [("final", 2)]),
        (2, 1, 8, [("wrong", 2), ("final", 2)]),
        (3, 2, 2, [("wrong", 2), ("right", 2), ("wrong", 2), ("final", 2)]),
    ],
)
def test_the_shape_of_the_tree(failures: int, successes: int, fan_in: int, sizes: list[tuple[str, int]]) -> None:
    merger = Merger()
    right = [patch(edit(f"Sort {NOUNS[-1 - number]} first.", "success", number)) for number in range(successes)]
    aggregated(many(failures), right, merger, AggregateSettings(fan_in=fan_in))
    assert [(kind, len(sets)) for kind, sets in merger.merges] == sizes


@pytest.mark.parametrize(
    ("first", "second", "same"),
    [
        ("Use commas.", "use   COMMAS", True),
        ("Use commas.", "Use commas;", True),
        ("Use commas.", "- Use commas.", True),
        ("Use commas", "Use comma", False),
        ("Use commas, always", "Use commas always", False),
    ],
)
def test_edits_are_the_same_but_for_case_spacing_bullets_and_closing_punctuation(
    first: str, second: str, same: bool
) -> None:
    merged = together(patch(edit(first)), patch(edit(second, minibatch=1)))
    assert [each.support for each in merged.edits] == ([2] if same else [1, 1])
    assert merged.edits[0].content == first


def test_another_operation_target_or_file_is_another_edit() -> None:
    one = edit("Same.")
    others = [
        Edit(op=EditOp.REPLACE, content="Same.", target="x", source="failure"),
        Edit(op=EditOp.REPLACE, content="Same.", target="X", source="failure"),
        Edit(op=EditOp.APPEND, content="Same.", file="references/a.md", source="failure"),
    ]
    assert len(together(patch(one, *others)).edits) == 4


def test_support_counts_the_minibatches_and_never_one_twice() -> None:
    merged = together(patch(edit("Same.")), patch(edit("Same.", minibatch=1)), patch(edit("same", minibatch=1)))
    (one,) = merged.edits
    assert (one.support, one.minibatches, one.tasks) == (2, (0, 1), ("task-0", "task-1"))


def test_failures_come_first_then_support_then_the_order_proposed() -> None:
    failures = [patch(edit("alpha"), edit("beta")), patch(edit("beta", minibatch=1), edit("gamma", minibatch=1))]
    successes = [
        patch(edit("delta", "success"), edit("epsilon", "success")),
        patch(edit("epsilon", "success", 1)),
        patch(edit("zeta", "success", 2)),
    ]
    merged = aggregated(failures, successes).patch
    assert [each.content for each in merged.edits] == ["beta", "alpha", "gamma", "epsilon", "delta", "zeta"]


def test_what_repairs_a_failure_stays_so_when_successes_agree() -> None:
    (one,) = aggregated([patch(edit("Same."))], [patch(edit("Same.", "success"))]).patch.edits
    assert (one.source, one.support) == ("failure", 2)


def test_reasons_are_kept_once_and_only_where_there_are_edits() -> None:
    merged = together(
        patch(edit("alpha"), reasoning="Why."), patch(edit("beta"), reasoning="Why."), patch(reasoning="No.")
    )
    assert merged.reasoning == "Why."
    assert together() == Patch.empty()


def test_notes_are_kept_even_of_a_reflection_that_proposes_nothing_else() -> None:
    notes = msgspec.structs.replace(Patch.empty(), notes=("Look twice.",))
    assert aggregated([patch(edit("alpha")), notes], [notes]).patch.notes == ("Look twice.", "Look twice.")


def test_nobody_is_asked_when_nothing_is_related_unless_told_to_ask_always() -> None:
    failures = [patch(edit("Use commas.")), patch(edit("Name sources.", minibatch=1))]
    idle = Replies("no")
    assert [each.content for each in aggregated(failures, brain=idle).patch.edits] == ["Use commas.", "Name sources."]
    assert idle.shown == []
    merger = Merger()
    aggregated(failures, brain=merger, settings=AggregateSettings(ask="always"))
    assert merger.merges == [("wrong", [["Use commas."], ["Name sources."]])]


def test_a_question_shows_the_skill_the_advice_and_the_proposals_with_their_support() -> None:
    brain = Replies('{"edits": []}')
    aggregated(many(2), brain=brain)
    (shown,) = brain.shown
    assert "<skill>\n# Rules\n</skill>" in shown.asked
    assert "Short ones stay." in shown.asked
    assert '"support":1' in shown.asked


def test_a_merged_edit_has_the_counted_support_of_what_it_was_made_of_whatever_the_reply_says() -> None:
    reply = {"reasoning": "r", "edits": [{"op": "append", "content": "Sort it all first.", "support_count": 99}]}
    (one,) = aggregated(many(3), brain=Replies(json.dumps(reply))).patch.edits
    assert (one.support, one.minibatches, one.tasks) == (3, (0, 1, 2), ("task-0", "task-1", "task-2"))
    assert one.source == "failure"


def test_what_nobody_proposed_has_no_support() -> None:
    reply = {"edits": [{"op": "append", "content": "Sort it."}, {"op": "append", "content": "Quarrel loudly."}]}
    kept = {each.content: each.support for each in aggregated(many(2), brain=Replies(json.dumps(reply))).patch.edits}
    assert kept == {"Sort it.": 2, "Quarrel loudly.": 0}


@pytest.mark.parametrize("reply", ["fail", "Hm.", '{"edits": "none"}', '{"skill_candidates": []}'])
def test_without_a_usable_reply_everything_is_kept_and_said(reply: str) -> None:
    merged = aggregated(many(2), brain=Replies(reply))
    assert [each.content for each in merged.patch.edits] == ["Sort commas first.", "Sort dates first."]
    assert len(merged.unusable) == 1


def test_whole_documents_are_always_merged_by_asking() -> None:
    drafts = [Patch(drafts=(Draft(new_skill=f"# {name}", source="failure"),)) for name in ("A", "B")]
    brain = Replies('{"skill_candidates": [{"new_skill": "# AB"}]}')
    merged = aggregated(drafts, brain=brain, mode="full_rewrite_minibatch")
    assert [draft.new_skill for draft in merged.patch.drafts] == ["# AB"]
    assert brain.kinds == ["merge"]


def test_a_fan_in_that_merges_nothing_is_refused() -> None:
    with pytest.raises(msgspec.ValidationError, match=r"aggregate\.fan_in"):
        msgspec.convert({"fan_in": 1}, AggregateSettings)
