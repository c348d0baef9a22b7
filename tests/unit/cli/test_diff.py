from __future__ import annotations

import json
from pathlib import Path

import pytest

from skillopt.cli.main import main
from tests.unit.app.projects import write_project


def test_a_change_in_words_and_as_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["train", str(write_project(tmp_path)), "--run", "one"]) == 0
    capsys.readouterr()
    place = ["--workspace", str(tmp_path / ".skillopt")]
    assert main(["diff", "one", "--step", "1", *place]) == 0
    out = capsys.readouterr().out
    assert out.startswith("--- SKILL.md (before)\n+++ SKILL.md (after)\n")
    assert "step 1: accept_new_best (" in out
    assert "\x1b" not in out, "plain where nobody looks"
    assert main(["diff", "one", *place, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["run"], told["step"], told["warnings"]) == ("one", None, [])


def test_without_a_change_it_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config = str(write_project(tmp_path))
    assert main(["train", config, "--run", "one", "--set", "train.epochs=0"]) == 0
    capsys.readouterr()
    assert main(["diff", "one", "--workspace", str(tmp_path / ".skillopt")]) == 0
    assert capsys.readouterr().out == "Nothing was changed.\n"
