from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillopt.domain.errors import TaskError, UsageError
from skillopt.domain.scores import Score
from skillopt.environments.graders import GRADERS, grader


def graded(name: str, answer: str, *references: str) -> Score:
    return grader(name).grade(answer, references)


@pytest.mark.parametrize(
    ("answer", "references", "hard"),
    [
        ("Paris", ["paris"], 1),
        (" the  Cat. ", ["The cat"], 1),
        ("(B)", ["B"], 1),
        ("Don't", ["dont"], 1),
        ("b", ["a", "b"], 1),
        ("Paris, France", ["Paris"], 0),
        ("", ["Paris"], 0),
        ("...", ["Paris"], 0),
        ("] ]", ["] ]"], 1),
        ("] )", ["] ]"], 0),
        ("True", ["False"], 0),
        ("the cat", ["cat"], 0),
    ],
)
def test_exact(answer: str, references: list[str], hard: float) -> None:
    score = graded("exact", answer, *references)
    assert (score.hard, score.soft) == (hard, hard)


def test_exact_says_when_the_right_answer_has_too_much_around_it() -> None:
    assert "other words around it" in graded("exact", "It is Paris, of course", "Paris").feedback
    assert "other words around it" not in graded("exact", "Comparison", "Paris").feedback


@pytest.mark.parametrize(
    ("answer", "references", "hard", "soft"),
    [
        ("The capital is Paris.", ["paris"], 1, 1),
        ("a well-known case", ["well known"], 1, 1),
        ("blue sky", ["blue sea"], 0, 0.5),
        ("green", ["blue sea"], 0, 0),
        ("", ["blue"], 0, 0),
        ("red or blue", ["green", "blue"], 1, 1),
        ("so: ] )", ["] )"], 0, 0),
        ("] )", ["] )"], 1, 1),
    ],
)
def test_contains(answer: str, references: list[str], hard: float, soft: float) -> None:
    score = graded("contains", answer, *references)
    assert (score.hard, score.soft) == (hard, soft)


@pytest.mark.parametrize(
    ("answer", "reference", "hard"),
    [
        ("42", "42", 1),
        ("First 7, then 42.", "42", 1),
        ("42 then 7", "42", 0),
        ("$1,234.50", "1234.5", 1),
        ("1,234", "1,234.0", 1),
        ("US$5", "5", 1),
        ("-$5", "-5", 1),
        ("$-5", "-5", 1),
        ("−5", "-5", 1),
        ("10-12", "12", 1),
        ("x=-5", "-5", 1),
        ("(3)-4", "4", 1),
        ("1, 2, 3", "3", 1),
        ("1,2,3", "3", 1),
        ("12,34", "34", 1),
        (".5", "0.5", 1),
        ("5.", "5", 1),
        ("1e3", "1000", 1),
        ("5km", "5", 1),
        ("50%", "50", 1),
        ("**42**", "42", 1),
        ("答案是42", "42", 1),
        ("\\boxed{42}", "42", 1),
        ("#### 42", "#### 42", 1),
        ("0.1", "0.10000000001", 1),
        ("0.1", "0.11", 0),
        ("0", "0.0", 1),
        ("5", "-5", 0),
        ("none", "42", 0),
        ("", "42", 0),
        ("H2O", "2", 0),
        ("1e999", "5", 0),
    ],
)
def test_number(answer: str, reference: str, hard: float) -> None:
    assert graded("number", answer, reference).hard == hard


@pytest.mark.parametrize(("name", "reference"), [("number", "five"), ("number", "1e999"), ("json", "{a}")])
def test_a_reference_that_cannot_be_measured_against_is_an_error_and_not_a_score(name: str, reference: str) -> None:
    with pytest.raises(TaskError, match="No reference"):
        graded(name, "5", reference)


def test_number_says_which_way_to_go() -> None:
    assert "too large" in graded("number", "50", "42").feedback
    assert "too small" in graded("number", "-50", "42").feedback
    assert "no number" in graded("number", "many", "42").feedback
    assert "not the expected" in graded("number", "1", "2", "3").feedback


@pytest.mark.parametrize(
    ("answer", "references", "hard", "soft"),
    [
        ("the red fox", ["The red fox!"], 1, 1),
        ("red fox", ["the red fox"], 0, 0.8),
        ("fox red the", ["the red fox"], 0, 1),
        ("fox fox", ["fox"], 0, 2 / 3),
        ("cat", ["the red fox"], 0, 0),
        ("fox", ["cat", "red fox"], 0, 2 / 3),
        ("", ["fox"], 0, 0),
    ],
)
def test_f1(answer: str, references: list[str], hard: float, soft: float) -> None:
    score = graded("f1", answer, *references)
    assert score.hard == hard
    assert score.soft == pytest.approx(soft)


@pytest.mark.parametrize(
    ("answer", "reference", "hard"),
    [
        ("B", "B", 1),
        ("b", "(B)", 1),
        ("(B)", "B", 1),
        ("**B.**", "B", 1),
        ("B) Paris", "B", 1),
        ("B: Paris", "B", 1),
        ("The answer is (B).", "B", 1),
        ("Answer: B", "B", 1),
        ("A) is wrong, so the answer is B", "B", 1),
        ("Not (A), rather (B)", "B", 1),
        ("\\boxed{B}", "B", 1),
        ("Option B because of C", "B", 1),
        ("the answer is a dog", "A", 0),
        ("A dog", "A", 0),
        ("A", "B", 0),
        ("", "B", 0),
        ("Paris", "Paris", 1),
        ("paris!", "Paris", 1),
        ("London", "Paris", 0),
        ("3", "3", 1),
        ("Option 12", "12", 1),
        ("1. I think (B)", "B", 1),
        ("123", "12", 0),
    ],
)
def test_choice(answer: str, reference: str, hard: float) -> None:
    assert graded("choice", answer, reference).hard == hard


def test_choice_tells_no_choice_from_the_wrong_one() -> None:
    assert "does not name" in graded("choice", "I like dogs", "B").feedback
    assert "another choice" in graded("choice", "A", "B").feedback


@pytest.mark.parametrize(
    ("answer", "references", "hard", "soft"),
    [
        ("Acme Corp", ["acme  corp"], 1, 1),
        ("acme crp", ["acme corp"], 0, 1 - 1 / 9),
        ("abcd", ["abxy"], 0, 0),
        ("abcd", ["abcx"], 0, 0.75),
        ("a", ["a very long reference"], 0, 0),
        ("", ["acme"], 0, 0),
        ("acme", ["zzzz", "acme"], 1, 1),
        ("a" * 1000, ["a" * 999 + "b"], 1, 0.999),
    ],
)
def test_anls(answer: str, references: list[str], hard: float, soft: float) -> None:
    score = graded("anls", answer, *references)
    assert score.hard == hard
    assert score.soft == pytest.approx(soft)


@pytest.mark.parametrize(
    ("answer", "references", "hard", "soft"),
    [
        ("Acme  Corp", ["acme corp"], 1, 1),
        ("kitten", ["sitting"], 0, 1 - 3 / 7),
        ("ab", ["xy"], 0, 0),
        ("acme", ["zzzz", "acme!"], 0, 0.8),
        ("Stra\u00dfe", ["STRASSE"], 0, 1 - 2 / 7),
        ("e\u0301te\u0301", ["\u00e9t\u00e9"], 1, 1),
        ("日本", ["日本語"], 0, 2 / 3),
        ("-5", ["5"], 0, 0.5),
        ("", ["acme"], 0, 0),
        (" \n", ["acme"], 0, 0),
        ("a", ["a" * 100], 0, 0.01),
    ],
)
def test_edit_distance(answer: str, references: list[str], hard: float, soft: float) -> None:
    score = graded("edit_distance", answer, *references)
    assert score.hard == hard
    assert score.soft == pytest.approx(soft)


@pytest.mark.parametrize(
    ("name", "answer", "reference", "hard"),
    [
        ("exact", "1,234", "1234", 1),
        ("exact", "caf\u0065\u0301", "CAF\u00c9", 1),
        ("exact", "٤٢", "42", 0),
        ("contains", "−5 °C", "5", 1),
        ("number", "1.234.567", "1234567", 0),
        ("number", "1,234,567.00 €", "1234567", 1),
        ("number", "12.5 %", "12.5%", 1),
        ("number", "0.125", "12.5%", 0),
        ("number", "٤٢", "42", 0),
        ("number", "-0", "0", 1),
        ("f1", "日本", "日本", 1),
        ("choice", "\uff22", "B", 0),
        ("json", '{"\u00e9": 1}', '{"\\u00e9": 1}', 1),
        ("json", "1e2", "100", 1),
        ("anls", "ÀÉ", "àé", 1),
    ],
)
def test_letters_signs_and_separators(name: str, answer: str, reference: str, hard: float) -> None:
    assert graded(name, answer, reference).hard == hard


@pytest.mark.parametrize("name", sorted(GRADERS))
@pytest.mark.parametrize("piece", ["a", "1,", "(A) ", "1.", "[", "answer ", "-$", "x y "])
def test_a_huge_answer_is_graded_like_any_other(name: str, piece: str) -> None:
    long = f'"quagga 5 {"x" * 40_000}"'
    assert graded(name, piece * 100_000, "77031").hard == graded(name, piece * 20_000, long).hard == 0.0


@pytest.mark.parametrize(
    ("name", "reference", "accepted"),
    [
        ("exact", "x", True),
        ("exact", " ", False),
        ("number", "about 5", True),
        ("number", "five", False),
        ("json", '{"a": 1}', True),
        ("json", "{a: 1}", False),
        ("choice", "", False),
    ],
)
def test_which_references_a_grader_can_use(name: str, reference: str, accepted: bool) -> None:
    assert grader(name).accepts(reference) is accepted


def test_an_unknown_grader_names_the_nearest() -> None:
    with pytest.raises(
        UsageError,
        match=r"Did you mean 'exact'\? Valid: anls, choice, command, contains, edit_distance, exact, f1, json",
    ):
        grader("exactt")


@pytest.mark.parametrize("name", sorted(GRADERS))
def test_a_reference_is_right_by_its_own_measure(name: str) -> None:
    assert graded(name, "17", "17") == Score(hard=1.0, soft=1.0)


@pytest.mark.parametrize("name", sorted(GRADERS))
@given(answer=st.text(max_size=30))
def test_a_miss_never_quotes_the_reference(name: str, answer: str) -> None:
    for reference in filter(grader(name).accepts, ("77031", '{"zebrafinch": "quagga 77031"}', "quagga 77031")):
        for given_answer in (answer, f"{answer} quagga {answer}", f"perhaps {reference} or {reference} {answer}"):
            score = graded(name, given_answer, reference)
            assert score.hard == 1.0 or score.feedback
            assert not any(part in score.feedback for part in ("77031", "quagga", "zebrafinch"))
