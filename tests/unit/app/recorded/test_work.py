from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from skillopt.app.recorded.work import work_of
from skillopt.cli.main import main
from skillopt.domain.errors import UsageError
from tests.unit.app.programs_at_work import codex_on_path
from tests.unit.app.projects import settings, write_project

ANSWER = 'return None if "crash" in task else f"I did it: {len(task)}"'


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    target = codex_on_path(tmp_path, monkeypatch, ANSWER)
    config = settings(
        environment={"kind": "agent", "path": "tasks"},
        agent={"sandbox": "none"},
        models={"target": target, "optimizer": {"backend": "scripted", "scenario": "rules"}},
        train={"epochs": 1, "batch_size": 4},
        retry={"attempts": 1},
    )
    path = write_project(tmp_path, config, sizes=(4, 2, 2))
    with (tmp_path / "tasks" / "train.jsonl").open("a") as tasks:
        tasks.write('{"id": "doomed", "input": "crash", "reference": "x"}\n')
    assert main(["train", str(path), "--run", "one", "--trust"]) == 0
    return tmp_path / ".skillopt"


def test_each_task_that_an_agent_was_sent_with_is_there_with_what_its_program_wrote(workspace: Path) -> None:
    works = work_of(workspace, "one")
    done = [each for each in works if each.failure is None]
    assert {each.phase.rpartition("/")[2] for each in works} >= {"rollout", "val", "test"}
    assert len({each.task_id for each in works}) == 5 + 2 + 2
    for each in done:
        assert each.answer.startswith("I did it: ")
        assert each.raw.startswith('{"type": "thread.started"')
        assert each.raw.rstrip().endswith("}}")
        assert (each.program, each.exit_code, each.attempts) == ("codex 0.169.0", 0, 1)
        assert each.files == (f"answer.txt ({len(each.answer)} bytes)",)
        assert each.usage is not None
        assert (each.usage.input_tokens, each.usage.output_tokens) == (100, 7)
        assert "task read: yes" in each.summary
        assert each.steps.startswith("1. ran ")


def test_a_task_without_an_answer_has_the_cause_and_nothing_else(workspace: Path) -> None:
    failed = [each for each in work_of(workspace, "one", task="doomed")]
    assert failed
    for each in failed:
        assert each.failure is not None
        assert (each.failure.kind, each.answer, each.raw) == ("CrashedError", "", "")


def test_a_step_and_a_task_may_be_asked_for(workspace: Path) -> None:
    everything = work_of(workspace, "one")
    step = work_of(workspace, "one", step=1)
    assert 0 < len(step) < len(everything)
    assert {each.step for each in step} == {1}
    one = step[0].task_id
    assert work_of(workspace, "one", step=1, task=one) == tuple(each for each in step if each.task_id == one)


@pytest.mark.parametrize(
    ("name", "asked", "said"),
    [
        ("onne", {}, "Did you mean 'one'"),
        ("one", {"step": 9}, "Unknown step '9'"),
        ("one", {"task": "domed"}, "Did you mean 'doomed'"),
    ],
)
def test_what_is_not_there_is_refused_with_what_is(
    workspace: Path, name: str, asked: dict[str, Any], said: str
) -> None:
    with pytest.raises(UsageError) as refused:
        work_of(workspace, name, **asked)
    assert said in str(refused.value)


def test_a_run_of_models_that_are_asked_has_no_work(tmp_path: Path) -> None:
    config = write_project(tmp_path)
    assert main(["train", str(config), "--run", "plain", "--set", "train.epochs=0"]) == 0
    with pytest.raises(UsageError, match="No agent has finished a phase of run 'plain'"):
        work_of(tmp_path / ".skillopt", "plain")
