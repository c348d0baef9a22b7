import hashlib

import msgspec
import pytest

from skillopt.domain.errors import UsageError
from skillopt.domain.skill import Section, Skill, SkillFile

MATTER = "---\nname: demo\ndescription: Does it.\nx-new: kept\n---\n"
SLOW = "<!-- SLOW_UPDATE_START -->\n{}<!-- SLOW_UPDATE_END -->\n"


def test_text_is_front_matter_and_body_exactly() -> None:
    skill = Skill.from_text(MATTER + "\n# T\r\n")
    assert skill.front_matter == MATTER
    assert skill.body == "\n# T\r\n"
    assert skill.front_matter + skill.body == skill.text
    assert (skill.declared_name, skill.description, skill.name) == ("demo", "Does it.", None)


def test_blank() -> None:
    skill = Skill.blank()
    assert (skill.text, skill.rendered, skill.front_matter, skill.declared_name) == ("", "", "", None)


def test_files_are_ordered_with_the_document_first() -> None:
    skill = Skill.from_files({"references/b.md": "b", "SKILL.md": "s", "A.md": "a"}, name="demo")
    assert [file.path for file in skill.files] == ["SKILL.md", "A.md", "references/b.md"]
    assert skill == Skill(name="demo", files=tuple(reversed(skill.files)))
    assert (skill.file("A.md"), skill.file("none")) == ("a", None)


@pytest.mark.parametrize(
    ("paths", "words"),
    [
        (["references/a.md"], "no SKILL.md"),
        (["SKILL.md", "/etc/a"], "not a path inside"),
        (["SKILL.md", "a/../b"], "not a path inside"),
        (["SKILL.md", "a\\b"], "not a path inside"),
        (["SKILL.md", "a//b"], "not a path inside"),
        (["SKILL.md", "./a"], "not a path inside"),
        (["SKILL.md", "a\nb"], "not a path inside"),
        (["SKILL.md", ""], "not a path inside"),
        (["SKILL.md", "SKILL.md"], "twice"),
    ],
)
def test_impossible_folders_are_refused(paths: list[str], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        Skill(files=tuple(SkillFile(path=path, text="") for path in paths))


def test_malformed_markers_are_refused_on_the_way_in() -> None:
    with pytest.raises(UsageError, match="Line 2 "):
        Skill.from_text("# T\n<!-- APPENDIX_END -->\n")


def test_rendered_is_the_body_without_what_no_model_should_see() -> None:
    text = (
        MATTER + "\n# T\n\n" + SLOW.format("") + "\nmiddle\n\n<!-- APPENDIX_START -->\n- note\n<!-- APPENDIX_END -->\n"
    )
    assert Skill.from_text(text).rendered == "# T\n\nmiddle\n\n- note"


@pytest.mark.parametrize(
    ("with_region", "without"),
    [
        ("a\n\n" + SLOW.format("") + "\nb\n", "a\n\nb\n"),
        ("a\n" + SLOW.format(" \n\n") + "b\n", "a\nb\n"),
        (SLOW.format("") + "\na\n", "a\n"),
        ("\ufeff" + SLOW.format("") + "a", "\ufeffa"),
        ("a\r\n\r\n" + SLOW.format("\n"), "a"),
        (MATTER + SLOW.format(""), MATTER),
    ],
)
def test_an_empty_region_is_not_rendered_wherever_it_stands(with_region: str, without: str) -> None:
    one, other = Skill.from_text(with_region), Skill.from_text(without)
    assert one.rendered == other.rendered
    assert one.rendered_digest == other.rendered_digest
    assert one.digest != other.digest


def test_rendered_keeps_indentation_blank_lines_and_other_comments() -> None:
    text = "\ufeff\n    code\n\n\n<!-- mine -->\n  - b\n\n"
    assert Skill.from_text(text).rendered == "    code\n\n\n<!-- mine -->\n  - b"


def test_rendered_folder_ends_with_an_index_and_its_digest_covers_the_files() -> None:
    skill = Skill.from_files({"SKILL.md": "# T\n", "scripts/x.py": "1", "references/a.md": "2"})
    assert skill.rendered == "# T\n\nOther files of this skill:\n- references/a.md\n- scripts/x.py"
    changed = skill.with_file("references/a.md", "3")
    assert changed.rendered == skill.rendered
    assert changed.rendered_digest != skill.rendered_digest


def test_digest_is_exact_hex_and_tells_files_apart() -> None:
    skill = Skill.from_files({"SKILL.md": "a", "b": "c"})
    assert len(skill.digest) == hashlib.sha256().digest_size * 2
    assert skill.digest == Skill.from_files({"b": "c", "SKILL.md": "a"}, name="named").digest
    assert skill.digest != Skill.from_files({"SKILL.md": "a", "bc": ""}).digest
    assert Skill.from_text("a\n").digest != Skill.from_text("a\r\n").digest
    assert Skill.from_text("a\n").rendered_digest == Skill.from_text("a\r\n").rendered_digest
    assert Skill.from_text("\ud800").digest != Skill.from_text("\ud801").digest


def test_sections_count_lines_of_the_whole_file() -> None:
    assert Skill.from_text(MATTER + "# T\nx\n").sections() == (Section(1, "T", 6, 7),)


def test_a_skill_survives_encoding() -> None:
    skill = Skill.from_files({"SKILL.md": "# T\r\n", "a.md": "x"}, name="demo")
    assert skill.rendered
    assert msgspec.json.decode(msgspec.json.encode(skill), type=Skill) == skill
