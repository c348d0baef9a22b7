from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillopt.domain.skill import Skill
from skillopt.domain.skill.markdown.markers import Region, parse_regions, strip_markers
from skillopt.domain.skill.mending import mend_markers

SLOW, SLOW_END = Region.SLOW_UPDATE.start_marker, Region.SLOW_UPDATE.end_marker
NOTES, NOTES_END = Region.APPENDIX.start_marker, Region.APPENDIX.end_marker


def document(*lines: str) -> str:
    return "".join(f"{line}\n" for line in lines)


def test_a_sound_document_comes_back_as_it_was() -> None:
    text = document("# A", SLOW, "keep", SLOW_END, "b", NOTES, NOTES_END)
    mended = mend_markers(text)
    assert (mended.text, mended.notes) == (text, ())


def test_several_regions_become_one_in_the_place_of_the_first() -> None:
    text = document("# A", SLOW, "one", SLOW_END, "between", SLOW, "two", SLOW_END, SLOW, "one", SLOW_END, "end")
    mended = mend_markers(text)
    assert mended.text == document("# A", SLOW, "one", "", "two", SLOW_END, "between", "end")
    assert mended.notes == ("3 slow update regions became one",)


@pytest.mark.parametrize(
    ("before", "after", "note"),
    [
        (("a", SLOW, "b"), ("a", "b"), "line 2: a stray start of the slow update region was taken out"),
        (("a", SLOW_END, "b"), ("a", "b"), "line 2: a stray end of the slow update region was taken out"),
        ((SLOW, "a", SLOW, "b", SLOW_END), ("a", SLOW, "b", SLOW_END), "line 1: a stray start"),
        ((SLOW, "a", NOTES, "b", NOTES_END, SLOW_END), ("a", NOTES, "b", NOTES_END), "line 6: a stray end"),
        ((f"word {SLOW} more", "b", SLOW_END), ("word  more", "b"), "line 1: a stray start"),
        ((SLOW, f"a {NOTES} b", SLOW_END), (SLOW, "a  b", SLOW_END), "line 2: a stray start of the appendix"),
    ],
)
def test_a_marker_without_its_other_half_goes_and_no_word_with_it(
    before: tuple[str, ...], after: tuple[str, ...], note: str
) -> None:
    mended = mend_markers(document(*before))
    assert mended.text == document(*after)
    assert any(note in each for each in mended.notes)


def test_line_ends_and_the_byte_order_mark_stay() -> None:
    text = f"\ufeff{SLOW}\r\na\r\n{NOTES}\r\nb\r\n{NOTES_END}\r\n{NOTES}\r\nc\r\n{NOTES_END}\r\n"
    assert mend_markers(text).text == f"\ufeffa\r\n{NOTES}\r\nb\r\n\r\nc\r\n{NOTES_END}\r\n"


LINES = st.lists(
    st.sampled_from(
        [SLOW, SLOW_END, NOTES, NOTES_END, f"  {SLOW}", f"x {SLOW_END}", f"{NOTES}{NOTES_END}", "word", "other", ""]
    ),
    max_size=14,
)


@given(LINES, st.sampled_from(["\n", "\r\n", "\r"]), st.booleans(), st.booleans())
def test_whatever_the_muddle_the_result_is_sound_and_no_word_is_lost(
    muddle: list[str], ending: str, ends: bool, marked: bool
) -> None:
    text = ("\ufeff" if marked else "") + ending.join(muddle) + (ending if ends else "")
    mended = mend_markers(text)
    blocks = parse_regions(mended.text)
    assert len({block.region for block in blocks}) == len(blocks)
    assert Skill.from_text(mended.text).text == mended.text
    assert words(mended.text) <= words(text)
    assert mend_markers(mended.text) == type(mended)(text=mended.text, notes=())
    assert set(words(mended.text)) == set(words(text))


def words(text: str) -> set[str]:
    return set(re.findall(r"\w+", strip_markers(text)))
