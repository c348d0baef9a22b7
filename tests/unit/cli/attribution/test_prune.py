from __future__ import annotations

import json
from pathlib import Path

import pytest

from skillopt.cli.main import main
from skillopt.testing.worlds import RULES
from tests.unit.app.projects import write_project

Capture = pytest.CaptureFixture[str]
MARGIN = ("--set", "prune.margin=0.3")


@pytest.fixture
def config(tmp_path: Path) -> Path:
    path = write_project(tmp_path)
    rules = "".join(f"- {rule.sentence}\n" for rule in RULES.rules)
    (tmp_path / "SKILL.md").write_text(f"# House style\n\n- Mind the weather.\n{rules}")
    return path


def test_it_shows_what_was_tried_the_diff_and_where_the_skill_is(config: Path, capsys: Capture) -> None:
    assert main(["prune", str(config), *MARGIN]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("run prune-")
    assert lines[1].startswith("without line 3, 4, 5, 6 (- Mind the weather. and 3 more): lost val-")
    assert any(
        line.startswith("confirmed: a loss of 0.3 or more is ruled out at 0.05; mean loss 0.000") for line in lines
    )
    assert "-- Mind the weather." in lines
    assert lines[-2].startswith("cost: ")
    skill = config.parent / lines[-1].removeprefix("skill: ")
    assert "Mind the weather" not in skill.read_text()
    assert "Mind the weather" in (config.parent / "SKILL.md").read_text()


def test_any_skill_can_be_pruned_and_as_json_it_is_one_object(config: Path, capsys: Capture) -> None:
    (config.parent / "short.md").write_text(f"{RULES.rules[0].sentence}\n\nMind the weather.\n")
    assert main(["prune", str(config), *MARGIN, "--skill", "short.md", "--run", "mine", "--json"]) == 0
    out = capsys.readouterr().out
    assert out.count("\n") == 1
    told = json.loads(out)
    assert told["run"] == "mine"
    assert "Mind the weather." in [each["text"] for each in told["taken_out"]]


def test_a_cap_ends_it_with_its_own_code(config: Path, capsys: Capture) -> None:
    assert main(["prune", str(config), *MARGIN, "--set", "limits.calls=3"]) == 4
    captured = capsys.readouterr()
    assert "stopped (calls)" in captured.out
    assert "error: " in captured.err


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--skill", "GONE.md"], "There is no skill at GONE.md"),
        (["--set", "prune.group=0"], "prune.group"),
        (["--set", "prune.trials=2"], "cannot show a loss below 0.05"),
    ],
)
def test_what_cannot_be_pruned_is_2(config: Path, capsys: Capture, more: list[str], said: str) -> None:
    assert main(["prune", str(config), *more]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert said in captured.err
