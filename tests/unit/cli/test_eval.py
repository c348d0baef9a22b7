from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from skillopt.cli.main import main
from tests.unit.app.projects import as_dict, settings, write_project

SECRET = "ghp_" + "a1B2c3D4e5F6" * 3


def evaluated(config: Path, capsys: pytest.CaptureFixture[str], *more: str) -> dict[str, object]:
    assert main(["eval", str(config), "--json", *more]) == 0
    out = capsys.readouterr().out
    assert out.count("\n") == 1
    told = json.loads(out)
    assert isinstance(told, dict)
    return told


@pytest.mark.parametrize(("split", "n"), [("train", 12), ("val", 6), ("test", 4), ("valid_unseen", 4)])
def test_one_score_for_each_split(tmp_path: Path, capsys: pytest.CaptureFixture[str], split: str, n: int) -> None:
    config = write_project(tmp_path)
    told = evaluated(config, capsys, "--split", split)
    assert isinstance(told["trials"], list)
    (trial,) = told["trials"]
    assert trial["mean"]["n"] == n == len(trial["rows"])
    assert trial["split"] == {"valid_unseen": "test"}.get(split, split)
    assert main(["eval", str(config), "--split", split]) == 0
    assert f"n={n}\n" in capsys.readouterr().out


def test_any_skill_is_measured_as_seen_from_the_config(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config = write_project(tmp_path)
    assert main(["train", str(config), "--json"]) == 0
    summary = json.loads(capsys.readouterr().out)
    told = evaluated(config, capsys, "--skill", summary["best_skill"], "--split", "test")
    assert isinstance(told["trials"], list)
    (trial,) = told["trials"]
    assert trial["mean"]["hard"] == summary["scores"]["best"]["test"]["hard"]
    assert told["skill"] == summary["best_skill"]


def test_trials_are_rows(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    told = evaluated(write_project(tmp_path), capsys, "--trials", "3")
    assert isinstance(told["trials"], list)
    assert [trial["label"] for trial in told["trials"]] == ["trial_0", "trial_1", "trial_2"]


def test_all_trials_make_one_score_of_the_split(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    told = evaluated(write_project(tmp_path), capsys, "--trials", "3", "--split", "valid_seen")
    assert (told["split"], told["status"], told["failed"]) == ("val", "finished", 0)
    score: dict[str, Any] = as_dict(told["score"])
    trials = told["trials"]
    assert isinstance(trials, list)
    assert score["n"] == 6, "tasks, however often each was put"
    assert score["hard"] == sum(trial["mean"]["hard"] for trial in trials) / 3
    first = trials[0]["mean"]
    assert score["high"] - score["low"] >= first["high"] - first["low"], "three trials of a task are no three tasks"
    assert as_dict(as_dict(told["usage"])["target"])["calls"] == 18
    assert str(told["run"]).startswith("eval-val-")


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--split", "tset"], "Did you mean 'test'? Valid: selection, test, train, val, valid_seen, valid_unseen."),
        (["--skill", "GONE.md"], "There is no skill at GONE.md"),
        (["--trials", "0"], "0 is not in the range"),
        (["--split", "test", "--set", "environment.limit.test=0"], "environment.limit.test"),
    ],
)
def test_what_cannot_be_measured_is_2_and_costs_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], more: list[str], said: str
) -> None:
    assert main(["eval", str(write_project(tmp_path)), *more]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert said in captured.err
    assert not (tmp_path / ".skillopt").exists()


def test_an_empty_split_is_2(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config = write_project(tmp_path)
    (tmp_path / "tasks" / "test.jsonl").unlink()
    assert main(["eval", str(config), "--split", "test"]) == 2
    assert "The test split is empty" in capsys.readouterr().err


@pytest.mark.parametrize("scenario", ["always-fails", "rules,kinds=context"])
def test_nothing_measured_is_3_and_no_score(tmp_path: Path, capsys: pytest.CaptureFixture[str], scenario: str) -> None:
    role = {"backend": "scripted", "scenario": scenario}
    config = write_project(tmp_path, settings(models={"target": role, "optimizer": role}, retry={"attempts": 1}))
    assert main(["eval", str(config), "--json"]) == 3
    captured = capsys.readouterr()
    assert "error: " in captured.err
    assert captured.out.count("\n") == 1
    assert {trial["mean"]["hard"] for trial in json.loads(captured.out)["trials"]} <= {None}
    assert main(["runs", "list", "--workspace", str(tmp_path / ".skillopt")]) == 0
    assert "killed" not in capsys.readouterr().out


def test_a_cap_stops_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config = write_project(tmp_path)
    assert main(["eval", str(config), "--json", "--set", "limits.calls=2"]) == 4
    captured = capsys.readouterr()
    assert "error: " in captured.err
    assert json.loads(captured.out)["trials"] == []
    assert main(["runs", "list", "--workspace", str(tmp_path / ".skillopt")]) == 0
    assert "stopped" in capsys.readouterr().out
    evaluated(config, capsys)


def test_a_skill_with_a_secret_is_measured_without_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config = write_project(tmp_path)
    (tmp_path / "leaky.md").write_text(f"Use {SECRET}.\n")
    assert main(["eval", str(config), "--skill", "leaky.md"]) == 0
    assert "SKILL.md holds what looks like a secret" in capsys.readouterr().err
    assert not [
        path for path in (tmp_path / ".skillopt").rglob("*") if path.is_file() and SECRET.encode() in path.read_bytes()
    ]
