from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from skillopt.app.config import Config
from skillopt.app.project.errands import Surroundings, asked_of, surroundings
from skillopt.app.project.prepare import prepare
from skillopt.domain.errors import UsageError
from skillopt.domain.tasks import Task, TaskSet
from skillopt.environments.dataset import Dataset
from skillopt.environments.errands.dataset import AgentDataset
from tests.unit.app.projects import as_dict, settings, write_project

CODEX = {"backend": "codex", "model": "m", "base_url": "http://127.0.0.1:1/v1"}
TASKS = TaskSet(train=(Task(id="t", input="?", reference="!", files=("in.csv",)),), val=(), test=())


def config(kind: str = "agent", target: dict[str, str] = CODEX, **agent: object) -> Config:
    tree = settings(environment={"kind": kind, "path": "tasks"}, agent=agent)
    as_dict(tree["models"])["target"] = target
    return msgspec.convert(tree, Config)


def made(folder: Path, of: Config) -> Surroundings:
    (folder / "tasks").mkdir(exist_ok=True)
    (folder / "tasks" / "in.csv").write_text("1,2")
    return surroundings(of, folder, folder / ".skillopt", Dataset(of.environment, TASKS))


def refusal(folder: Path, of: Config) -> str:
    with pytest.raises(UsageError) as refused:
        made(folder, of)
    return str(refused.value)


def test_where_the_target_is_an_agent_it_is_sent_and_its_files_name_the_run(tmp_path: Path) -> None:
    found = made(tmp_path, config())
    assert isinstance(found.environment, AgentDataset)
    assert found.members.errands is found.environment
    assert set(found.contents) == {"in.csv"}


def test_where_tasks_are_put_nobody_is_sent_even_to_an_agents_program(tmp_path: Path) -> None:
    found = made(tmp_path, config(kind="dataset"))
    assert isinstance(found.environment, Dataset)
    assert found.members.errands is None


def test_a_section_that_nobody_would_read_is_refused(tmp_path: Path) -> None:
    assert "kind is dataset: nobody would read it" in refusal(tmp_path, config(kind="dataset", files="read"))


def test_a_model_that_is_no_agent_is_sent_nowhere(tmp_path: Path) -> None:
    said = refusal(tmp_path, config(target={"backend": "scripted", "scenario": "rules"}))
    assert "models.target is no agent but scripted" in said
    assert "codex" in said


@pytest.mark.parametrize(
    ("place", "said"),
    [
        ("missing", "which is no folder"),
        ("skillopt.yaml", "which is no folder"),
        ("tasks", "where the tasks with their answers are"),
        ("tasks/deep", "where the tasks with their answers are"),
        ("link", "where the tasks with their answers are"),
        (".", "where the tasks with their answers are"),
        ("..", "where the tasks with their answers are"),
        (".skillopt", "where results of runs are"),
        ("work/.skillopt/runs", "where results of runs are"),
    ],
)
def test_no_data_folder_shows_an_agent_answers_or_results(tmp_path: Path, place: str, said: str) -> None:
    root = tmp_path / "project"
    for folder in ("tasks/deep", ".skillopt/runs", "work/.skillopt/runs"):
        (root / folder).mkdir(parents=True)
    (root / "skillopt.yaml").touch()
    (root / "link").symlink_to("tasks")
    assert said in refusal(root, config(data_dirs={"docs": place}))


def test_beside_a_file_of_tasks_a_folder_may_be_shown(tmp_path: Path) -> None:
    (tmp_path / "tasks.jsonl").touch()
    (tmp_path / "in.csv").write_text("1,2")
    (tmp_path / "docs").mkdir()
    tree = msgspec.to_builtins(config(data_dirs={"manual": "docs"}))
    tree["environment"]["path"] = "tasks.jsonl"
    assert set(made(tmp_path, msgspec.convert(tree, Config)).contents) == {"in.csv", "manual"}
    tree["agent"]["data_dirs"] = {"all": "."}
    assert "where the tasks with their answers are" in refusal(tmp_path, msgspec.convert(tree, Config))


def test_a_folder_of_its_own_may_be_shown_and_its_content_names_the_run(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "page").write_text("one")
    with_docs = config(data_dirs={"manual": "docs"})
    before = made(tmp_path, with_docs)
    assert set(before.contents) == {"in.csv", "manual"}
    (tmp_path / "docs" / "page").write_text("two")
    after = made(tmp_path, with_docs)
    assert before.contents["manual"] != after.contents["manual"]
    assert before.environment.version != after.environment.version


def test_what_is_usual_asks_the_person_nothing(tmp_path: Path) -> None:
    assert asked_of(config(), tmp_path) == ()
    assert asked_of(config(kind="dataset"), tmp_path) == ()


def test_a_program_that_the_project_names_is_asked_for_until_a_byte_of_it_changes(tmp_path: Path) -> None:
    program = tmp_path / "mine"
    program.write_text("one")
    (asked,) = asked_of(config(path="mine"), tmp_path)
    assert (asked.key, asked.words) == ("agent.path", f"the program {program}")
    assert asked_of(config(path=str(program)), tmp_path) == (asked,)
    program.write_text("two")
    assert asked_of(config(path="mine"), tmp_path)[0].digest != asked.digest


def test_a_program_that_is_named_for_a_model_is_asked_for_like_an_agents(tmp_path: Path) -> None:
    (asked,) = asked_of(config(kind="dataset", target={**CODEX, "path": "mine"}), tmp_path)
    assert (asked.key, asked.words) == ("models.target.path", f"the program {tmp_path / 'mine'}")
    assert asked.digest == asked_of(config(path="mine"), tmp_path)[0].digest


def test_running_without_a_sandbox_is_asked_for_in_each_project(tmp_path: Path) -> None:
    free = config(sandbox="none", path="mine")
    path, unconfined = asked_of(free, tmp_path)
    assert (path.key, unconfined.key) == ("agent.path", "agent.sandbox: none")
    assert "with all that you may do" in unconfined.words
    assert asked_of(free, tmp_path / "other")[1].digest != unconfined.digest


def test_a_prepared_run_asks_for_what_its_agent_takes_where_there_is_an_agent(tmp_path: Path) -> None:
    tree = settings(environment={"kind": "agent", "path": "tasks"}, agent={"sandbox": "none"})
    as_dict(tree["models"])["target"] = CODEX
    ready = prepare(write_project(tmp_path, tree), environ={"HOME": str(tmp_path / "me")})
    assert [asked.key for asked in ready.asked] == ["agent.sandbox: none"]
    assert prepare(write_project(tmp_path / "other"), environ={}).asked == ()
