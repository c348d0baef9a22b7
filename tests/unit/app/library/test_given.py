from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from skillopt.app.library.given import Given, prepared_from
from skillopt.app.project.prepare import Prepared
from skillopt.domain.errors import UsageError
from skillopt.domain.skill import Skill
from skillopt.domain.tasks import Task
from skillopt.testing.scripted import ScriptedChat
from tests.unit.app.library.sums import SEED, ask, attempt, sums
from tests.unit.app.projects import write_project

SECRET = "ghp_" + "a1B2c3D4e5F6" * 3


def prepared(trains: bool = True, **more: object) -> Prepared:
    given: dict[str, Any] = {
        "skill": SEED,
        "tasks": sums(),
        "attempt": attempt,
        "grade": None,
        "optimizer": ask,
        "settings": {"environment": {"split": {"ratio": [1, 1, 1]}}},
        "keeping": {},
    }
    return prepared_from(Given(**{**given, **more}), trains=trains)


def test_a_skill_comes_in_four_forms(tmp_path: Path) -> None:
    (tmp_path / "my.md").write_text(SEED, encoding="utf-8")
    forms = [SEED, Skill.from_text(SEED), tmp_path / "my.md"]
    assert [prepared(skill=form).plan.seed_skill.text for form in forms] == [SEED] * 3
    assert prepared(skill=None).plan.seed_skill == Skill.blank()


def test_tasks_come_as_rows_as_splits_and_from_files(tmp_path: Path) -> None:
    write_project(tmp_path)
    rows = [{"id": task.id, "input": task.input, "reference": task.reference} for task in sums()]
    assert prepared(tasks=rows).plan.tasks == prepared().plan.tasks
    by_split = prepared(tasks={"train": sums()[:9], "valid_seen": sums()[9:]}).plan.tasks
    assert (len(by_split.train), len(by_split.val), by_split.test) == (9, 21, ())
    from_files = prepared(tasks=tmp_path / "tasks", settings={}).plan.tasks
    assert (len(from_files.train), len(from_files.val), len(from_files.test)) == (12, 6, 4)


@pytest.mark.parametrize("form", ["rows", "splits", "files"])
def test_an_evaluation_takes_all_tasks_as_one_split(tmp_path: Path, form: str) -> None:
    write_project(tmp_path)
    tasks: object = {"rows": sums(22), "splits": {"train": sums()[:20], "val": sums()[20:22]}}.get(form)
    found = prepared(trains=False, tasks=tmp_path / "tasks" if tasks is None else tasks, settings={}).plan.tasks
    assert (found.train, found.val, len(found.test)) == ((), (), 22)


def test_the_run_is_named_by_all_that_decides_it() -> None:
    def other(skill: str, task: Task) -> str:
        return attempt(skill, task)

    def grade(task: Task, answer: str) -> bool:
        return answer == task.reference

    runs = [
        prepared(),
        prepared(attempt=other),
        prepared(grade=grade),
        prepared(skill="# More\n"),
        prepared(keeping={"version": "2"}),
        prepared(settings={"environment": {"split": {"ratio": [1, 2, 3]}}}),
    ]
    assert len({run.digest for run in runs}) == len(runs)
    assert prepared().digest == prepared().digest
    graded = {prepared(grade=grade, keeping={"version": version}).digest for version in "12"}
    assert len(graded) == 2


def test_in_memory_unless_a_workspace_is_named(tmp_path: Path) -> None:
    assert prepared().in_memory
    kept = prepared(keeping={"workspace": tmp_path / "kept", "version": "1"})
    assert (kept.in_memory, kept.workspace) == (False, tmp_path / "kept")


def test_secrets_are_taken_out_of_skill_and_tasks() -> None:
    tasks = [*sums(), Task(id="leak", input=SECRET, reference="1")]
    found = prepared(skill=f"Use {SECRET}.\n", tasks=tasks)
    assert SECRET not in found.plan.seed_skill.text
    assert len(found.plan.tasks.warnings) == 2


def test_a_secret_in_settings_is_refused() -> None:
    model = {"backend": "openai", "base_url": "http://127.0.0.1:1/v1", "model": "m", "api_key": SECRET}
    with pytest.raises(UsageError) as raised:
        prepared(attempt=model)
    assert SECRET not in str(raised.value)


def test_images_of_rows_are_found_from_here_and_shown_to_models_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    rows = [Task(id=str(number), input=f"What is {number}?", images=("a.png",), reference="x") for number in range(3)]
    shown = prepared(tasks=rows, attempt=ScriptedChat("echo"))
    (*_, last) = shown.environment.messages(shown.plan.val[0], "# Skill")
    assert [image.media_type for image in last.images] == ["image/png"]
    called = prepared(tasks=rows)
    assert not any(message.images for message in called.environment.messages(called.plan.val[0], "# Skill"))
    (tmp_path / "a.png").unlink()
    prepared(tasks=rows)
    with pytest.raises(UsageError, match=r"Task '\d': file 'a\.png' does not exist"):
        prepared(tasks=rows, attempt=ScriptedChat("echo"))


def test_files_are_for_functions_and_agents_and_not_for_models() -> None:
    rows = [Task(id=str(number), input=f"{number}?", files=("a.txt",), reference="x") for number in range(3)]
    assert prepared(tasks=rows).plan.tasks.val
    with pytest.raises(UsageError, match="has files, which are for agents"):
        prepared(tasks=rows, attempt=ScriptedChat("echo"))
