from __future__ import annotations

from pathlib import Path

import pytest

from skillopt.domain.errors import UsageError
from skillopt.environments.command.program import Program, read_program
from skillopt.environments.command.settings import CommandSettings
from skillopt.kernel.sandbox import interpreter


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    for name in ("tasks/val.jsonl", "checks/a.py", "checks/deep/b.txt", "checks/.hidden/c", "checks/__pycache__/d.pyc"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(name)
    (folder / "grade.py").write_text("print(1)")
    (tmp_path / "outside.txt").write_text("secret")
    return folder


def read(project: Path, *files: str, run: tuple[str, ...] = ("python", "grade.py"), seconds: float = 60.0) -> Program:
    return read_program(CommandSettings(run=run, files=files, seconds=seconds), project, project / "tasks")


def test_files_keep_their_names_and_what_is_hidden_in_a_folder_stays_out(project: Path) -> None:
    program = read(project, "grade.py", "checks")
    assert [name for name, _ in program.files] == ["grade.py", "checks/a.py", "checks/deep/b.txt"]
    assert program.files[0][1] == b"print(1)"
    assert program.argv == (str(interpreter()), "grade.py")


def test_the_digest_is_of_contents_and_words_and_not_of_places_or_bounds(project: Path, tmp_path: Path) -> None:
    program = read(project, "grade.py")
    moved = project.rename(tmp_path / "moved")
    assert read(moved, "grade.py", seconds=5).digest == program.digest
    assert read(moved, "grade.py", run=("python", "grade.py", "-v")).digest != program.digest
    assert read(moved, "grade.py", "checks/a.py").digest != program.digest
    (moved / "grade.py").write_text("print(2)")
    assert read(moved, "grade.py").digest != program.digest


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("gone.py", "does not exist"),
        ("../outside.txt", "lies outside it"),
        ("/etc/passwd", "lies outside it"),
        ("link.txt", "lies outside it"),
        ("linked", "leads out of"),
        ("tasks", "belongs to the tasks"),
        ("tasks/val.jsonl", "belongs to the tasks"),
        ("answer.txt", "writes itself"),
        ("grade.py", "named twice"),
    ],
)
def test_files_that_could_leak_or_clash_are_refused(project: Path, tmp_path: Path, name: str, said: str) -> None:
    (project / "link.txt").symlink_to(tmp_path / "outside.txt")
    (project / "linked").mkdir()
    (project / "linked" / "out").symlink_to(tmp_path / "outside.txt")
    (project / "answer.txt").write_text("mine")
    with pytest.raises(UsageError, match=said):
        read(project, "grade.py", name)


def test_a_folder_around_the_tasks_is_refused(project: Path) -> None:
    with pytest.raises(UsageError, match="belongs to the tasks"):
        read(project, ".")


def test_too_much_for_every_answer_is_refused(project: Path) -> None:
    with (project / "huge").open("wb") as huge:
        huge.truncate(17 << 20)
    with pytest.raises(UsageError, match="16 MiB"):
        read(project, "huge")


@pytest.mark.parametrize("word", ["./grade.py", "grade.py", "no-such-program", "/etc/passwd", "/tmp/grade"])
def test_a_program_that_the_sandbox_would_not_have_is_refused(project: Path, word: str) -> None:
    with pytest.raises(UsageError, match="no program of this system"):
        read(project, "grade.py", run=(word,))


def test_a_program_of_the_system_is_found_by_its_name(project: Path) -> None:
    assert read(project, run=("sh", "run.sh")).argv[0].endswith("/sh")
