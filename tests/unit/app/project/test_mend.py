from __future__ import annotations

import json
from pathlib import Path

import pytest

from skillopt.app.project.mend import mend_file
from skillopt.cli.main import main
from skillopt.domain.errors import UsageError
from skillopt.domain.skill.markdown.markers import Region

TWICE = f"# A\n{Region.APPENDIX.start_marker}\nnote\n{Region.APPENDIX.end_marker}\n" * 2
ONCE = f"# A\n{Region.APPENDIX.start_marker}\nnote\n{Region.APPENDIX.end_marker}\n# A\n"


@pytest.mark.parametrize("name", ["SKILL.md", "."])
def test_a_file_or_the_document_of_a_folder_is_mended_and_keeps_its_mode(tmp_path: Path, name: str) -> None:
    file = tmp_path / "SKILL.md"
    file.write_text(TWICE, encoding="utf-8")
    file.chmod(0o644)
    mended = mend_file(tmp_path / name)
    assert file.read_text(encoding="utf-8") == ONCE
    assert file.stat().st_mode & 0o777 == 0o644
    assert mended.notes == ("2 appendix regions became one",)
    assert mended.diff
    assert [path.name for path in tmp_path.iterdir()] == ["SKILL.md"]


def test_a_sound_file_is_not_written(tmp_path: Path) -> None:
    file = tmp_path / "SKILL.md"
    file.write_text(ONCE, encoding="utf-8")
    before = file.stat()
    assert mend_file(file).diff == ()
    assert (file.stat().st_ino, file.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


def test_what_is_no_document_of_its_own_is_refused(tmp_path: Path) -> None:
    (tmp_path / "binary.md").write_bytes(b"\xff\xfe\x00")
    (tmp_path / "link.md").symlink_to(tmp_path / "binary.md")
    for name in ("gone.md", "link.md", "binary.md"):
        with pytest.raises(UsageError):
            mend_file(tmp_path / name)


def test_the_command_shows_what_it_did(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "SKILL.md"
    file.write_text(TWICE, encoding="utf-8")
    assert main(["doctor", str(file), "--fix-markers"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("--- SKILL.md (before)")
    assert "2 appendix regions became one" in out
    assert main(["doctor", str(file), "--fix-markers", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"file": "SKILL.md", "notes": [], "diff": []}
    assert main(["doctor", "--fix-markers"]) == 2
