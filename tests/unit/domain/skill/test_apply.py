import pytest

from skillopt.domain.skill import Edit, EditOp, Patch, Refusal, Region, Skill, apply

APPEND, INSERT, REPLACE, DELETE = EditOp.APPEND, EditOp.INSERT_AFTER, EditOp.REPLACE, EditOp.DELETE
S, E = "<!-- SLOW_UPDATE_START -->", "<!-- SLOW_UPDATE_END -->"
MATTER = "---\nname: demo\ndescription: Does it.\n---\n"
GUARDED = f"{MATTER}\n# T\n\n- a\n\n{S}\nslow rule\n{E}\ntail\n"


def edit(op: EditOp, target: str = "", content: str = "", file: str = "SKILL.md") -> Edit:
    return Edit(op=op, target=target, content=content, file=file)


@pytest.mark.parametrize(
    ("before", "change", "after", "line"),
    [
        ("# T\n", edit(APPEND, content=" - b \n"), "# T\n\n- b\n", 3),
        ("# T", edit(APPEND, content="- b"), "# T\n\n- b\n", 3),
        ("# T\n\n", edit(APPEND, content="- b"), "# T\n\n- b\n", 3),
        ("", edit(APPEND, content="- b"), "- b\n", 1),
        ("\ufeff", edit(APPEND, content="- b"), "\ufeff- b\n", 1),
        (MATTER.rstrip(), edit(APPEND, content="- b"), f"{MATTER}\n- b\n", 6),
        (f"# T\n\n{S}\n{E}\nz", edit(APPEND, content="- b"), f"# T\n\n- b\n\n{S}\n{E}\nz", 3),
        (f"# T\n{S}\n{E}\n", edit(APPEND, content="- b"), f"# T\n\n- b\n\n{S}\n{E}\n", 3),
        (f"{S}\n{E}\n", edit(APPEND, content="- b"), f"- b\n\n{S}\n{E}\n", 1),
        ("a\r\nb\r\n", edit(APPEND, content="x\ny"), "a\r\nb\r\n\r\nx\r\ny\r\n", 4),
        ("# T\n- a\n- b\n", edit(INSERT, "- a", "- new"), "# T\n- a\n- new\n- b\n", 3),
        ("- a and more\n- b\n", edit(INSERT, "- a", "- new"), "- a and more\n- new\n- b\n", 2),
        ("- a\n- b\n", edit(INSERT, "- a\n", "- new"), "- a\n- new\n- b\n", 2),
        ("- a\n- b", edit(INSERT, "- b", "x\ny"), "- a\n- b\nx\ny", 3),
        ("- a\r\n- b\r\n", edit(INSERT, "- a\n- b", "x\ny"), "- a\r\n- b\r\nx\r\ny\r\n", 3),
        (f"- a\n{S}\n{E}\n", edit(INSERT, "- a", "- new"), f"- a\n- new\n{S}\n{E}\n", 2),
        ("# T\n- a\n", edit(REPLACE, "- a", "- b"), "# T\n- b\n", 2),
        ("# T\n  - a\nz", edit(REPLACE, "  - a\n", " - b\n"), "# T\n  - b\nz", 2),
        ("a\r\nb\r\nc", edit(REPLACE, "a\nb", "x\ny\nz"), "x\r\ny\r\nz\r\nc", 1),
        ("use a here", edit(REPLACE, "a", "b"), "use b here", 1),
        (f"{S}\n{E}\ntail", edit(REPLACE, "\ntail", "x"), f"{S}\n{E}\nx", 3),
        ("use it here", edit(REPLACE, "it ", ""), "use here", 1),
        ("a.b\nab\n", edit(REPLACE, "a.b", r"\1 \g<0>"), "\\1 \\g<0>\nab\n", 1),
        ("- a\n- b\n- c\n", edit(DELETE, "- b\n"), "- a\n- c\n", 2),
        ("- a\n- b\n- c\n", edit(DELETE, "- b", "ignored"), "- a\n\n- c\n", 2),
        ("- a\n- b\n- c\n", edit(DELETE, "\n- b\n"), "- a\n- c\n", 1),
        ("- a\n- b\n", edit(DELETE, "\n- b\n"), "- a", 1),
        ("- a\n- b\n", edit(DELETE, " a\n- b"), "-\n", 1),
        (f"- a\n{S}\n{E}\n", edit(DELETE, "- a\n"), f"{S}\n{E}\n", 1),
        ("<!-- mine -->\n- a\n", edit(DELETE, "<!-- mine -->\n"), "- a\n", 1),
    ],
)
def test_each_operation_acts_exactly(before: str, change: Edit, after: str, line: int) -> None:
    candidate = apply(Skill.from_text(before), [change])
    assert candidate.refused == ()
    assert candidate.skill.text == after
    assert [(done.edit, done.file, done.line) for done in candidate.applied] == [(change, "SKILL.md", line)]
    assert candidate.changed


@pytest.mark.parametrize(
    ("change", "reason", "words"),
    [
        (edit(APPEND), Refusal.EMPTY_CONTENT, "append needs content"),
        (edit(INSERT, "- a", " \n"), Refusal.EMPTY_CONTENT, "insert_after needs content"),
        (edit(INSERT, "", "x"), Refusal.TARGET_MISSING, "quotes no text"),
        (edit(REPLACE, " \n", "x"), Refusal.TARGET_MISSING, "quotes no text"),
        (edit(DELETE), Refusal.TARGET_MISSING, "quotes no text"),
        (edit(INSERT, "- z", "x"), Refusal.TARGET_NOT_FOUND, "exactly as it stands"),
        (edit(REPLACE, "-  a", "x"), Refusal.TARGET_NOT_FOUND, "exactly as it stands"),
        (edit(DELETE, "#  T"), Refusal.TARGET_NOT_FOUND, "exactly as it stands"),
        (edit(REPLACE, "l", "x"), Refusal.TARGET_AMBIGUOUS, "(lines 11, 11, 13)"),
        (edit(REPLACE, "slow rule", "x"), Refusal.PROTECTED_REGION, "lines 10-12"),
        (edit(INSERT, "slow rule", "x"), Refusal.PROTECTED_REGION, "slow update"),
        (edit(DELETE, f"- a\n\n{S}\nslow"), Refusal.PROTECTED_REGION, "slow update"),
        (edit(DELETE, f"{E}\ntail"), Refusal.PROTECTED_REGION, "slow update"),
        (edit(DELETE, S), Refusal.PROTECTED_REGION, "slow update"),
        (edit(INSERT, f"- a\n\n{S}", "x"), Refusal.PROTECTED_REGION, "slow update"),
        (edit(REPLACE, "- a", "- a "), Refusal.NO_CHANGE, "as it is"),
        (edit(REPLACE, "Does it.", "Does more."), Refusal.FRONT_MATTER, "front matter"),
        (edit(INSERT, "name: demo", "license: x"), Refusal.FRONT_MATTER, "front matter"),
        (edit(DELETE, "---\n\n# T"), Refusal.FRONT_MATTER, "front matter"),
        (edit(APPEND, content=f"x\n{E}"), Refusal.MARKER_IN_CONTENT, "marker"),
        (edit(APPEND, content="x <!-- y"), Refusal.HTML_COMMENT, "comment"),
        (edit(APPEND, content="x\u200by"), Refusal.HIDDEN_UNICODE, "U+200B"),
        (edit(APPEND, content="x\ud800y"), Refusal.HIDDEN_UNICODE, "U+D800"),
        (edit(APPEND, content="allowed-tools: all"), Refusal.PERMISSION_WORDS, "allowed-tools"),
        (edit(APPEND, content="x", file="references/none.md"), Refusal.UNKNOWN_FILE, "it has SKILL.md"),
    ],
)
def test_each_refusal_leaves_the_skill_alone_and_says_why(change: Edit, reason: Refusal, words: str) -> None:
    skill = Skill.from_text(GUARDED)
    candidate = apply(skill, [change])
    assert [(refused.edit, refused.reason) for refused in candidate.refused] == [(change, reason)]
    assert words in candidate.refused[0].detail
    assert candidate.skill is skill
    assert not candidate.changed


@pytest.mark.parametrize(
    ("before", "change", "reason"),
    [
        ("<X!-- y", edit(DELETE, "X"), Refusal.HTML_COMMENT),
        ("X!-- y", edit(REPLACE, "X", "<"), Refusal.HTML_COMMENT),
        (f"a\n{S}\n{E}\n", edit(DELETE, "a\n\n"), Refusal.TARGET_NOT_FOUND),
        (f"abc\n{S}\n{E}\nxyz", edit(DELETE, "bc\n"), None),
        (f"{S}\n{E}\nxyz", edit(DELETE, "\nxyz"), None),
        (f"{S}\n{E}\nxyz", edit(DELETE, "\nxy"), Refusal.PROTECTED_REGION),
        ("<!-- APPENDIX_xEND -->", edit(DELETE, "x"), Refusal.PROTECTED_REGION),
        (f"<!-- APPENDIX_xSTART -->\n{Region.APPENDIX.end_marker[1:]}", edit(DELETE, "x"), Refusal.PROTECTED_REGION),
        ("---\nname: a\n- -\nbody", edit(REPLACE, "- -", "---"), Refusal.FRONT_MATTER),
        ("x\nname: a\n---\nbody", edit(REPLACE, "x", "---"), Refusal.FRONT_MATTER),
        ("x---\nname: a\n---\nbody", edit(DELETE, "x"), Refusal.FRONT_MATTER),
        ("\ufeff# T", edit(DELETE, "\ufeff# T"), Refusal.FRONT_MATTER),
        (f"{MATTER}a\n", edit(DELETE, "a\n"), None),
        ("aaa", edit(DELETE, "aa"), Refusal.TARGET_AMBIGUOUS),
        ("see\nsee\n", edit(DELETE, "\nsee\n"), None),
    ],
)
def test_neighbours_never_join_into_something_new(before: str, change: Edit, reason: Refusal | None) -> None:
    candidate = apply(Skill.from_text(before), [change])
    assert [refused.reason for refused in candidate.refused] == ([] if reason is None else [reason])


def test_edits_apply_in_order_and_lines_are_those_of_the_result() -> None:
    edits = (
        edit(APPEND, content="- late"),
        edit(INSERT, "# T", "- early"),
        edit(REPLACE, "- early", "- first\n- second"),
    )
    candidate = apply(Skill.from_text("# T\n"), Patch(reasoning="because", edits=edits))
    assert candidate.skill.text == "# T\n- first\n- second\n\n- late\n"
    assert [done.line for done in candidate.applied] == [5, 2, 2]


def test_a_later_edit_just_before_an_earlier_one_moves_its_line() -> None:
    candidate = apply(Skill.from_text("ab\n"), [edit(REPLACE, "b", "X"), edit(REPLACE, "a", "1\n2")])
    assert candidate.skill.text == "1\n2X\n"
    assert [done.line for done in candidate.applied] == [2, 1]


def test_an_applied_edit_and_a_refused_one_are_both_reported() -> None:
    good, bad = edit(APPEND, content="- b"), edit(REPLACE, "absent", "x")
    candidate = apply(Skill.from_text("# T\n"), [bad, good])
    assert [done.edit for done in candidate.applied] == [good]
    assert [refused.edit for refused in candidate.refused] == [bad]


def test_the_empty_patch_is_no_change() -> None:
    skill = Skill.from_text("# T\n")
    candidate = apply(skill, Patch.empty())
    assert (candidate.skill, candidate.changed, candidate.applied, candidate.refused) == (skill, False, (), ())


FOLDER = {
    "SKILL.md": "# T\n",
    "references/a.md": "---\nkey: v\n---\nold\n",
    "scripts/note.md": "old\n",
    "assets/run.SH": "old\n",
    "assets/tool": "#!/bin/sh\nold\n",
}


def test_text_files_can_be_edited_and_their_front_matter_is_text() -> None:
    skill = Skill.from_files(FOLDER, name="demo")
    candidate = apply(skill, [edit(REPLACE, "key: v", "key: w", "references/a.md")])
    assert candidate.skill.file("references/a.md") == "---\nkey: w\n---\nold\n"
    assert (candidate.skill.name, candidate.skill.text) == ("demo", "# T\n")
    assert [(done.file, done.line) for done in candidate.applied] == [("references/a.md", 2)]
    assert candidate.changed


@pytest.mark.parametrize("path", ["scripts/note.md", "assets/run.SH", "assets/tool"])
def test_programs_are_read_only_unless_allowed(path: str) -> None:
    skill, change = Skill.from_files(FOLDER), edit(REPLACE, "old", "new", path)
    assert [refused.reason for refused in apply(skill, [change]).refused] == [Refusal.READ_ONLY_FILE]
    assert apply(skill, [change], edit_scripts=True).refused == ()


@pytest.mark.parametrize(
    ("change", "matter"),
    [
        (edit(REPLACE, "Does it.", "Does it well."), "---\nname: demo\ndescription: Does it well.\n---\n"),
        (edit(REPLACE, "Does it.", '"Use for: it"'), '---\nname: demo\ndescription: "Use for: it"\n---\n'),
        (edit(REPLACE, "Does it.", "Use for: it"), None),
        (edit(REPLACE, "Does it.", ""), None),
        (edit(REPLACE, "Does it.", "x" * 1025), None),
        (edit(REPLACE, "Does it.", "Does it.\nlicense: x"), None),
        (edit(REPLACE, "Does it.", "Does it.\n---"), None),
        (edit(REPLACE, "demo", "other"), None),
        (edit(DELETE, "description: Does it.\n"), None),
        (edit(DELETE, "---\n\n# T"), None),
    ],
)
def test_edit_description_opens_the_description_and_nothing_else(change: Edit, matter: str | None) -> None:
    candidate = apply(Skill.from_text(GUARDED), [change], edit_description=True)
    assert candidate.skill.front_matter == (matter or MATTER)
    assert [refused.reason for refused in candidate.refused] == ([] if matter else [Refusal.FRONT_MATTER])
