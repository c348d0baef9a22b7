from __future__ import annotations

import json
from pathlib import Path

import pytest

from skillopt.cli.main import main
from tests.unit.app.projects import write_project


def test_it_says_how_often_the_gate_was_fooled(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config = str(write_project(tmp_path))
    assert main(["aa", config, "--gates", "4"]) == 0
    said = capsys.readouterr().out
    assert "0 of 4 changes that change nothing were accepted: 0.000 (0.000 to" in said
    assert "Val tasks needed" in said
    assert main(["aa", config, "--gates", "4", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["gates"], told["accepted"]) == (4, 0)


def test_a_stop_is_told_with_its_exit_code(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["aa", str(write_project(tmp_path)), "--set", "limits.calls=2"]) == 4
    assert "limits.calls" in capsys.readouterr().err
