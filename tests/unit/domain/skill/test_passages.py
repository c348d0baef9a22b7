from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillopt.domain.errors import UsageError
from skillopt.domain.skill import Skill
from skillopt.domain.skill.passages import passages, without

LINES = st.lists(
    st.sampled_from(
        [
            *("", "# A", "## B", "- one", "  - deep", "1. first", "Words.", "words", "```", "---", "===", "name: x"),
            *("<!-- APPENDIX_START -->", "<!-- APPENDIX_END -->", "| a | b |", "  more", "\ufeffBom"),
        ]
    ),
    max_size=14,
)


def texts(document: str) -> list[str]:
    return [passage.text for passage in passages(Skill.from_text(document))]


@pytest.mark.parametrize(
    ("document", "found"),
    [
        pytest.param("", [], id="nothing"),
        pytest.param("# A\n\n## B\n", [], id="headings are none"),
        pytest.param("Title\n=====\n\nWords.\n", ["Words."], id="nor are underlined ones"),
        pytest.param("One.\n\n---\n\nTwo.\n", ["One.", "Two."], id="nor rules across the page"),
        pytest.param("- a\n- b\n  goes on\n- c\n", ["- a", "- b\n  goes on", "- c"], id="items"),
        pytest.param("- a\n  - deep\n\n  more of a\n- b\n", ["- a\n  - deep\n\n  more of a", "- b"], id="nested items"),
        pytest.param("1. a\n2) b\n", ["1. a", "2) b"], id="numbers"),
        pytest.param("- a\n\nWords.\n", ["- a", "Words."], id="after a list"),
        pytest.param("One.\nTwo!\nThree goes\non here.\n", ["One.", "Two!", "Three goes\non here."], id="sentences"),
        pytest.param("Use a list, e.g.\nof names.\n", ["Use a list, e.g.\nof names."], id="not the end of it"),
        pytest.param("Do this:\n- a\n", ["Do this:", "- a"], id="a list begins"),
        pytest.param(
            "Run it:\n```sh\n# no heading\n\nls.\n```\nThen.\n",
            ["Run it:\n```sh\n# no heading\n\nls.\n```\nThen."],
            id="code",
        ),
        pytest.param("| a | b |\n| - | - |\n| 1. | 2. |\n", ["| a | b |\n| - | - |\n| 1. | 2. |"], id="tables"),
        pytest.param("---\nname: x\n---\nWords.\n", ["Words."], id="front matter is none"),
        pytest.param("A.\n<!-- APPENDIX_START -->\n- own\n<!-- APPENDIX_END -->\nB.\n", ["A.", "B."], id="nor regions"),
        pytest.param("A.\r\n\r\nB.\r\n", ["A.", "B."], id="any line end"),
    ],
)
def test_where_passages_begin_and_end(document: str, found: list[str]) -> None:
    assert texts(document) == found


@pytest.mark.parametrize(
    ("document", "taken", "left"),
    [
        ("# A\n\nOne.\n\nTwo.\n\nThree.\n", ["Two."], "# A\n\nOne.\n\nThree.\n"),
        ("# A\n\nOne.\n\nTwo.\n", ["Two."], "# A\n\nOne.\n"),
        ("# A\n\n## B\n\n- one\n\n## C\n\n- two\n", ["- one"], "# A\n\n## C\n\n- two\n"),
        ("# A\n\n## B\n\n- one\n\n### D\n\n- deep\n\n## C\n\n- two\n", ["- one", "- deep"], "# A\n\n## C\n\n- two\n"),
        ("- one\n- two\n- three\n", ["- two"], "- one\n- three\n"),
        ("- one\n- two", ["- two"], "- one\n"),
        ("# A\n\n## Empty\n\n## B\n\nOne.\n", ["One."], ""),
        ("# A\n\n## Empty\n\n## B\n\nOne.\nTwo.\n", ["One."], "# A\n\n## Empty\n\n## B\n\nTwo.\n"),
        ("---\nname: x\n---\n\n# A\n\nOne.\n", ["One."], "---\nname: x\n---\n"),
        ("One.\n\n\nTwo.\n", [], "One.\n\n\nTwo.\n"),
        (
            "# A\n\nOne.\n<!-- APPENDIX_START -->\nX\n<!-- APPENDIX_END -->\n",
            ["One."],
            "# A\n\n<!-- APPENDIX_START -->\nX\n<!-- APPENDIX_END -->\n",
        ),
    ],
)
def test_what_is_left_without_some(document: str, taken: list[str], left: str) -> None:
    skill = Skill.from_text(document)
    assert without(skill, [passage for passage in passages(skill) if passage.text in taken]).text == left


def test_what_is_left_never_turns_into_front_matter() -> None:
    skill = Skill.from_text("One.\n\n---\nname: x\n---\n")
    assert without(skill, passages(skill)[:1]).front_matter == ""


@given(LINES, st.data())
def test_passages_are_exact_and_what_has_another_owner_stays(written: list[str], data: st.DataObject) -> None:
    try:
        skill = Skill.from_text("\n".join(written) + "\n")
    except UsageError:
        return
    found = passages(skill)
    document = skill.text.split("\n")
    numbers = [number for passage in found for number in range(passage.first_line, passage.last_line + 1)]
    assert numbers == sorted(set(numbers))
    for passage in found:
        assert "\n".join(document[passage.first_line - 1 : passage.last_line]) == passage.text
    taken = [passage for passage in found if data.draw(st.booleans())]
    left = without(skill, taken)
    assert left.front_matter == skill.front_matter
    assert [block.raw(left.text) for block in left.blocks] == [block.raw(skill.text) for block in skill.blocks]
    if not taken:
        assert left == skill
