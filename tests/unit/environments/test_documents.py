from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillopt.domain.errors import UsageError
from skillopt.environments.documents import expectation, is_document, same_document

REFERENCE = '{"name": "Ann", "tags": ["a", "b"], "size": {"w": 1, "h": 2}}'


@pytest.mark.parametrize(
    ("answer", "reference", "hard", "soft"),
    [
        ('{"b": 2, "a": 1}', '{"a": 1, "b": 2}', 1, 1),
        ("```json\n[1, 2]\n```", "[1,2]", 1, 1),
        ("[1.0]", "[1]", 1, 1),
        ("[true]", "[1]", 0, 0),
        ("null", "null", 1, 1),
        ("null", "false", 0, 0),
        ("[]", "{}", 1, 1),
        ("[]", "[1]", 0, 0),
        ("[2, 1]", "[1, 2]", 0, 0),
        ('{"a": 1, "c": 3}', '{"a": 1}', 0, 0.5),
        ('{"a": 1}', '{"a": 1, "b": 2, "c": 3, "d": 4}', 0, 0.25),
        ('"Ann"', '"ann"', 0, 0),
        ("{a: 1}", '{"a": 1}', 0, 0),
        ("", "[1]", 0, 0),
        ("[1] and more", "[1]", 0, 0),
        ("[" * 100_000, "[1]", 0, 0),
    ],
)
def test_values_are_compared_along_their_paths(answer: str, reference: str, hard: float, soft: float) -> None:
    score = same_document(answer, (reference,))
    assert (score.hard, score.soft) == (hard, soft)


def test_the_best_of_several_references_counts() -> None:
    assert same_document("[2]", ("[1]", "[2]")).hard == 1.0


def test_feedback_names_paths_of_the_answer_and_counts_what_is_missing() -> None:
    answer = '{"name": "Bob", "tags": ["a", "z"], "note": 1}'
    feedback = same_document(answer, (REFERENCE,)).feedback
    assert feedback == "The JSON differs: wrong or not expected: $.name, $.tags[1], $.note; 2 expected values missing."


def test_is_document() -> None:
    assert is_document(REFERENCE)
    assert not is_document("name: Ann")


values = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=2), inner, max_size=3),
    max_leaves=8,
)


@given(values)
def test_a_document_equals_itself(value: object) -> None:
    import json

    text = json.dumps(value)
    assert same_document(json.dumps(value, indent=2), (text,)).hard == 1.0


DOCUMENT = '{"orders": [{"total": 12.5, "paid": true}, {"total": 0}], "a key": {"x.y": null, "é": []}, "n": -3}'


@pytest.mark.parametrize(
    ("expected", "met"),
    [
        ("orders[0].total == 12.5", True),
        ("$.orders[0].total==12.50", True),
        ("orders[-1].total == 0", True),
        ("orders[1].total == false", False),
        ("orders[0].paid == true", True),
        ("orders[0].paid == 1", False),
        ("orders[2].total", False),
        ("orders[-3]", False),
        ("orders.total", False),
        ("orders[0]", True),
        ('orders[0] == {"paid": true, "total": 12.5}', True),
        ('orders[0] == {"paid": true}', False),
        ('["a key"]["x.y"]', True),
        ('$["a key"]["x.y"] == null', True),
        ('["a key"].é == []', True),
        ("n == -3", True),
        ("n == 3", False),
        ('n == "-3"', False),
        ("missing", False),
        ("n.deeper", False),
        ("[0]", False),
    ],
)
def test_what_a_document_is_to_have(expected: str, met: bool) -> None:
    assert expectation(expected).met(DOCUMENT) is met
    assert expectation(expected).met(f"```json\n{DOCUMENT}\n```") is met


@pytest.mark.parametrize("answer", ["", "no JSON", "[1", "[" * 100_000, f"So: {DOCUMENT}"])
def test_what_is_no_document_has_nothing(answer: str) -> None:
    assert not expectation("n").met(answer)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no path"),
        ("$", "no path"),
        ("a..b", "no path"),
        ("a = 1", "no path"),
        ("a[x]", "no path"),
        ("a == Ann", "no JSON value"),
        ("a == ", "no JSON value"),
        ("== 1", "no path"),
    ],
)
def test_an_expectation_that_cannot_be_read_is_refused(text: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        expectation(text)


def test_an_expectation_names_its_place_without_its_value() -> None:
    assert expectation('$.orders[0].name == "Ann"').place == "$.orders[0].name"
