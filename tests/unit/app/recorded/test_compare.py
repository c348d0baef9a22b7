from __future__ import annotations

from pathlib import Path

import pytest

from skillopt.app.recorded.compare import compare
from skillopt.cli.main import main
from skillopt.domain.errors import UsageError
from tests.unit.app.projects import settings, write_project


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    config = str(write_project(tmp_path, settings(train={"epochs": 1, "batch_size": 12})))
    for name, change in {
        "one": "train.seed=42",
        "unchanged": "train.epochs=0",
        "untested": "test=[]",
        "fewer": "environment.limit.test=2",
    }.items():
        assert main(["train", config, "--run", name, "--set", change]) == 0
    return tmp_path / ".skillopt"


def test_runs_are_paired_on_the_same_test_tasks(workspace: Path) -> None:
    first, one, untested, fewer = compare(workspace, ["unchanged", "one", "untested", "fewer"])
    assert first.against is None
    assert one.against is not None
    assert (one.against.n, one.against.worse) == (4, 0)
    assert one.accepts == 1
    assert one.edits
    assert "was not measured on test" in untested.why_not
    assert "test tasks differ" in fewer.why_not


@pytest.mark.parametrize(("names", "said"), [(["one", "one"], "named twice"), (["one", "onne"], "Did you mean")])
def test_unknown_and_repeated_names_are_refused(workspace: Path, names: list[str], said: str) -> None:
    with pytest.raises(UsageError) as raised:
        compare(workspace, names)
    assert said in str(raised.value)
