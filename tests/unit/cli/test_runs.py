from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import pytest

from skillopt.cli.main import main
from tests.unit.app.programs_at_work import codex_on_path
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


@pytest.mark.parametrize("verb", ["show", "work", "export", "rm"])
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
    assert f"Did you mean '{meant}'? Valid: compare, export, import, list, rm, show, work." in err


def test_work_tells_what_agents_did_and_the_output_of_their_program_when_asked(
    tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = codex_on_path(tmp_path, monkeypatch, 'return None if "crash" in task else "\\x1b[31mred"')
    config = settings(environment={"kind": "agent", "path": "tasks"}, agent={"sandbox": "none"})
    config["models"] = {"target": target, "optimizer": {"backend": "scripted", "scenario": "rules"}}
    path = write_project(tmp_path, config, sizes=(2, 2, 2))
    with (tmp_path / "tasks" / "val.jsonl").open("a") as tasks:
        tasks.write('{"id": "doomed", "input": "crash", "reference": "x"}\n')
    assert main(["eval", str(path), "--trust", "--json"]) == 0
    run = json.loads(capsys.readouterr().out)["run"]
    there = ("--workspace", str(tmp_path / ".skillopt"))

    out = told(capsys, "work", run, *there)
    assert out.count("== ") == 3
    assert "agent: codex 0.169.0, exit code 0\ntask read: yes; skill opened: unknown\n" in out
    assert "100 tokens in, 7 out, $0.0000" in out
    assert "steps:\n1. ran exec_command: cat task.md [exit 0]\n2. said: red\nanswer:\nred\n" in out
    assert "== doomed (" in out
    assert "failed: CrashedError: " in out
    assert "thread.started" not in out

    raw = told(capsys, "work", run, "--task", "doomed", "--raw", *there)
    assert "thread.started" not in raw, "a run without an answer keeps its cause only"
    full = json.loads(told(capsys, "work", run, "--raw", "--json", *there))["works"]
    brief = json.loads(told(capsys, "work", run, "--json", *there))["works"]
    assert [each["task_id"] for each in full] == [each["task_id"] for each in brief]
    assert ['"thread.started"' in each["raw"] for each in full] == [each["failure"] is None for each in full]
    assert {each["raw"] for each in brief} == {""}
    done = next(each["task_id"] for each in full if each["failure"] is None)
    assert "output of the program:\n{" in told(capsys, "work", run, "--task", done, "--raw", *there)
