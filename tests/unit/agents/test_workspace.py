from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from skillopt.agents.workspace import Laid, lay_out, left_files, skill_name, skill_text
from skillopt.domain.errands import Attachment, Errand
from skillopt.domain.errors import TaskError
from skillopt.domain.skill import Skill

SKILL = Skill.from_files(
    {
        "SKILL.md": "---\nname: sums\ndescription: How sums\n  are done\nallowed-tools: Bash\n---\n# Sums\n\nCarry the one.\n",
        "references/tables.md": "1 1 2\n",
    },
    name="sums",
)


def attachment(folder: Path, name: str, content: bytes) -> Attachment:
    source = folder / "given" / name
    source.parent.mkdir(parents=True, exist_ok=True)
    source.write_bytes(content)
    return Attachment(name=name, digest=hashlib.sha256(content).hexdigest(), source=str(source))


def laid(tmp_path: Path, *, skill: Skill = SKILL, preamble: str | None = None) -> Laid:
    folder = tmp_path / "work"
    folder.mkdir()
    errand = Errand(
        instruction="Add up.\n\n",
        skill=skill,
        files=(attachment(tmp_path, "data/in.csv", b"1,2"),),
        images=(attachment(tmp_path, "deep/photo.png", b"\x89PNG"),),
    )
    return lay_out(folder, errand, preamble=preamble)


def test_an_agent_finds_the_task_its_files_and_the_skill_in_both_places(tmp_path: Path) -> None:
    folder = laid(tmp_path).folder
    found = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*") if path.is_file()}
    homes = (".agents/skills/skillopt-sums", ".claude/skills/skillopt-sums")
    assert set(found) == {
        *("task.md", "ATTACHMENTS.md", "attachments/01_photo.png", "data/in.csv"),
        *(f"{home}/{name}" for home in homes for name in ("SKILL.md", "references/tables.md")),
    }
    assert found["task.md"].read_text() == "Add up.\n"
    assert found["data/in.csv"].read_bytes() == b"1,2"


def test_the_index_of_attachments_names_no_place_of_this_machine(tmp_path: Path) -> None:
    folder = laid(tmp_path).folder
    assert (folder / "ATTACHMENTS.md").read_text() == "# Attachments\n\n- attachments/01_photo.png\n"
    everything = b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())
    assert str(tmp_path).encode() not in everything


def test_of_the_front_matter_only_name_and_description_reach_the_agent() -> None:
    text = skill_text(SKILL, "Mind the units.")
    assert text.splitlines()[:4] == ["---", "name: skillopt-sums", 'description: "How sums are done"', "---"]
    assert "allowed-tools" not in text
    assert text.index("Mind the units.") < text.index("Carry the one.")


def test_a_blank_skill_says_that_there_is_no_guidance_yet() -> None:
    text = skill_text(Skill.blank(), None)
    assert "name: skillopt-target" in text
    assert "no guidance" in text


@pytest.mark.parametrize(
    ("declared", "name"),
    [
        ("Sums & More!", "skillopt-sums-more"),
        ("skillopt-sums", "skillopt-sums"),
        ("日本", "skillopt-target"),
        ("x" * 90, "skillopt-" + "x" * 55),
    ],
)
def test_a_skill_has_a_name_of_its_own_that_every_agent_takes(declared: str, name: str) -> None:
    assert skill_name(Skill.from_text(f"---\nname: {declared}\n---\n")) == name


def test_what_was_made_changed_or_deleted_is_left_and_what_we_laid_out_is_not(tmp_path: Path) -> None:
    before = laid(tmp_path)
    folder = before.folder
    (folder / "data2").mkdir()
    (folder / "data2/in.csv").write_text("1,2,3")
    (folder / "task.md").write_text("changed")
    (folder / "made.txt").write_text("three")
    (folder / "made.bin").write_bytes(b"\xff\x00")
    (folder / "link").symlink_to("/etc/hostname")
    (folder / "huge.txt").write_text("x" * (300 << 10))
    left = {file.path: file for file in left_files(before)}
    assert set(left) == {"data2/in.csv", "made.txt", "made.bin", "huge.txt"}
    assert left["made.txt"].text == "three"
    assert left["made.bin"].data == b"\xff\x00"
    assert (left["huge.txt"].text, left["huge.txt"].data, left["huge.txt"].size) == (None, None, 300 << 10)


def test_a_given_file_that_is_gone_is_told(tmp_path: Path) -> None:
    folder = tmp_path / "work"
    folder.mkdir()
    errand = Errand(instruction="Tidy.", skill=SKILL, files=(attachment(tmp_path, "old.txt", b"old"),))
    before = lay_out(folder, errand)
    (folder / "old.txt").unlink()
    assert [(file.path, file.deleted) for file in left_files(before)] == [("old.txt", True)]


def test_a_file_that_changed_since_it_was_digested_is_refused(tmp_path: Path) -> None:
    file = attachment(tmp_path, "in.csv", b"1,2")
    Path(file.source).write_bytes(b"1,3")
    with pytest.raises(TaskError, match=r"'in\.csv' has changed since the run began"):
        lay_out(tmp_path, Errand(instruction="Add up.", skill=SKILL, files=(file,)))
    Path(file.source).unlink()
    with pytest.raises(TaskError, match=r"'in\.csv' cannot be read"):
        lay_out(tmp_path, Errand(instruction="Add up.", skill=SKILL, files=(file,)))
