from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from skillopt.app.attribution.explain import explain
from skillopt.cli.main import main
from skillopt.domain.errors import UsageError
from skillopt.train.attribution.blame import SEED
from tests.unit.app.projects import SEED_SKILL, write_project


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("project")
    config = write_project(folder)
    assert main(["train", str(config), "--run", "one", "--set", "gate.rule=strict"]) == 0
    assert main(["train", str(config), "--run", "two", "--set", "train.seed=7", "--set", "gate.rule=strict"]) == 0
    return folder / ".skillopt"


def test_the_file_of_a_run_is_found_in_its_own_run(workspace: Path) -> None:
    for name in ("one", "two"):
        told = explain(str(workspace / "runs" / name / "best_skill.md"), None)
        assert (told.run, told.file, told.line) == (name, "SKILL.md", None)
        assert {line.origin for line in told.lines} > {SEED}


def test_a_run_stands_for_its_best_skill(workspace: Path) -> None:
    told = explain("one:2", workspace)
    assert told.lines == explain(f"{workspace}/runs/one/best_skill.md:2", None).lines
    assert explain("one", workspace).lines == explain(f"{workspace}/runs/one/best_skill.md", None).lines


def test_any_skill_of_a_run_is_known_by_its_text_wherever_it_lies(workspace: Path, tmp_path: Path) -> None:
    copy = shutil.copy(workspace / "runs" / "one" / "skills" / "skill_v0000.md", tmp_path / "copy.md")
    told = explain(str(copy), workspace)
    assert {line.origin for line in told.lines} == {SEED}
    for candidate in workspace.glob("runs/one/steps/*/candidate_skill.md"):
        assert [line.text for line in explain(str(candidate), None).lines] == candidate.read_text().splitlines()


def test_a_document_that_no_run_knows_is_refused(workspace: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.md"
    other.write_text(SEED_SKILL + "More.\n")
    with pytest.raises(UsageError, match=r"No run in .* knows the document other\.md as it stands"):
        explain(f"{other}:1", workspace)
    (tmp_path / "binary.md").write_bytes(b"\xff\xfe")
    with pytest.raises(UsageError, match="cannot be read as UTF-8"):
        explain(str(tmp_path / "binary.md"), workspace)


def test_an_unknown_name_lists_the_runs(workspace: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="Unknown file or run 'onne'") as caught:
        explain("onne:3", workspace)
    assert caught.value.hint is not None
    assert "Did you mean 'one'? Valid: one, two." in caught.value.hint
    with pytest.raises(UsageError, match="neither a file 'one' nor a workspace"):
        explain("one", tmp_path)
    with pytest.raises(UsageError, match="Nothing was named"):
        explain("", workspace)
