from __future__ import annotations

import json

import pytest

from skillopt.domain.progress.memory import Memory, Tried
from skillopt.domain.skill import Draft, Edit, EditOp, Patch, Skill, Suggestion
from skillopt.phases.proposals.author import Briefing, Permissions
from skillopt.phases.proposals.modes import MODES, ModeName
from skillopt.phases.update import UPDATES, Updated
from tests.unit.phases.authors import Replies, authored

TEXT = (
    "---\nname: house\ndescription: Old.\n---\n# Rules\n\nBe brief.\n\n"
    "<!-- SLOW_UPDATE_START -->\nKept advice.\n<!-- SLOW_UPDATE_END -->\n"
)
SKILL = Skill.from_text(TEXT)
MEMORY = Memory(tried=(Tried(step=1, epoch=1, action="reject", failed_tasks=1, tasks=2),), advice="Few.")
SUGGESTED = Patch(suggestions=(Suggestion(kind="add_rule", title="Units", instruction="Give the unit."),))


def updated(
    mode: ModeName,
    chosen: Patch,
    *replies: str,
    skill: Skill = SKILL,
    permissions: Permissions = Permissions(),
) -> tuple[Updated, Replies]:
    brain = Replies(*(replies or ("no",)))
    briefing = Briefing(skill=skill, edit_budget=4, memory=MEMORY)
    return authored(
        brain, lambda author: UPDATES[mode](author, chosen, briefing), mode=MODES[mode], permissions=permissions
    ), brain


def append(content: str) -> Edit:
    return Edit(op=EditOp.APPEND, content=content)


def delete(target: str, support: int = 1) -> Edit:
    return Edit(op=EditOp.DELETE, target=target, support=support, tasks=("t",))


def mending(*edits: dict[str, object]) -> str:
    return json.dumps({"edits": edits})


def test_edits_that_can_be_made_are_made_without_asking() -> None:
    made, brain = updated("patch", Patch(edits=(append("Be kind."),)))
    assert "Be kind." in made.candidate.skill.text
    assert brain.shown == []


def test_all_refused_edits_are_sent_back_once_together_and_keep_their_place_and_evidence() -> None:
    chosen = Patch(edits=(append("First."), delete("Be long.", support=3), delete("Nowhere."), append("Last.")))
    reply = mending({"index": 0, "op": "delete", "target": "Be brief.", "content": None})
    made, brain = updated("patch", chosen, reply)
    assert brain.kinds == ["repair"]
    assert "quote it exactly" in brain.shown[0].asked
    assert "First." in brain.shown[0].asked
    assert [each.edit.content or each.edit.target for each in made.candidate.applied] == [
        "First.",
        "Be brief.",
        "Last.",
    ]
    mended = made.candidate.applied[1].edit
    assert (mended.support, mended.tasks) == (3, ("t",))
    assert [each.edit.target for each in made.candidate.refused] == ["Nowhere."]


@pytest.mark.parametrize(
    "reply",
    [
        "fail",
        "Hm.",
        mending(),
        mending({"index": 9, "op": "delete", "target": "Be brief."}),
        mending({"op": "delete", "target": "Be brief."}),
        mending({"index": 0, "op": "delete", "target": "Still nowhere."}),
    ],
)
def test_an_edit_that_was_not_mended_is_dropped_and_reported(reply: str) -> None:
    made, _ = updated("patch", Patch(edits=(append("First."), delete("Nowhere."))), reply)
    assert [each.edit.content for each in made.candidate.applied] == ["First."]
    assert len(made.candidate.refused) == 1
    assert bool(made.unusable) is (reply in {"fail", "Hm."})


def test_nothing_is_sent_back_when_repair_is_off_or_when_there_is_nothing_to_mend() -> None:
    wrong = Patch(edits=(delete("Nowhere."),))
    assert updated("patch", wrong, permissions=Permissions(repair=False))[1].shown == []
    same = Edit(op=EditOp.REPLACE, target="Be brief.", content="Be brief.")
    assert updated("patch", Patch(edits=(same,)))[1].shown == []


def test_programs_and_the_description_are_edited_only_where_that_is_allowed() -> None:
    folder = Skill.from_files({"SKILL.md": TEXT, "scripts/run.py": "print(1)\n"})
    program = Edit(op=EditOp.APPEND, content="print(2)", file="scripts/run.py")
    described = Edit(op=EditOp.REPLACE, target="description: Old.", content="description: New.")
    chosen = Patch(edits=(program, described))
    shut, _ = updated("patch", chosen, skill=folder, permissions=Permissions(repair=False))
    assert [each.reason.value for each in shut.candidate.refused] == ["read_only_file", "front_matter"]
    allowed = Permissions(repair=False, scripts=True, description=True)
    opened, _ = updated("patch", chosen, skill=folder, permissions=allowed)
    assert opened.candidate.skill.file("scripts/run.py") == "print(1)\n\nprint(2)\n"
    assert opened.candidate.skill.description == "New."


def test_a_rewrite_works_the_suggestions_in_and_keeps_what_has_another_owner() -> None:
    reply = json.dumps({"new_skill": "# Rules\n\nBe brief. Give the unit.\n", "change_summary": ["Units."]})
    made, brain = updated("rewrite_from_suggestions", SUGGESTED, reply)
    candidate = made.candidate
    assert candidate.skill.text.startswith(
        "---\nname: house\ndescription: Old.\n---\n# Rules\n\nBe brief. Give the unit."
    )
    assert "<!-- SLOW_UPDATE_START -->\nKept advice.\n<!-- SLOW_UPDATE_END -->" in candidate.skill.text
    assert (candidate.worked_in, candidate.summary) == (SUGGESTED.suggestions, ("Units.",))
    (shown,) = brain.shown
    assert "Give the unit." in shown.asked
    assert "step 1: reject" in shown.asked
    assert "Few." not in shown.asked, "advice is for those who propose"


@pytest.mark.parametrize(
    ("reply", "why"),
    [
        ("fail", "ContextTooLong"),
        ("Hm.", "Unreadable"),
        ('{"new_skill": " "}', "empty_content"),
        ('{"new_skill": "# Rules <!-- psst -->"}', "html_comment"),
        ('{"new_skill": "# Rules\\u202e"}', "hidden_unicode"),
        ('{"new_skill": "# Rules\\nallowed-tools: all"}', "permission_words"),
    ],
)
def test_a_rewrite_that_cannot_be_used_leaves_the_skill_and_says_why(reply: str, why: str) -> None:
    made, _ = updated("rewrite_from_suggestions", SUGGESTED, reply)
    assert made.candidate.skill == SKILL
    assert made.candidate.skip == "skip_no_rewrite"
    assert made.unusable.startswith(why)


def test_no_suggestions_and_no_documents_change_nothing_and_ask_nothing() -> None:
    for mode in ("patch", "rewrite_from_suggestions", "full_rewrite_minibatch"):
        made, brain = updated(mode, Patch.empty())
        assert (made.candidate.changed, made.candidate.skip, brain.shown) == (False, "skip_no_patches", [])


def test_the_first_document_that_is_not_blank_is_taken_with_the_regions_put_back() -> None:
    drafts = (Draft(new_skill=" "), Draft(new_skill="# New\n\nKept advice.\n"), Draft(new_skill="# Other"))
    made, brain = updated("full_rewrite_minibatch", Patch(drafts=drafts))
    text = made.candidate.skill.text
    assert text.startswith("---\nname: house")
    assert text.count("Kept advice.") == 1
    assert text.endswith("<!-- SLOW_UPDATE_END -->\n")
    assert made.candidate.worked_in == (drafts[1],)
    assert brain.shown == []
