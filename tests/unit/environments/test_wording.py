from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillopt.environments.wording import apart, collapsed, levenshtein, normalised, spaced

words = st.text(alphabet="ab c日", max_size=12)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("  The\tCat. ", "the cat"),
        ("(B)", "b"),
        ("don't", "dont"),
        ("don’t", "dont"),
        ("well-known", "wellknown"),
        ("“Yes!”", "yes"),
        ("。はい\uff01", "はい"),
        ("cafe\u0301", "café"),
        ("", ""),
        ("  ", ""),
        ("] ] )", "] ] )"),
        ("?!", "?!"),
    ],
)
def test_normalised(text: str, expected: str) -> None:
    assert normalised(text) == expected


@pytest.mark.parametrize(("text", "expected"), [("well-known", "well known"), ("a.b,c", "a b c"), ("] )", "] )")])
def test_spaced(text: str, expected: str) -> None:
    assert spaced(text) == expected


def test_collapsed_keeps_punctuation() -> None:
    assert collapsed("  A,\n B. ") == "a, b."


@given(st.text(max_size=40))
def test_what_was_normalised_stays_as_it_is(text: str) -> None:
    for normal in (normalised, spaced, collapsed):
        assert normal(normal(text)) == normal(text)


@pytest.mark.parametrize(
    ("first", "second", "edits"),
    [("", "", 0), ("", "abc", 3), ("abc", "", 3), ("kitten", "sitting", 3), ("abc", "abc", 0), ("ab", "ba", 2)],
)
def test_levenshtein(first: str, second: str, edits: int) -> None:
    assert levenshtein(first, second) == edits


@given(words, words)
def test_levenshtein_agrees_with_the_textbook(first: str, second: str) -> None:
    above = list(range(len(second) + 1))
    for row, ours in enumerate(first, 1):
        here = [row]
        for column, theirs in enumerate(second, 1):
            here.append(min(above[column] + 1, here[-1] + 1, above[column - 1] + (ours != theirs)))
        above = here
    assert levenshtein(first, second) == above[-1]


def test_levenshtein_over_many_machine_words() -> None:
    assert levenshtein("ab" * 500, "ba" * 500) == 2
    assert levenshtein("a" * 1000, "b" * 900) == 1000


@given(words, words)
def test_apart_is_the_distance_as_a_share_of_the_longer(first: str, second: str) -> None:
    longer = max(len(first), len(second), 1)
    assert apart(first, second) == levenshtein(first, second) / longer


def test_apart_of_huge_texts_compares_what_differs_piece_by_piece() -> None:
    huge = "ab" * 500_000
    assert apart(huge, huge) == 0.0
    assert apart(huge, f"{huge}c") == 1 / 1_000_001
    assert apart(f"x{'ab' * 15_000}y", f"p{'ab' * 15_000}q") == 2 / 30_002
