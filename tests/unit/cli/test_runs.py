from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import pytest

from skillopt.cli.main import main
from tests.unit.app.projects import settings, write_project

Capture = pytest.CaptureFixture[str]


@pytest.fixture
def workspace(tmp_path: Path, capsys: Capture) -> Path:
    config = write_project(tmp_path, settings(train={"epochs": 1, "batch_size": 12}))
    assert main(["train", str(config), "--run", "one"]) == 0
    capsys.readouterr()
    return tmp_path / ".skillopt"


def told(capsys: Capture, *arguments: str) -> str:
    assert main(["runs", *arguments]) == 0
    return capsys.readouterr().out


def test_an_empty_place_has_no_runs(tmp_path: Path, capsys: Capture) -> None:
    place = str(tmp_path / "gone")
    assert told(capsys, "list", "--workspace", place) == f"There are no runs in {place}.\n"
    assert json.loads(told(capsys, "list", "--workspace", place, "--json")) == {"runs": []}


def test_list_tells_how_each_run_ended(workspace: Path, capsys: Capture) -> None:
    config = str(workspace.parent / "skillopt.yaml")
    assert main(["train", config, "--run", "two", "--set", "limits.calls=0"]) == 0, "all its answers are there"
    assert main(["train", config, "--run", "three", "--set", "limits.calls=0", "--set", "train.seed=1"]) == 4
    capsys.readouterr()
    out = told(capsys, "list", "--workspace", str(workspace))
    assert out.splitlines() == [
        "one  finished (all steps done)  sessions: 1",
        "two  finished (all steps done)  sessions: 1",
        "three  stopped (calls)  sessions: 1",
    ]
    line = told(capsys, "list", "--workspace", str(workspace), "--json")
    assert line.count("\n") == 1
    assert [row["name"] for row in json.loads(line)["runs"]] == ["one", "two", "three"]


def test_show_is_the_summary_again(workspace: Path, capsys: Capture) -> None:
    line = told(capsys, "show", "one", "--workspace", str(workspace), "--json")
    assert line.count("\n") == 1
    shown, kept = json.loads(line), json.loads((workspace / "runs" / "one" / "summary.json").read_bytes())
    assert set(shown) == set(kept)
    same = set(kept) - {"wall_seconds", "usage"}
    assert {key: shown[key] for key in same} == {key: kept[key] for key in same}
    assert told(capsys, "show", "one", "--workspace", str(workspace)).startswith("run one: finished")


@pytest.mark.parametrize("verb", ["show", "export", "rm"])
def test_an_unknown_run_is_2_with_the_nearest(workspace: Path, capsys: Capture, verb: str) -> None:
    assert main(["runs", verb, "onne", "--workspace", str(workspace)]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "Did you mean 'one'? Valid: one." in captured.err


def test_out_and_in_again(workspace: Path, tmp_path: Path, capsys: Capture) -> None:
    exported = told(capsys, "export", "one", "--workspace", str(workspace))
    assert all(isinstance(json.loads(line), dict) for line in exported.splitlines())
    typed = sys.stdin
    sys.stdin = io.StringIO(exported)
    try:
        assert told(capsys, "import", "--workspace", str(tmp_path / "other")) == "imported one\n"
    finally:
        sys.stdin = typed
    shown = [told(capsys, "show", "one", "--workspace", str(place)) for place in (workspace, tmp_path / "other")]
    assert shown[0].replace(".skillopt/", "") == shown[1].replace("other/", "")


def test_compare_holds_runs_against_the_first(workspace: Path, capsys: Capture) -> None:
    config = str(workspace.parent / "skillopt.yaml")
    assert main(["train", config, "--run", "two", "--set", "train.epochs=0"]) == 0
    capsys.readouterr()
    out = told(capsys, "compare", "two", "one", "--workspace", str(workspace))
    assert "one against two: " in out
    assert "on the same 4 test tasks" in out
    line = told(capsys, "compare", "two", "one", "--workspace", str(workspace), "--json")
    assert line.count("\n") == 1
    assert [row["run"] for row in json.loads(line)["runs"]] == ["two", "one"]


def test_rm_forgets_the_run_and_its_folder(workspace: Path, capsys: Capture) -> None:
    assert told(capsys, "rm", "one", "--workspace", str(workspace)) == "removed one\n"
    assert not (workspace / "runs" / "one").exists()
    assert "There are no runs" in told(capsys, "list", "--workspace", str(workspace))


@pytest.mark.parametrize(("typed", "meant"), [("lst", "list"), ("shwo", "show"), ("exprt", "export")])
def test_an_unknown_verb_names_the_nearest_and_all(capsys: Capture, typed: str, meant: str) -> None:
    assert main(["runs", typed]) == 2
    err = capsys.readouterr().err
    assert f"Did you mean '{meant}'? Valid: compare, export, import, list, rm, show." in err
