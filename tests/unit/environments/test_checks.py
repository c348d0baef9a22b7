from __future__ import annotations

import pytest

from skillopt.domain.errors import TaskError, UsageError
from skillopt.domain.tasks import Check
from skillopt.environments.checks import OPERATORS, called_tools, grade, problem

LONG = "word " * 120  # 600 characters


@pytest.mark.parametrize(
    ("op", "arg", "answer", "holds"),
    [
        ("section_present", "Key Risks", "# Key Risks\ntext", True),
        ("section_present", "Key Risks", "intro\n###### key risks  \n", True),
        ("section_present", "Key Risks", "   ## 2. Key Risks", True),
        ("section_present", "Key Risks", "    # Key Risks", False),
        ("section_present", "Key Risks", "####### Key Risks", False),
        ("section_present", "Key Risks", "#Key Risks", False),
        ("section_present", "Key Risks", "## Key Risks and more", False),
        ("section_present", "Key Risks", "**Key Risks**", True),
        ("section_present", "Key Risks", "  **2. Key Risks:**  ", True),
        ("section_present", "Key Risks", "__Key Risks__", True),
        ("section_present", "Key Risks", "**Key Risks** are many", False),
        ("section_present", "Key Risks", "Key Risks: many", True),
        ("section_present", "Key Risks", "key risks :", True),
        ("section_present", "Key Risks", "The Key Risks: many", False),
        ("section_present", "Key Risks", "There are key risks", False),
        ("section_present", "C++ (new)", "## C++ (new)", True),
        ("section_contains", "risk", "## Key Risks and more", True),
        ("section_contains", "risk", "   # RISK", True),
        ("section_contains", "risk", "    # Risk", False),
        ("section_contains", "risk", "**Risk**", False),
        ("section_contains", "risk", "#Risk", False),
        ("section_contains", "risk", "risk in the text", False),
        ("section_contains", ".*", "# Anything", False),
        ("section_contains", "straße", "# STRASSE", True),
        ("regex", "[Cc]onfidence\\s*[:=]", "so: confidence = high", True),
        ("regex", "Confidence", "confidence", False),
        ("regex", "(?i)CONFIDENCE", "confidence", True),
        ("regex", "^b$", "a\nb", False),
        ("regex", "(?m)^b$", "a\nb", True),
        ("json_path", "total == 12.5", '{"total": 12.5}', True),
        ("json_path", "total == 12.5", '```json\n{"total": 12.5}\n```', True),
        ("json_path", "total == 12.5", '{"total": "12.5"}', False),
        ("json_path", "total", '{"total": null}', True),
        ("json_path", "total", "total", False),
        ("max_chars", 3, "abc", True),
        ("max_chars", 3, "abcd", False),
        ("max_chars", 3.0, "abc", True),
        ("max_chars", 3, "日本語", True),
        ("min_chars", 3, "abc", True),
        ("min_chars", 4, "abc", False),
        ("min_chars", 0, "a", True),
        ("contains", "YES", "oh yes", True),
        ("contains", "yes", "no", False),
        ("not_contains", "YES", "oh yes", False),
        ("not_contains", "yes", "no", True),
        ("no_refusal", None, "The answer is 4.", True),
        ("no_refusal", None, "I cannot help with that.", False),
        ("no_refusal", None, "> **I’m not able** to do this", False),
        ("no_refusal", None, "Sorry, but I must decline", False),
        ("no_refusal", None, "As an AI model, no", False),
        ("no_refusal", None, "Well, I cannot say less than this", True),
        ("no_refusal", None, "I cannot " + LONG, True),
        ("tool_called", "search", "anything", True),
        ("tool_called", "SEARCH", "anything", True),
        ("tool_called", "write", "anything", False),
        ("tool_called", "sear", "anything", False),
    ],
)
def test_operators(op: str, arg: str | float | None, answer: str, holds: bool) -> None:
    check = Check(op, arg)
    assert problem(check) is None
    score = grade((check,), answer, calls=("Search",))
    assert (score.hard, score.soft) == ((1.0, 1.0) if holds else (0.0, 0.0))
    assert bool(score.feedback) is not holds


def test_the_table_above_knows_every_operator() -> None:
    (marker,) = (mark for mark in vars(test_operators)["pytestmark"] if mark.name == "parametrize")
    assert {row[0] for row in marker.args[1]} == set(OPERATORS)


@pytest.mark.parametrize("answer", ["", "  \n"])
@pytest.mark.parametrize(
    "check",
    [
        Check("max_chars", 100),
        Check("min_chars", 0),
        Check("not_contains", "x"),
        Check("no_refusal"),
        Check("regex", ".*"),
    ],
)
def test_an_empty_answer_fails_every_check(check: Check, answer: str) -> None:
    score = grade((check, check), answer, calls=("search",))
    assert (score.hard, score.soft) == (0.0, 0.0)
    assert "empty" in score.feedback


def test_all_must_hold_and_part_marks_are_the_share() -> None:
    checks = (Check("contains", "a"), Check("contains", "b"), Check("max_chars", 1))
    score = grade(checks, "ab")
    assert (score.hard, score.soft) == (0.0, 2 / 3)
    assert score.feedback == "The answer has 2 characters; at most 1 are allowed."


def test_feedback_names_every_miss_in_order_and_expands_nothing() -> None:
    checks = (Check("contains", "{length}"), Check("section_present", "Verdict"), Check("tool_called", "search"))
    assert grade(checks, "text").feedback.splitlines() == [
        "The answer does not mention '{length}'.",
        "The answer has no section named 'Verdict'.",
        "The tool 'search' was not called.",
    ]


@pytest.mark.parametrize(
    ("op", "arg", "says"),
    [
        ("max_char", 5, "Did you mean 'max_chars'"),
        ("regex", "(?=a)", "cannot be used"),
        ("regex", "", "needs a text"),
        ("contains", None, "needs a text"),
        ("contains", " ", "needs a text"),
        ("contains", 5, "needs a text"),
        ("tool_called", "", "needs a text"),
        ("section_present", "", "needs a text"),
        ("max_chars", "5", "whole number"),
        ("max_chars", 5.5, "whole number"),
        ("max_chars", True, "whole number"),
        ("max_chars", -1, "whole number"),
        ("min_chars", None, "whole number"),
        ("max_chars", float("inf"), "whole number"),
        ("no_refusal", "x", "takes no arg"),
    ],
)
def test_what_is_wrong_with_a_check(op: str, arg: str | float | None, says: str) -> None:
    found = problem(Check(op, arg))
    assert found is not None
    assert says in found


@pytest.mark.parametrize("check", [Check("made_up", "x"), Check("contains", 5), Check("max_chars", "x")])
def test_a_check_that_cannot_be_judged_is_an_error_and_not_a_score(check: Check) -> None:
    with pytest.raises(UsageError):
        grade((check,), "text")


def test_no_checks_are_no_score() -> None:
    with pytest.raises(TaskError, match="no check"):
        grade((), "text")


@pytest.mark.parametrize(
    ("reply", "tools"),
    [
        ("TOOL_CALL: search\ntext\ntool_call:Write-File", {"search", "write-file"}),
        ("TOOL_CALL:\nsearch", set()),
        ("I called search", set()),
        ("", set()),
    ],
)
def test_called_tools(reply: str, tools: set[str]) -> None:
    assert called_tools(reply) == tools


def test_a_miss_names_the_path_and_never_the_value() -> None:
    score = grade((Check("json_path", 'who == "quagga"'),), "{}")
    assert score.feedback == "The answer is not a JSON document with what is expected at who."


@pytest.mark.parametrize("op", sorted(OPERATORS))
@pytest.mark.parametrize("piece", ["a", "# a\n", "**", "i can't ", "TOOL_CALL: ", "{", " \n", "a: "])
def test_a_huge_answer_is_checked_like_any_other(op: str, piece: str) -> None:
    arg = {"max_chars": 5, "min_chars": 5, "no_refusal": None, "regex": "(a+)+$", "json_path": "a.b == 1"}.get(
        op, "b c"
    )
    assert grade((Check(op, arg),), piece * 200_000, called_tools(piece * 200_000)).hard in {0.0, 1.0}
