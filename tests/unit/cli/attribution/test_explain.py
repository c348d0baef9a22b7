from __future__ import annotations

import json
from pathlib import Path

import pytest

from skillopt.cli.main import main
from tests.unit.app.projects import write_project

Capture = pytest.CaptureFixture[str]


@pytest.fixture
def best(tmp_path: Path, capsys: Capture) -> Path:
    assert main(["train", str(write_project(tmp_path)), "--run", "one", "--set", "gate.rule=strict"]) == 0
    capsys.readouterr()
    return tmp_path / ".skillopt" / "runs" / "one" / "best_skill.md"


def told(capsys: Capture, *arguments: str) -> str:
    assert main(["explain", *arguments]) == 0
    return capsys.readouterr().out


def test_a_document_is_shown_line_by_line_with_its_origins(best: Path, capsys: Capture) -> None:
    lines = told(capsys, str(best)).splitlines()
    count = len(best.read_text().splitlines())
    assert lines[0] == "SKILL.md of run one"
    assert [line.split(" | ", 1)[1] for line in lines[1 : count + 1] if " | " in line] == [
        line for line in best.read_text().splitlines() if line
    ]
    assert lines[1].startswith("initial_skill")
    assert any(line.startswith("step_0001: accept_new_best, strict on hard: ") for line in lines[count + 1 :])


def test_one_line_is_told_in_full(best: Path, capsys: Capture) -> None:
    number = len(best.read_text().splitlines())
    shown = told(capsys, f"{best}:{number}")
    assert shown.startswith(f"SKILL.md:{number} of run one\n  ")
    assert [line.split(":")[0] for line in shown.splitlines()[2:]] == ["from", "edit", "tasks", "gate", "val"]
    assert "train-" in shown
    assert "failed without it" in shown


def test_the_seeds_lines_were_not_gated(best: Path, capsys: Capture) -> None:
    shown = told(capsys, "one:1", "--workspace", str(best.parents[2]))
    assert "from:   initial_skill\n" in shown
    assert "edit:" not in shown


def test_as_json_it_is_one_object(best: Path, capsys: Capture) -> None:
    line = told(capsys, str(best), "--json")
    assert line.count("\n") == 1
    answer = json.loads(line)
    assert [one["text"] for one in answer["lines"]] == best.read_text().splitlines()
    assert {one["origin"] for one in answer["lines"]} == {origin["name"] for origin in answer["origins"]}


@pytest.mark.parametrize("place", ["gone.md:3", "two", "one:99", "one:0"])
def test_what_cannot_be_explained_is_2(best: Path, capsys: Capture, place: str) -> None:
    assert main(["explain", place, "--workspace", str(best.parents[2])]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("error: ")
