from __future__ import annotations

import pytest

from skillopt.domain.skill import Objection, Refusal, Skill, rewritten

TEXT = (
    "---\nname: a\n---\n# S\n\n<!-- seen before -->\nOld.\n\n<!-- APPENDIX_START -->\n- note\n<!-- APPENDIX_END -->\n"
)
SKILL = Skill.from_text(TEXT)


def test_the_body_is_new_and_the_rest_is_as_it_was() -> None:
    after = rewritten(SKILL, "# S\n\nNew.\n")
    assert isinstance(after, Skill)
    assert after.text == ("---\nname: a\n---\n# S\n\nNew.\n\n<!-- APPENDIX_START -->\n- note\n<!-- APPENDIX_END -->\n")


def test_markers_and_copies_of_a_region_are_dropped() -> None:
    after = rewritten(SKILL, "# S\n\nNew.\n\n<!-- APPENDIX_START -->\n- mine\n<!-- APPENDIX_END -->\n")
    assert isinstance(after, Skill)
    assert "mine" not in after.text
    assert after.text.count("APPENDIX_START") == 1


def test_a_comment_that_stood_there_may_stay() -> None:
    assert isinstance(rewritten(SKILL, "# S\n\n<!-- seen before -->\nNew.\n"), Skill)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", Refusal.EMPTY_CONTENT),
        (" \n", Refusal.EMPTY_CONTENT),
        ("# S\n<!-- new -->\n", Refusal.HTML_COMMENT),
        (
            "# S\n<!-- seen before -->\n\n<!-- seen before -->\n<!-- seen before -->\n<!-- seen before -->",
            Refusal.HTML_COMMENT,
        ),
        ("# S\u200b\n", Refusal.HIDDEN_UNICODE),
        ("# S\nallowed_tools: Bash\n", Refusal.PERMISSION_WORDS),
    ],
)
def test_the_content_rules_hold_for_what_a_rewrite_adds(text: str, reason: Refusal) -> None:
    refused = rewritten(SKILL, text)
    assert isinstance(refused, Objection)
    assert refused.reason is reason


def test_a_rewrite_that_changes_nothing_is_the_same_skill() -> None:
    assert rewritten(SKILL, TEXT) == SKILL
