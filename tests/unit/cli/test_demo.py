"""The demo as a person meets it: it trains the shipped example, gains, and shows where to look."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from skillopt.cli.main import main

SENTENCE = "+State each quantity in SI units and name the unit."
HARMFUL = "Trust the first guess and leave out every check."


def test_the_demo_trains_and_shows_what_changed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["demo", "--keep", str(tmp_path / "kept")]) == 0
    said = capsys.readouterr().out
    assert "\x1b" not in said
    assert SENTENCE in said.split("\n")
    before, after = re.findall(r"^(?:before|after) +([\d.]+) \[[\d.]+, [\d.]+\] n=24", said, re.MULTILINE)
    assert float(after) - float(before) > 0.4
    report = re.search(r"^report +(.+)$", said, re.MULTILINE)
    assert report is not None
    assert HARMFUL in Path(report[1]).read_text(encoding="utf-8")
    assert f"skillopt train {tmp_path}/kept/skillopt.yaml --set gate.rule=force" in said


def test_json_is_one_line_with_the_gains_and_the_rejections(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["demo", "--json", "--keep", str(tmp_path / "kept")]) == 0
    said = capsys.readouterr().out
    assert said.count("\n") == 1
    shown = json.loads(said)
    scores = shown["summary"]["scores"]
    assert scores["best"]["val"]["hard"] > scores["baseline"]["val"]["hard"]
    assert scores["best"]["test"]["low"] > scores["baseline"]["test"]["high"]
    assert shown["summary"]["rejects"] >= 1
    assert SENTENCE in shown["diff"]
    assert Path(shown["report"]).is_file()


def test_the_gate_keeps_the_harmful_rule_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["demo", "--json", "--keep", str(tmp_path / "kept")]) == 0
    shown = json.loads(capsys.readouterr().out)
    folder = Path(shown["report"]).parent
    history = json.loads((folder / "history.json").read_text(encoding="utf-8"))
    rejected = [step["step"] for step in history if step["action"] == "reject"]
    turned_down = [(folder / f"steps/step_{step:04d}/candidate_skill.md").read_text("utf-8") for step in rejected]
    assert any(HARMFUL in text for text in turned_down)
    assert HARMFUL not in (folder / "best_skill.md").read_text(encoding="utf-8")


def test_the_example_is_left_as_it_was(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    import skillopt.testing

    assert main(["demo", "--keep", str(tmp_path)]) == 0
    example = Path(skillopt.testing.__file__).with_name("example")
    for file in ("SKILL.md", "skillopt.yaml", "tasks/train.jsonl", "tasks/val.jsonl", "tasks/test.jsonl"):
        assert (tmp_path / file).read_bytes() == (example / file).read_bytes()


def test_a_folder_in_use_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "mine.txt").write_text("x", encoding="utf-8")
    assert main(["demo", "--keep", str(tmp_path)]) == 2
    assert "is not empty" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


def test_a_folder_that_cannot_be_made_is_a_message(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").write_text("x", encoding="utf-8")
    assert main(["demo", "--keep", str(tmp_path / "file" / "below")]) == 2
    assert "--keep" in capsys.readouterr().err


def test_settings_of_the_environment_do_not_reach_the_demo(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SKILLOPT_TRAIN__EPOCHS", "0")
    assert main(["demo", "--json", "--keep", str(tmp_path / "kept")]) == 0
    assert json.loads(capsys.readouterr().out)["summary"]["steps"] > 0


@pytest.mark.parametrize(("example", "files"), [("house-style", 1), ("skill-folder", 3)])
def test_each_example_trains_to_a_clear_gain(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], example: str, files: int
) -> None:
    assert main(["demo", "--example", example, "--keep", str(tmp_path / "it"), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    scores = told["summary"]["scores"]
    before, after = scores["baseline"]["test"], scores["best"]["test"]
    assert before["high"] < after["low"], "the intervals do not touch"
    folder = Path(told["folder"])
    assert (folder / told["summary"]["best_skill"]).is_file()
    seed = [file for file in folder.rglob("*.md") if ".skillopt" not in file.parts]
    assert len(seed) == files
    best = folder / told["summary"]["run_dir"] / "best_skill"
    kept = {file.relative_to(best).as_posix() for file in best.rglob("*.md")}
    assert kept == (set() if files == 1 else {"SKILL.md", "references/people.md", "references/tariffs.md"})
