"""Markup is safe because of how it is made."""

from __future__ import annotations

import pytest

from skillopt.train.pages.markup import Html, element, folded, shortened, table, visible


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain, é, 猫, 🎉, →", "plain, é, 猫, 🎉, →"),
        ("two\nlines\tand a tab", "two\nlines\tand a tab"),
        ("user\u202etxt.exe", "usertxt.exe"),
        ("a\u2066b\u2069c\u200bd\ufeffe\u00adf", "abcdef"),
        ("\x1b[31mred\x00\r\x85\x9b", "[31mred"),
        ("\U000e0041tag", "tag"),
        ("half \ud800", "half "),
        ("line\u2028end", "lineend"),
    ],
)
def test_what_a_reader_cannot_see_is_not_shown(text: str, shown: str) -> None:
    assert visible(text) == shown


def test_text_is_escaped_and_markup_is_not() -> None:
    assert element("p", "<b>&", element("b", "x")).markup == "<p>&lt;b&gt;&amp;<b>x</b></p>"


def test_attributes_are_escaped() -> None:
    made = element("a", "x", href='#"><script>', class_="c", aria_label="\u202e'")
    assert made.markup == '<a href="#&quot;&gt;&lt;script&gt;" class="c" aria-label="&#x27;">x</a>'


def test_numbers_in_attributes_are_short() -> None:
    assert element("circle", cx=12.0, cy=3.25).markup == '<circle cx="12" cy="3.25"/>'


def test_the_first_cell_names_the_row() -> None:
    made = table("Caption", ("A", "B"), [("<1>", Html("<i>2</i>"))], kind="plan").markup
    assert '<table class="plan"><caption>Caption</caption>' in made
    assert '<th scope="row">&lt;1&gt;</th><td><i>2</i></td>' in made


def test_what_is_folded_may_be_open() -> None:
    assert folded("More", "x").markup == "<details><summary>More</summary>x</details>"
    assert folded("More", "x", is_open=True).markup.startswith('<details open="">')


def test_shortening_says_what_it_left_out() -> None:
    assert shortened("four", 4) == "four"
    assert shortened("x" * 1_005, 4) == "xxxx … (1,001 more characters)"
