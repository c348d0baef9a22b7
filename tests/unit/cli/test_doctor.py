from __future__ import annotations

import json
from pathlib import Path

import pytest

from skillopt.cli.main import main
from tests.unit.app.projects import over_http, settings, write_project


def test_all_is_well(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor", str(write_project(tmp_path)), "--call"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("ok    python: 3.")
    assert "ok    tasks: train 12, val 6, test 4\n" in out
    assert out.count("answered in") == 2


def test_nothing_given_is_no_failure(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor"]) == 0
    assert "note  config: none given" in capsys.readouterr().out


def test_a_failure_is_2_and_names_its_check(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config = write_project(tmp_path, settings(models=over_http("http://127.0.0.1:9/v1", timeout=5.0)))
    assert main(["doctor", str(config)]) == 0
    assert main(["doctor", str(config), "--call"]) == 2
    out = capsys.readouterr().out
    assert "FAIL  models.target: openai target at http://127.0.0.1:9/v1: Could not connect" in out


@pytest.mark.parametrize(("name", "code"), [("skillopt.yaml", 0), ("gone.yaml", 2)])
def test_json_is_one_line_with_the_same_findings(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, code: int
) -> None:
    write_project(tmp_path)
    assert main(["doctor", str(tmp_path / name), "--json"]) == code
    out = capsys.readouterr().out
    assert out.count("\n") == 1
    told = json.loads(out)
    assert told["ok"] is (code == 0)
    assert {"check", "ok", "says"} == set(told["findings"][0])
