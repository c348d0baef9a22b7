"""What must be right before anything is spent."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from skillopt.app.project.prepare import Prepared, prepare
from skillopt.domain.errors import UsageError
from skillopt.domain.skill import Skill
from tests.unit.app.projects import SEED_SKILL, settings, write_project

PNG = b"\x89PNG\r\n\x1a\n"
SECRET = "ghp_" + "a1B2c3D4e5F6" * 3


def prepared(folder: Path, **sections: object) -> Prepared:
    return prepare(write_project(folder, settings(**sections)), environ={})


def refusal(folder: Path, **sections: object) -> str:
    with pytest.raises(UsageError) as refused:
        prepared(folder, **sections)
    return str(refused.value)


def test_everything_is_read_and_nothing_is_written(tmp_path: Path) -> None:
    ready = prepared(tmp_path)
    assert ready.plan.seed_skill == Skill.from_text(SEED_SKILL)
    assert (len(ready.plan.tasks.train), len(ready.plan.tasks.val), len(ready.plan.tasks.test)) == (12, 6, 4)
    assert ready.environment.tasks == ready.plan.tasks
    assert ready.workspace == tmp_path / ".skillopt"
    assert ready.default_name == ready.digest[:12]
    assert not ready.workspace.exists()


def test_a_run_has_the_same_name_wherever_the_project_is(tmp_path: Path) -> None:
    here, there = prepared(tmp_path / "here"), prepared(tmp_path / "there")
    moved = prepare(write_project(tmp_path / "moved"), environ={}, workspace=tmp_path / "elsewhere")
    assert here.digest == there.digest == moved.digest
    assert moved.workspace == tmp_path / "elsewhere"


def test_one_changed_task_makes_another_run(tmp_path: Path) -> None:
    before = prepared(tmp_path)
    rows = (tmp_path / "tasks" / "test.jsonl").read_text().splitlines()
    changed = {**json.loads(rows[-1]), "reference": "another"}
    (tmp_path / "tasks" / "test.jsonl").write_text("\n".join([*rows[:-1], json.dumps(changed)]) + "\n")
    assert prepare(tmp_path / "skillopt.yaml", environ={}).digest != before.digest


def test_flags_and_variables_count(tmp_path: Path) -> None:
    path = write_project(tmp_path)
    flagged = prepare(path, sets=["train.seed=7"], environ={})
    varied = prepare(path, environ={"SKILLOPT_TRAIN__SEED": "7"})
    assert flagged.digest == varied.digest != prepare(path, environ={}).digest


def test_a_skill_may_be_a_folder_or_nothing_but_not_missing(tmp_path: Path) -> None:
    (tmp_path / "house").mkdir()
    (tmp_path / "house" / "SKILL.md").write_text("# House\n")
    assert prepared(tmp_path, skill="house").plan.seed_skill.name == "house"
    assert prepared(tmp_path, skill=None).plan.seed_skill == Skill.blank()
    assert "There is no skill at GONE.md" in refusal(tmp_path, skill="GONE.md")
    config = settings()
    del config["skill"]
    with pytest.raises(UsageError, match="skill: missing"):
        prepare(write_project(tmp_path, config), environ={})


def test_what_is_wrong_with_tasks_is_said(tmp_path: Path) -> None:
    assert "There are no tasks at" in refusal(tmp_path, environment={"path": "taks"})
    limits = {"path": "tasks", "limit": {"val": 0}}
    assert "environment.limit.val" in refusal(tmp_path, environment=limits)


@pytest.mark.parametrize("key", ["api_key", "headers", "extra_body"])
def test_a_secret_in_a_config_is_refused_and_never_repeated(tmp_path: Path, key: str) -> None:
    value = SECRET if key == "api_key" else {"x-anything": SECRET}
    model = {"backend": "openai", "base_url": "http://127.0.0.1:1/v1", "model": "m"}
    said = refusal(tmp_path, models={"target": {**model, key: value}, "optimizer": model})
    assert "a secret is written out here" in said
    assert SECRET not in said


def test_a_prompt_with_a_secret_is_refused(tmp_path: Path) -> None:
    said = refusal(tmp_path, environment={"path": "tasks", "prompt": {"user": f"{{input}} {SECRET}"}})
    assert "environment.prompt.user: a secret is written out here" in said


def test_a_secret_in_the_skill_or_a_task_goes_no_further(tmp_path: Path) -> None:
    path = write_project(tmp_path)
    (tmp_path / "SKILL.md").write_text(f"{SEED_SKILL}\nThe token is {SECRET}.\n")
    with (tmp_path / "tasks" / "train.jsonl").open("a") as rows:
        rows.write(json.dumps({"id": "leaky", "input": f"Who owns {SECRET}?", "reference": SECRET}) + "\n")
    ready = prepare(path, environ={})
    assert SECRET not in f"{ready}{ready.plan.seed_skill.text}"
    task = ready.plan.tasks.train[-1]
    assert str(task.reference).startswith("[SECRET:")
    assert str(task.reference) in str(task.input)
    warnings = "\n".join(ready.plan.tasks.warnings)
    assert "SKILL.md holds what looks like a secret" in warnings
    assert "in tasks leaky." in warnings


@pytest.mark.parametrize("skill", [".", "./", "tasks/.."])
def test_a_skill_folder_with_the_tasks_in_it_is_refused(tmp_path: Path, skill: str) -> None:
    assert "lie inside the skill's folder" in refusal(tmp_path, skill=skill)


def test_a_rubric_is_for_the_judge_and_no_longer_refused(tmp_path: Path) -> None:
    config = write_project(tmp_path)
    with (tmp_path / "tasks" / "test.jsonl").open("a") as file:
        file.write(json.dumps({"id": "kind", "input": "What?", "rubric": "Is it kind?"}) + "\n")
    assert prepare(config, environ={}).plan.tasks.judged == 1


def with_task(folder: Path, config: dict[str, object] | None = None, **fields: object) -> Path:
    path = write_project(folder, config)
    with (folder / "tasks" / "test.jsonl").open("a") as file:
        file.write(json.dumps({"id": "odd", "input": "What?", "reference": "a", **fields}) + "\n")
    return path


def test_files_are_for_agents_and_a_chat_model_is_not_given_tasks_that_need_them(tmp_path: Path) -> None:
    config = with_task(tmp_path, files=["note.txt"])
    (tmp_path / "tasks" / "note.txt").write_text("x")
    with pytest.raises(UsageError, match=r"Task 'odd' \(test\) has files, which are for agents") as refused:
        prepare(config, environ={})
    assert "the task's context" in str(refused.value.hint)


def test_images_are_put_and_name_the_run_by_their_content(tmp_path: Path) -> None:
    config = with_task(tmp_path, images=["a.png"])
    before = prepared(tmp_path / "without").digest
    digests = []
    for more in (b"", b"!", b""):
        (tmp_path / "tasks" / "a.png").write_bytes(PNG + more)
        ready = prepare(config, environ={})
        digests.append(ready.digest)
        (*_, last) = ready.environment.messages(ready.plan.tasks.test[-1], "# Skill")
        assert [image.data for image in last.images] == [PNG + more]
    assert digests[0] == digests[2] != digests[1]
    assert before not in digests


def test_a_missing_image_is_said_before_anything_is_asked(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"test\.jsonl line 5: file 'gone\.png' does not exist"):
        prepare(with_task(tmp_path, images=["gone.png"]), environ={})


@pytest.mark.parametrize(
    ("target", "named"),
    [
        ({"backend": "completions", "base_url": "http://127.0.0.1:1/v1", "model": "base-1"}, "base-1"),
        ({"backend": "openai", "preset": "deepseek", "model": "deepseek-chat"}, "deepseek-chat"),
    ],
)
def test_a_target_that_is_shown_no_images_is_refused_tasks_with_them(
    tmp_path: Path, target: dict[str, object], named: str
) -> None:
    models = {"target": target, "optimizer": {"backend": "scripted", "scenario": "rules"}}
    config = with_task(tmp_path, settings(models=models), images=["a.png"])
    (tmp_path / "tasks" / "a.png").write_bytes(PNG)
    with pytest.raises(UsageError, match=f"The tasks have images, and models.target \\(\\w+:{named}\\) takes none"):
        prepare(config, environ={})


def test_a_budget_for_a_file_that_the_skill_has_not_is_refused_with_the_files_it_has(tmp_path: Path) -> None:
    said = refusal(tmp_path, optimizer={"file_budgets": {"references/term.md": 1}})
    assert "references/term.md" in said
    assert "SKILL.md" in said
    assert prepared(tmp_path / "right", optimizer={"file_budgets": {"SKILL.md": 1}}).config.optimizer.file_budgets


def test_prompts_of_ones_own_name_a_run_by_their_text_and_not_by_their_place(tmp_path: Path) -> None:
    def with_prompt(name: str, text: str) -> Prepared:
        folder = tmp_path / f"{name}-{len(text)}"
        path = write_project(folder, settings(prompts=name))
        (folder / name).mkdir()
        (folder / name / "rank.md").write_text(text)
        return prepare(path, environ={})

    here, there = with_prompt("mine", "Task: rank\nOne."), with_prompt("yours", "Task: rank\nOne.")
    assert here.digest == there.digest
    assert here.prompts.text("rank") == "Task: rank\nOne."
    assert here.digest != with_prompt("mine", "Task: rank\nOther.").digest
    assert here.digest != prepared(tmp_path / "plain").digest
    assert "expected" not in refusal(tmp_path / "none", prompts="nowhere")


def test_the_program_that_grades_counts_by_its_contents(tmp_path: Path) -> None:
    command = {"run": ["sh", "grade.sh"], "files": ["grade.sh"], "verdict": "exit"}
    path = write_project(tmp_path, settings(environment={"path": "tasks", "grader": "command", "command": command}))
    (tmp_path / "grade.sh").write_text("true")
    before = prepare(path, environ={})
    (tmp_path / "grade.sh").write_text("false")
    after = prepare(path, environ={})
    assert before.program is not None
    assert after.program is not None
    assert before.program.digest != after.program.digest
    assert before.default_name != after.default_name
    assert prepare(path, environ={}).default_name == after.default_name


@pytest.mark.parametrize(
    "environment",
    [{"path": "tasks", "grader": "command"}, {"path": "tasks", "command": {"run": ["sh"]}}],
)
def test_the_grader_command_and_its_section_go_together(tmp_path: Path, environment: dict[str, object]) -> None:
    with pytest.raises(UsageError, match="go together"):
        prepare(write_project(tmp_path, settings(environment=environment)), environ={})
