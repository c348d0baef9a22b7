from __future__ import annotations

from pathlib import Path

import pytest

from skillopt.app.project.skills import read_skill
from skillopt.domain.errors import UsageError


def test_no_skill_is_a_blank_one(tmp_path: Path) -> None:
    assert read_skill(tmp_path, None).text == ""


def test_a_file_is_read_exactly(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_bytes("# T\r\n\r\nGrüß.\r\n".encode())
    skill = read_skill(tmp_path, "a.md")
    assert skill.text == "# T\r\n\r\nGrüß.\r\n"
    assert skill.name is None


def test_a_folder_is_a_skill_with_its_text_files(tmp_path: Path) -> None:
    folder = tmp_path / "house"
    for name, data in {
        "SKILL.md": b"# House\n",
        "references/a.md": b"A\n",
        "scripts/run.py": b"print()\n",
        "assets/logo.png": b"\x89PNG\xff",
        ".git/config": b"x",
        "references/.hidden": b"x",
    }.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    (folder / "link.md").symlink_to(folder / "SKILL.md")
    skill = read_skill(tmp_path, "house")
    assert skill.name == "house"
    assert [file.path for file in skill.files] == ["SKILL.md", "references/a.md", "scripts/run.py"]


@pytest.mark.parametrize("path", ["missing.md", "", "empty", "SKILL.md/"])
def test_a_missing_skill_is_an_error_and_never_a_blank_start(tmp_path: Path, path: str) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(UsageError) as refused:
        read_skill(tmp_path, path)
    assert "There is no skill" in refused.value.message
    assert "`skill: null`" in str(refused.value.hint)


@pytest.mark.parametrize("data", [b"\xff\xfe", b"x" * 1_000_001])
def test_what_is_no_document_is_refused(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "a.md").write_bytes(data)
    with pytest.raises(UsageError, match="is not a text file"):
        read_skill(tmp_path, "a.md")
