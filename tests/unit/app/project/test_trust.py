from __future__ import annotations

from pathlib import Path

import pytest

from skillopt.app.project.trust import Asked, Trust, described
from skillopt.domain.errors import UsageError
from skillopt.environments.command.program import Program, read_program
from skillopt.environments.command.settings import CommandSettings


def program(folder: Path, text: str = "true") -> Program:
    folder.mkdir(exist_ok=True)
    (folder / "run.sh").write_text(text)
    return read_program(CommandSettings(run=("sh", "run.sh"), files=("run.sh",)), folder, folder / "tasks")


def test_a_program_is_trusted_once_it_was_allowed_and_until_a_byte_changes(tmp_path: Path) -> None:
    trust = Trust.of({"HOME": str(tmp_path / "me")})
    mine = program(tmp_path / "project")
    with pytest.raises(UsageError, match=r"`sh run\.sh` with run\.sh .*have not allowed.*--trust"):
        trust.demand(Asked.of(mine))
    trust.grant(Asked.of(mine))
    trust.demand(Asked.of(mine))
    assert Trust.of({"HOME": str(tmp_path / "me")}).has(Asked.of(program(tmp_path / "elsewhere")))
    assert not trust.has(Asked.of(program(tmp_path / "project", "true ")))


def test_it_is_kept_with_the_person_and_never_in_the_project(tmp_path: Path) -> None:
    mine = program(tmp_path / "project")
    for environ, place in (
        ({"HOME": str(tmp_path / "me")}, "me/.local/state/skillopt/trusted"),
        ({"HOME": str(tmp_path / "me"), "XDG_STATE_HOME": str(tmp_path / "state")}, "state/skillopt/trusted"),
        ({"HOME": str(tmp_path / "you"), "XDG_STATE_HOME": "relative"}, "you/.local/state/skillopt/trusted"),
    ):
        Trust.of(environ).grant(Asked.of(mine))
        assert described(mine) in (tmp_path / place / mine.digest).read_text()
    assert [path.name for path in (tmp_path / "project").iterdir()] == ["run.sh"]


def test_without_a_home_nothing_is_trusted_and_nothing_can_be(tmp_path: Path) -> None:
    mine = program(tmp_path / "project")
    for environ in ({}, {"HOME": ""}, {"HOME": "relative"}):
        assert not Trust.of(environ).has(Asked.of(mine))
        with pytest.raises(UsageError, match="Set HOME"):
            Trust.of(environ).grant(Asked.of(mine))


def test_a_program_of_many_files_is_described_in_a_line(tmp_path: Path) -> None:
    names = tuple(f"part_{number:02}" for number in range(12))
    for name in names:
        (tmp_path / name).touch()
    many = read_program(CommandSettings(run=("sh", "part_00"), files=names), tmp_path, tmp_path / "tasks")
    assert "part_07 and 4 more (digest" in described(many)
