import pytest

from skillopt.domain.errors import UsageError
from skillopt.domain.skill.markdown.markers import Region, has_marker, parse_regions, strip_markers

S, E = "<!-- SLOW_UPDATE_START -->", "<!-- SLOW_UPDATE_END -->"
A, Z = "<!-- APPENDIX_START -->", "<!-- APPENDIX_END -->"


def test_regions_are_found_in_order_with_their_lines() -> None:
    text = f"# T\n\n{A}\n- note\n{Z}\n\n{S}\n{E}"
    appendix, slow = parse_regions(text)
    assert (appendix.region, appendix.first_line, appendix.last_line) == (Region.APPENDIX, 3, 5)
    assert appendix.inner(text) == "- note\n"
    assert appendix.raw(text) == f"{A}\n- note\n{Z}"
    assert (slow.region, slow.inner(text)) == (Region.SLOW_UPDATE, "")


@pytest.mark.parametrize(
    ("start", "end"),
    [
        ("<!-- skillopt:learned START -->", "<!-- skillopt:learned END -->"),
        ("<!-- SKILLOPT-SLEEP:LEARNED START -->", "<!-- SKILLOPT-SLEEP:LEARNED END -->"),
        ("  <!--skillopt:learned START-->", "<!-- skillopt:learned END -->\t"),
        ("\ufeff<!-- skillopt:learned START -->", "<!-- SKILLOPT-SLEEP:LEARNED END -->"),
    ],
)
def test_the_learned_block_has_several_spellings(start: str, end: str) -> None:
    text = f"{start}\r\n- a rule\r\n{end}\r\n"
    (block,) = parse_regions(text)
    assert block.region is Region.LEARNED
    assert block.inner(text) == "- a rule\r\n"


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        (f"a\n{S}\nb", 2, "never closed"),
        (f"a\n\n{E}\nb", 3, "not opened"),
        (f"{E}\n{S}\n", 1, "not opened"),
        (f"{S}\n{S}\n{E}\n{E}", 2, "inside"),
        (f"{S}\n{A}\n{Z}\n{E}", 2, "inside"),
        (f"{S}\nx\n{Z}\n", 3, "closed inside"),
        (f"{S}\n{E}\n{S}\n{E}\n", 3, "a second slow update region"),
        (f"see {S}\n{E}\n", 1, "alone"),
        (f"{S} {E}\n", 1, "alone"),
        (f"```\n`{S}`\n```\n", 2, "alone"),
        (f"---\ndescription: {S}\n---\n", 2, "alone"),
        (
            "<!-- skillopt:learned START -->\n<!-- skillopt:learned END -->\n<!-- SKILLOPT-SLEEP:LEARNED START -->",
            3,
            "second",
        ),
    ],
)
def test_a_misplaced_marker_is_an_error_that_names_its_line(text: str, line: int, words: str) -> None:
    with pytest.raises(UsageError, match=rf"Line {line} .*{words}.*--fix-markers"):
        parse_regions(text)


def test_markers_count_inside_a_code_fence_too() -> None:
    assert [block.region for block in parse_regions(f"```\n{S}\n{E}\n```\n")] == [Region.SLOW_UPDATE]


def test_other_comments_are_no_markers() -> None:
    assert parse_regions("<!-- SLOW -->\n<!-- LEARNED START -->\n<!-- note -->") == ()


def test_strip_markers_leaves_none_even_when_one_hides_in_another() -> None:
    hidden = f"<!-- SLOW_{A}UPDATE_START -->"
    assert strip_markers(f"a {hidden} b {Z}") == "a  b "
    assert not has_marker(strip_markers(hidden * 3))


@pytest.mark.parametrize("region", list(Region))
def test_the_markers_we_write_are_recognised(region: Region) -> None:
    (block,) = parse_regions(f"{region.start_marker}\n{region.end_marker}\n")
    assert block.region is region
