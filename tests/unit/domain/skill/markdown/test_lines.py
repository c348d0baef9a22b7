import pytest

from skillopt.domain.skill.markdown.lines import (
    dominant_ending,
    gap_after,
    line_number,
    lines,
    occurrences,
    with_endings,
)


def test_lines_keep_every_character_in_one_place() -> None:
    text = "a\r\nb\rc\n\nd"
    found = lines(text)
    assert [line.text for line in found] == ["a", "b", "c", "", "d"]
    assert "".join(text[line.start : line.after] for line in found) == text
    assert [line.number for line in found] == [1, 2, 3, 4, 5]


@pytest.mark.parametrize(
    ("text", "count"), [("", 0), ("a", 1), ("a\n", 1), ("\n", 1), ("a\n\n", 2), ("a\x0bb\u2028c", 1)]
)
def test_a_final_break_begins_no_line_and_only_three_endings_break_one(text: str, count: int) -> None:
    assert len(lines(text)) == count


@pytest.mark.parametrize(
    ("text", "ending"),
    [("", "\n"), ("a", "\n"), ("a\nb\r\n", "\n"), ("a\r\nb\r\nc\n", "\r\n"), ("a\rb\r", "\r"), ("a\r\n", "\r\n")],
)
def test_dominant_ending(text: str, ending: str) -> None:
    assert dominant_ending(text) == ending


def test_with_endings_writes_each_break_once() -> None:
    assert with_endings("a\r\nb\rc\n", "\r\n") == "a\r\nb\r\nc\r\n"


@pytest.mark.parametrize(
    ("text", "gap"),
    [
        ("", ""),
        ("\ufeff", ""),
        ("a", "\n\n"),
        ("a\n", "\n"),
        ("a\n\n", ""),
        ("a\n\n\n", ""),
        ("a\n  ", "\n"),
        ("a\n\n ", "\n"),
    ],
)
def test_gap_after_leaves_one_blank_line(text: str, gap: str) -> None:
    assert gap_after(text, "\n") == gap


@pytest.mark.parametrize(
    ("text", "target", "places"),
    [
        ("abc", "b", [(1, 2)]),
        ("aaa", "aa", [(0, 2), (1, 3)]),
        ("a\r\nb", "a\nb", [(0, 4)]),
        ("a\nb", "a\r\nb", [(0, 3)]),
        ("x\r\ny", "\ny", [(1, 4)]),
        ("x", "y", []),
    ],
)
def test_occurrences_overlap_and_ignore_which_line_ending(
    text: str, target: str, places: list[tuple[int, int]]
) -> None:
    assert list(occurrences(text, target, most=5)) == places


def test_line_number() -> None:
    assert [line_number("a\r\nb\nc", offset) for offset in (0, 3, 5)] == [1, 2, 3]
