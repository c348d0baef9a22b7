"""What holds for every document and every edit, whatever they say."""

import string

from hypothesis import given, settings
from hypothesis import strategies as st

from skillopt.domain.skill import (
    Edit,
    EditOp,
    Region,
    Skill,
    apply,
    region_content,
    restore_regions,
    strip_markers,
    with_region,
)

MATTERS = ("", "---\nname: demo\ndescription: Does it.\nx-odd:   [1, \n---\n", "---\nname: x\n---")
PIECES = (
    *(
        "- a rule",
        "- a rule twice",
        "# Title",
        "## Part ##",
        "",
        "   ",
        "---",
        "```",
        "text --> <b>",
        "<!-- mine -->",
        "<",
        "!-- x",
    ),
    *("name: y", "allowed", "-tools: all", "  - deep", "ünï ✓", "\x0b", "a <!-"),
)
ENDINGS = st.sampled_from(["\n", "\r\n", "\r"])
WORDS = st.lists(st.sampled_from(PIECES) | st.text(string.printable, max_size=6), max_size=5)
REGIONS = st.dictionaries(st.sampled_from(Region), WORDS, max_size=3)


@st.composite
def documents(draw: st.DrawFn) -> Skill:
    """Draw a valid document: maybe a BOM, front matter, words and regions in any order, mixed line endings."""
    ending = draw(ENDINGS)
    parts = [draw(WORDS)]
    for region, inner in draw(REGIONS).items():
        parts += [[region.start_marker, *inner, region.end_marker], draw(WORDS)]
    body = [line for part in parts for line in part]
    text = "".join(line + (draw(ENDINGS) if draw(st.integers(0, 9)) == 0 else ending) for line in body)
    matter = draw(st.sampled_from(MATTERS)).replace("\n", ending)
    if body and matter and not matter.endswith(("\r", "\n")):
        matter += ending
    return Skill.from_text(
        draw(st.sampled_from(["", "\ufeff"])) + matter + (text if draw(st.booleans()) else text.rstrip())
    )


@st.composite
def edits(draw: st.DrawFn, skill: Skill) -> Edit:
    """Draw an edit that often quotes the document, markers and front matter included."""
    lines = [line.strip() for line in skill.text.splitlines() if line.strip()]
    starts = [0, *(place + 1 for place, character in enumerate(skill.text) if character in "\r\n")]
    start = draw(st.sampled_from(starts) | st.integers(0, len(skill.text)))
    quoted = skill.text[start : draw(st.sampled_from(starts) | st.integers(start, len(skill.text)))]
    region = draw(st.sampled_from(Region))
    forged = st.sampled_from([*PIECES, quoted, region.start_marker, region.end_marker])
    return Edit(
        op=draw(st.sampled_from(EditOp)),
        target=draw(st.sampled_from([quoted, quoted.replace("\r\n", "\n"), *lines]) | st.text(max_size=4)),
        content=draw(st.sampled_from(["new words", "- one\n- two\n"]) | forged | st.text(max_size=8)),
    )


def owned(skill: Skill) -> list[str]:
    """Return the regions exactly, marker lines included."""
    return [block.raw(skill.text) for block in skill.blocks]


def common_prefix(one: str, other: str) -> int:
    """Return how many characters two texts share at their beginning."""
    return next((i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))


@settings(max_examples=200)
@given(st.data())
def test_one_edit_changes_only_its_own_place(data: st.DataObject) -> None:
    skill = data.draw(documents())
    edit = data.draw(edits(skill))
    candidate = apply(skill, [edit])
    before, after = skill.text, candidate.skill.text
    assert len(candidate.applied) + len(candidate.refused) == 1
    assert (before == after) is bool(candidate.refused)
    removed = len(edit.target) * 2 if edit.op in {EditOp.REPLACE, EditOp.DELETE} else 0
    kept = common_prefix(before, after) + common_prefix(before[::-1], after[::-1])
    assert kept >= len(before) - removed
    if not removed:
        added = len(after) - len(before)
        assert any(
            before[:place] + after[place : place + added] + before[place:] == after for place in range(len(before) + 1)
        )


@settings(max_examples=200)
@given(st.data(), st.booleans())
def test_regions_and_front_matter_survive_any_edits(data: st.DataObject, edit_description: bool) -> None:
    skill = data.draw(documents())
    patch = data.draw(st.lists(edits(skill), max_size=4))
    candidate = apply(skill, patch, edit_scripts=True, edit_description=edit_description)
    after = candidate.skill
    assert owned(after) == owned(skill)
    assert len(candidate.applied) + len(candidate.refused) == len(patch)
    assert [after.declared_name] == [skill.declared_name]
    if not edit_description:
        # A closing fence that ended the file gets its line break when something follows it.
        assert after.front_matter.rstrip("\r\n") == skill.front_matter.rstrip("\r\n")
        assert after.front_matter.startswith(skill.front_matter)
        assert after.text.startswith("\ufeff") == skill.text.startswith("\ufeff")
    assert all(1 <= done.line <= after.text.count("\n") + after.text.count("\r") + 1 for done in candidate.applied)


@settings(max_examples=200)
@given(text=st.text(), target=st.text(), content=st.text(), op=st.sampled_from(EditOp), file=st.text(max_size=3))
def test_apply_is_total_on_arbitrary_text(text: str, target: str, content: str, op: EditOp, file: str) -> None:
    candidate = apply(
        Skill.from_text(strip_markers(text)),
        [Edit(op=op, target=target, content=content), Edit(op=op, target=target, content=content, file=file)],
    )
    assert len(candidate.applied) + len(candidate.refused) == 2


@settings(max_examples=200)
@given(skill=documents(), regions=st.sets(st.sampled_from(Region)))
def test_adding_empty_regions_is_never_seen(skill: Skill, regions: set[Region]) -> None:
    more = skill
    for region in regions:
        if region_content(skill, region) is None:
            more = with_region(more, region, "")
            assert region_content(more, region) == ""
    assert more.rendered == skill.rendered
    assert more.rendered_digest == skill.rendered_digest
    assert more.text.startswith(skill.text)


@settings(max_examples=200)
@given(skill=documents(), region=st.sampled_from(Region), content=WORDS.map("\n".join) | st.text(), other=ENDINGS)
def test_a_region_holds_what_its_owner_wrote_and_nothing_else_moves(
    skill: Skill, region: Region, content: str, other: str
) -> None:
    plain = content.replace("\r", "")
    forged = plain.replace("\n", other) + Region.APPENDIX.end_marker + region.start_marker
    written = with_region(skill, region, forged)
    assert region_content(written, region) == plain.strip()
    assert with_region(written, region, region_content(written, region)) is written
    assert written.front_matter.rstrip("\r\n") == skill.front_matter.rstrip("\r\n")
    for one in Region:
        assert one is region or region_content(written, one) == region_content(skill, one)
    removed = with_region(written, region, None)
    assert removed.front_matter.rstrip("\r\n") == skill.front_matter.rstrip("\r\n")
    if region_content(skill, region) is None:
        assert written.text.startswith(skill.text)
        assert removed.text.startswith(skill.text) or region_content(removed, region) == ""


@settings(max_examples=200)
@given(skill=documents(), other=documents(), text=st.text(max_size=12), copied=st.booleans())
def test_a_rewrite_changes_no_region_and_no_front_matter(skill: Skill, other: Skill, text: str, copied: bool) -> None:
    written = restore_regions(skill, (skill.text if copied else other.text) + text)
    assert owned(written) == owned(skill)
    assert written.front_matter.rstrip("\r\n") == skill.front_matter.rstrip("\r\n")
    assert restore_regions(skill, written.text).rendered == written.rendered
