from __future__ import annotations

import json
from collections.abc import Sequence

import pytest

from skillopt.domain.skill import Refusal, Region, Skill, region_content, with_region
from skillopt.phases.consolidate.notes import (
    Reminders,
    SkillAwareSettings,
    SpelledNote,
    consolidated,
    gathered,
    noted,
    spelled,
    with_notes,
)
from skillopt.testing.conversation import BrainReply, Conversation
from tests.unit.phases.authors import authored

SKILL = Skill.from_text("# Rules\n\nBe brief.\n")


def test_reminders_come_back_as_they_were_written() -> None:
    notes = ("Mind the units.", "Close the tag: always.", "# no heading")
    assert noted(with_notes(SKILL, notes)) == notes
    assert noted(SKILL) == ()
    assert "Mind the units." in with_notes(SKILL, notes).rendered
    assert with_notes(SKILL, ()).rendered == SKILL.rendered


def test_reminders_of_another_hand_are_read_too() -> None:
    by_hand = with_region(SKILL, Region.APPENDIX, "# Mine\n* one\n\n+ two\nthree\n")
    assert noted(by_hand) == ("one", "two", "three")


@pytest.mark.parametrize(
    ("proposed", "added"),
    [
        (["New one."], ("New one.",)),
        (["Be BRIEF .;"], ()),
        (["  be   brief:", "be\nbrief -"], ()),
        (["a", "A.", "a_", "b"], ("a", "b")),
        (["- bulleted"], ("bulleted",)),
        (["", "  ", "...", "<!-- APPENDIX_END -->"], ()),
        (["x <!-- APPENDIX_END --> y"], ("x y",)),
    ],
)
def test_the_same_reminder_is_kept_once(proposed: Sequence[str], added: tuple[str, ...]) -> None:
    found = gathered(with_notes(SKILL, ["Be brief."]), proposed)
    assert found.added == added
    assert found.all == ("Be brief.", *added)


@pytest.mark.parametrize(
    ("note", "reason"), [("See <!-- this", Refusal.HTML_COMMENT), ("zero\u200bwidth", Refusal.HIDDEN_UNICODE)]
)
def test_the_rules_of_content_hold_here_too(note: str, reason: Refusal) -> None:
    found = gathered(SKILL, [note, "Fine."])
    assert found.added == ("Fine.",)
    assert [refused.objection.reason for refused in found.refused] == [reason]


def test_a_reply_may_spell_reminders_in_several_ways() -> None:
    assert list(spelled("one")) == ["one"]
    assert list(spelled(("a", SpelledNote(note="b"), SpelledNote(content="c")))) == ["a", "b", "c"]


def shortened(said: object) -> Reminders:
    """Ask an optimizer that answers this for fewer of three reminders."""

    def brain(_conversation: Conversation) -> BrainReply:
        return BrainReply(text=said if isinstance(said, str) else json.dumps({"appendix_notes": said}))

    reminders = gathered(with_notes(SKILL, ["one"]), ["two", "three"])

    return authored(brain, lambda author: consolidated(author, SKILL, reminders))


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        (["one and two", "three"], ("one and two", "three")),
        ([{"note": "all"}], ("all",)),
        ("{}", ("one", "two", "three")),
        ([], ("one", "two", "three")),
        (["a", "b", "c"], ("one", "two", "three")),
        (["a", "b", "c", "d"], ("one", "two", "three")),
        (["a", "A.", "a;", "b"], ("a", "b")),
        ("Not now.", ("one", "two", "three")),
        (["zero\u200bwidth"], ("one", "two", "three")),
    ],
)
def test_only_fewer_and_some_take_the_place_of_what_there_is(said: object, kept: tuple[str, ...]) -> None:
    found = shortened(said)
    assert found.all == kept
    assert found.consolidated == (len(kept) if len(kept) < 3 else None)
    assert found.added == ("two", "three")


@pytest.mark.parametrize(
    ("enabled", "source", "kinds"),
    [
        (False, "both", ()),
        (True, "both", ("failure", "success")),
        (True, "failures", ("failure",)),
    ],
)
def test_who_is_asked_for_reminders(enabled: bool, source: str, kinds: tuple[str, ...]) -> None:
    assert SkillAwareSettings(enabled=enabled, source="both" if source == "both" else "failures").kinds == kinds


def test_a_threshold_below_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="0 or more"):
        SkillAwareSettings(consolidate_above=-1)


def test_the_region_is_the_documents_own() -> None:
    made = with_notes(with_region(SKILL, Region.SLOW_UPDATE, "Slow."), ["a"])
    assert region_content(made, Region.SLOW_UPDATE) == "Slow."
