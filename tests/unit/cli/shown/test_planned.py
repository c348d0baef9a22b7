from __future__ import annotations

import json
from pathlib import Path

import pytest

from skillopt.app.planning.forecast import Forecast
from skillopt.cli.main import main
from skillopt.cli.shown.planned import confirmed, plan_lines
from skillopt.train.forecast.estimate import Bill, Estimate, Range
from tests.unit.app.projects import write_project


def plan(
    usd: Range | None = Range(0.5, 2.0, 9.0), cap: str | None = None, seconds: Range | None = Range(5.0, 100.0, 7300.0)
) -> Forecast:
    bill = Bill(calls=Range(10, 20, 30), input_tokens=Range(1, 2, 3), output_tokens=Range(1, 2, 3), usd=usd)
    found = Estimate(steps=Range(1, 2, 3), verbs={}, roles={"target": bill}, total=bill, seconds=seconds, cap=cap)
    return Forecast(run="r", epochs=1, steps=3, steps_done=1, estimate=found, known=True, files=("journal.db",))


def test_a_plan_in_words() -> None:
    lines = list(plan_lines(plan(cap="calls")))
    assert "run r: 3 steps in 1 epochs, 1 of them done" in lines
    assert any(line.split() == ["target", "calls", "10", "20", "30"] for line in lines)
    assert any(line.split() == ["dollars", "0.50", "2.00", "9.00"] for line in lines)
    assert any("limits.calls will probably end it" in line for line in lines)
    assert any(line.split() == ["time", "5.0", "s", "1", "min", "40", "s", "2", "h", "1", "min"] for line in lines)
    assert any("a price is not known" in line for line in plan_lines(plan(None)))
    assert any("tells how long an answer takes" in line for line in plan_lines(plan(seconds=None)))


@pytest.mark.parametrize(("most", "usd"), [(None, Range(5, 5, 5)), (2.0, Range(0, 2.0, 9)), (0.0, None)])
def test_nothing_is_asked_below_the_limit_or_without_a_price(most: float | None, usd: Range | None) -> None:
    assert confirmed(plan(usd), most)


def test_the_command_says_what_it_would_cost_and_writes_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = write_project(tmp_path)
    assert main(["train", str(config), "--plan"]) == 0
    assert "Nothing was sent." in capsys.readouterr().out
    assert main(["train", str(config), "--plan", "--json"]) == 0
    out = capsys.readouterr().out
    assert out.count("\n") == 1
    assert json.loads(out)["estimate"]["total"]["calls"]["low"] > 0
    assert not (tmp_path / ".skillopt").exists()


def test_fresh_plans_another_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config = str(write_project(tmp_path))
    assert main(["train", config, "--run", "mine", "--json"]) == 0
    capsys.readouterr()
    assert main(["train", config, "--run", "mine", "--fresh", "--plan", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["run"], told["estimate"]["total"]["calls"]["high"]) == ("mine-2", 0)
