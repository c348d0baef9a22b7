from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from skillopt.app.project.prepare import Prepared, prepare
from skillopt.app.session import Ended, train_session
from skillopt.app.stop_file import NAME
from skillopt.app.workspace import opened_journal
from skillopt.cli.main import main
from skillopt.kernel.clock import SystemClock
from skillopt.kernel.events import Event, Signal, StepBegan
from skillopt.kernel.ports import Observer
from tests.unit.app.projects import lasting_bytes, settings, write_project


class Toucher:
    """Puts the stop file in its place during a step."""

    def __init__(self, folder: Path, step: int) -> None:
        self._file = folder / NAME
        self._step = step

    def see(self, fact: Event | Signal) -> None:
        if isinstance(fact, StepBegan) and fact.step == self._step:
            self._file.parent.mkdir(parents=True, exist_ok=True)
            self._file.touch()


def ready(folder: Path) -> Prepared:
    return prepare(write_project(folder, settings(train={"epochs": 2, "batch_size": 4})), environ={})


def run_folder(prepared: Prepared) -> Path:
    return prepared.workspace / "runs" / "run"


def trained(prepared: Prepared, *observers: Observer) -> Ended:
    async def session() -> Ended:
        clock = SystemClock()
        async with opened_journal(prepared.workspace, clock) as journal:
            return await train_session(
                prepared, journal, clock, name="run", observers=observers, started=lambda _interrupt: None
            )

    return asyncio.run(session())


@pytest.mark.parametrize("step", [1, 2, 3])
def test_a_run_ends_well_after_the_step_at_hand(tmp_path: Path, step: int) -> None:
    prepared = ready(tmp_path)
    ended = trained(prepared, Toucher(run_folder(prepared), step))
    assert ended.error is None
    assert (ended.summary.status, ended.summary.stop_reason, ended.summary.steps) == ("finished", "stop", step)
    assert ended.summary.scores.best.test is None


def test_beside_its_stop_file_a_run_ends_where_it_ended_and_asks_nothing(tmp_path: Path) -> None:
    prepared = ready(tmp_path)
    first = trained(prepared, Toucher(run_folder(prepared), 2))
    again = trained(prepared)
    assert again.error is None
    assert again.summary.steps == first.summary.steps
    assert again.summary.usage.overhead.attempts == first.summary.usage.overhead.attempts
    assert again.summary.usage.total == first.summary.usage.total


def test_without_the_file_it_goes_on_as_if_nothing_had_been(tmp_path: Path) -> None:
    whole, parted = ready(tmp_path / "whole"), ready(tmp_path / "parted")
    trained(whole)
    trained(parted, Toucher(run_folder(parted), 1))
    (run_folder(parted) / NAME).unlink()
    trained(parted)
    assert lasting_bytes(run_folder(parted)) == lasting_bytes(run_folder(whole))


def test_a_finished_run_stays_finished_beside_a_stop_file(tmp_path: Path) -> None:
    prepared = ready(tmp_path)
    first = trained(prepared)
    (run_folder(prepared) / NAME).touch()
    assert trained(prepared).summary.stop_reason == first.summary.stop_reason != "stop"


def test_the_command_ends_with_0_and_says_how_to_go_on(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config = write_project(tmp_path)
    assert main(["train", str(config), "--run", "mine", "--set", "limits.calls=2"]) == 4
    (tmp_path / ".skillopt" / "runs" / "mine" / NAME).touch()
    capsys.readouterr()
    assert main(["train", str(config), "--run", "mine"]) == 0
    assert "To go on, remove .skillopt/runs/mine/stop" in capsys.readouterr().out
    assert main(["train", str(config), "--run", "mine", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["status"], told["stop_reason"]) == ("finished", "stop")
    assert main(["runs", "show", "mine", "--workspace", str(tmp_path / ".skillopt"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["stop_reason"] == "stop"
