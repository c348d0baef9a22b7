import pytest

from skillopt.domain.skill import Skill, check_standard


def skill(
    name: str = "pdf-tools", description: str = "Reads PDFs.", body: str = "# T\n", folder: str | None = None
) -> Skill:
    text = f"---\nname: {name}\ndescription: {description}\nx-unknown: fine\n---\n{body}"
    return Skill.from_files({"SKILL.md": text}, name=folder)


def test_a_good_skill_has_no_findings() -> None:
    assert check_standard(skill(folder="pdf-tools")) == ()
    assert check_standard(skill(name="a" * 64, description="d" * 1024), "a" * 64) == ()


@pytest.mark.parametrize(
    ("checked", "subject", "words"),
    [
        (Skill.from_text("# T\n"), "front matter", "no front matter"),
        (Skill.from_text("---\nname: a\nname: b\ndescription: x\n---\n"), "front matter", "twice"),
        (Skill.from_text("---\ndescription: x\n---\n"), "name", "no name"),
        (skill(name="''"), "name", "no name"),
        (skill(name="a" * 65), "name", "65 characters"),
        (skill(name="Pdf"), "name", "lower-case"),
        (skill(name="pdf_tools"), "name", "lower-case"),
        (skill(name="pdf tools"), "name", "lower-case"),
        (skill(name="-pdf"), "name", "hyphen"),
        (skill(name="pdf--x"), "name", "hyphen"),
        (skill(folder="other"), "name", "differs"),
        (Skill.from_text("---\nname: a\n---\n"), "description", "no description"),
        (skill(description="' '"), "description", "no description"),
        (skill(description="d" * 1025), "description", "1025 characters"),
        (skill(description="Use for: this"), "description", "quotes"),
    ],
)
def test_each_error(checked: Skill, subject: str, words: str) -> None:
    (finding,) = check_standard(checked)
    assert (finding.severity, finding.subject) == ("error", subject)
    assert words in finding.message


def test_the_given_folder_name_wins() -> None:
    (finding,) = check_standard(skill(folder="pdf-tools"), "elsewhere")
    assert "'elsewhere'" in finding.message


@pytest.mark.parametrize(("count", "severities"), [(499, []), (500, ["warn"])])
def test_a_long_body_is_a_warning(count: int, severities: list[str]) -> None:
    assert [finding.severity for finding in check_standard(skill(body="x\n" * count))] == severities
