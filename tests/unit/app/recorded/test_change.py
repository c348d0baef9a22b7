from __future__ import annotations

from pathlib import Path

import pytest

from skillopt.app.recorded.change import change_of
from skillopt.app.runs import summary_of
from skillopt.cli.main import main
from skillopt.domain.errors import UsageError
from tests.unit.app.projects import settings, write_project


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    config = str(write_project(tmp_path, settings(train={"epochs": 2, "batch_size": 4})))
    assert main(["train", config, "--run", "one"]) == 0
    assert main(["eval", config]) == 0
    return tmp_path / ".skillopt"


def test_a_run_is_seed_against_best(workspace: Path) -> None:
    change = change_of(workspace, "one", None)
    best = (workspace.parent / summary_of(workspace, "one").best_skill).read_text(encoding="utf-8")
    added = [line[1:] for line in change.diff if line.startswith("+") and not line.startswith("+++")]
    assert added
    assert set(added) <= set(best.splitlines())
    assert (change.step, change.action, change.warnings) == (None, "", ())


def test_a_step_is_what_it_proposed_with_its_verdict(workspace: Path) -> None:
    change = change_of(workspace, "one", 1)
    assert (change.step, change.action) == (1, "accept_new_best")
    assert "shown to be better" in change.reason
    assert change.diff


@pytest.mark.parametrize(("name", "step", "said"), [("one", 99, "Valid: 1, "), ("onne", None, "Did you mean 'one'")])
def test_what_is_not_there_is_refused(workspace: Path, name: str, step: int | None, said: str) -> None:
    with pytest.raises(UsageError) as raised:
        change_of(workspace, name, step)
    assert said in str(raised.value)


def test_a_run_that_trained_nothing_has_no_change(workspace: Path) -> None:
    from skillopt.app.runs import list_rows

    (exam,) = (row.name for row in list_rows(workspace) if row.name.startswith("eval-"))
    with pytest.raises(UsageError, match="trained nothing"):
        change_of(workspace, exam, None)
