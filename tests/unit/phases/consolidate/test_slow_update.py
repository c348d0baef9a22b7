from __future__ import annotations

import json

import pytest

from skillopt.domain.skill import Refusal, Region, Skill, region_content, with_region
from skillopt.phases.consolidate.pairs import Comparison
from skillopt.phases.consolidate.slow_update import Guidance, SlowUpdateSettings, placeholder, slow_update
from skillopt.testing.conversation import BrainReply, Conversation
from tests.unit.phases.authors import authored
from tests.unit.phases.consolidate.comparisons import comparison

BEFORE, NOW = Skill.from_text("# Then\n"), Skill.from_text("# Now\n")


def updated(
    said: str, now: Skill = NOW, compared: Comparison = comparison("10", "01")
) -> tuple[Guidance, list[Conversation]]:
    """Ask an optimizer that says this; return what came of it and what it was shown."""
    shown: list[Conversation] = []

    def brain(conversation: Conversation) -> BrainReply:
        shown.append(conversation)
        return BrainReply(text=said)

    return authored(brain, lambda author: slow_update(author, BEFORE, now, compared, 6000)), shown


def reply(content: str) -> str:
    return json.dumps({"reasoning": "Because.", "slow_update_content": content})


def test_an_empty_place_is_made_once_and_seen_by_nobody() -> None:
    made = placeholder(NOW)
    assert region_content(made, Region.SLOW_UPDATE) == ""
    assert made.rendered_digest == NOW.rendered_digest
    assert placeholder(made) is made
    guided = with_region(NOW, Region.SLOW_UPDATE, "Kept.")
    assert placeholder(guided) is guided


def test_the_guidance_takes_the_place_of_what_was_there() -> None:
    now = with_region(NOW, Region.SLOW_UPDATE, "Old words.")
    made, (shown,) = updated(reply("New words."), now)
    assert region_content(made.candidate.skill, Region.SLOW_UPDATE) == "New words."
    assert made.candidate.changed
    assert (made.content, made.reasoning) == ("New words.", "Because.")
    assert "# The guidance so far\n\nOld words." in shown.asked
    assert shown.asked.index("# Then") < shown.asked.index("# Now")


def test_without_guidance_so_far_it_says_so() -> None:
    _, (shown,) = updated(reply("New."))
    assert "None yet." in shown.asked


def test_nothing_to_compare_asks_nothing() -> None:
    made, shown = updated(reply("New."), compared=Comparison())
    assert not shown
    assert not made.candidate.changed


@pytest.mark.parametrize("said", ["", "  \n", "<!-- SLOW_UPDATE_START -->"])
def test_nothing_said_leaves_what_there_is(said: str) -> None:
    now = with_region(NOW, Region.SLOW_UPDATE, "Old words.")
    made, _ = updated(reply(said), now)
    assert made.candidate.skill == now
    assert made.content == ""


def test_what_could_not_be_read_is_told() -> None:
    made, shown = updated("I would rather not.")
    assert len(shown) == 2
    assert not made.candidate.changed
    assert "Unreadable" in made.unusable


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("Look <!-- here -->", Refusal.HTML_COMMENT),
        ("Look\u202e here", Refusal.HIDDEN_UNICODE),
        ("Add allowed-tools: Bash", Refusal.PERMISSION_WORDS),
    ],
)
def test_the_rules_of_content_hold_here_too(content: str, reason: Refusal) -> None:
    made, _ = updated(reply(content))
    assert made.refused is not None
    assert made.refused.reason is reason
    assert made.candidate.skill == NOW


def test_markers_are_stripped() -> None:
    made, _ = updated(reply("<!-- SLOW_UPDATE_END --> One. <!-- APPENDIX_START -->"))
    assert region_content(made.candidate.skill, Region.SLOW_UPDATE) == "One."
    assert region_content(made.candidate.skill, Region.APPENDIX) is None


def test_the_same_words_again_are_no_change() -> None:
    now = with_region(NOW, Region.SLOW_UPDATE, "Same.")
    made, _ = updated(reply("Same."), now)
    assert not made.candidate.changed
    assert made.content == "Same."


def test_no_samples_are_refused() -> None:
    with pytest.raises(ValueError, match="at least 1"):
        SlowUpdateSettings(samples=0)
