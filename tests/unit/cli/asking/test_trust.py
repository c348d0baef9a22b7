from __future__ import annotations

from pathlib import Path

import pytest

from skillopt.app.project.prepare import Prepared, prepare
from skillopt.app.project.trust import Asked
from skillopt.cli.asking.trust import settle_trust
from skillopt.cli.main import main
from tests.unit.app.projects import settings, write_project

COMMAND = {"run": ["sh", "grade.sh"], "files": ["grade.sh"], "verdict": "exit"}


def project(folder: Path) -> Path:
    config = settings(environment={"path": "tasks", "grader": "command", "command": COMMAND})
    path = write_project(folder, config)
    (folder / "grade.sh").write_text('grep -q -- "$(head -c 3 answer.txt)" task.json')
    return path


def prepared(folder: Path) -> Prepared:
    return prepare(project(folder), environ={"HOME": str(folder / "home")})


def test_off_a_terminal_only_the_flag_allows_a_program(tmp_path: Path) -> None:
    ready = prepared(tmp_path)
    assert ready.program is not None
    settle_trust(ready, trust=False)
    assert not ready.trust.has(Asked.of(ready.program))
    settle_trust(ready, trust=True)
    assert ready.trust.has(Asked.of(ready.program))


def test_without_a_program_nothing_is_asked_or_kept(tmp_path: Path) -> None:
    ready = prepare(write_project(tmp_path), environ={"HOME": str(tmp_path / "home")})
    settle_trust(ready, trust=True)
    assert not (tmp_path / "home").exists()


@pytest.mark.parametrize("command", ["train", "eval"])
def test_a_run_refuses_a_program_that_is_not_allowed_before_anything_is_asked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    assert main([command, str(project(tmp_path))]) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert "`sh grade.sh` with grade.sh" in told.err
    assert "--trust" in told.err
    assert not (tmp_path / "state").exists()
