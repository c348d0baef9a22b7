from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillopt.train.attribution.lineage import carried

LINES = st.lists(st.sampled_from(["", "a", "b", "c", "- a"]), max_size=12)


@pytest.mark.parametrize(
    ("before", "after", "places"),
    [
        ("", "ab", (None, None)),
        ("ab", "ab", (0, 1)),
        ("ab", "axb", (0, None, 1)),
        ("abc", "ac", (0, 2)),
        ("abc", "axc", (0, None, 2)),
        ("ab", "", ()),
        ("aa", "aaa", (0, 1, None)),
    ],
)
def test_a_line_is_the_one_it_was(before: str, after: str, places: tuple[int | None, ...]) -> None:
    assert carried(before, after) == places


@given(LINES, LINES)
def test_carried_lines_are_equal_and_keep_their_order(before: list[str], after: list[str]) -> None:
    places = carried(before, after)
    assert len(places) == len(after)
    known = [(place, text) for place, text in zip(places, after, strict=True) if place is not None]
    assert [before[place] for place, _ in known] == [text for _, text in known]
    assert [place for place, _ in known] == sorted({place for place, _ in known})
