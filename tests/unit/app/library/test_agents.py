"""Agents that are sent from Python: the settings of a config, with tasks and a skill of the caller's."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from skillopt.app.library.calls import evaluate, optimize
from skillopt.domain.errors import UsageError
from skillopt.domain.tasks import Task
from tests.unit.app.library.sums import LESSON, SEED, ask, attempt, sums
from tests.unit.app.programs_at_work import codex_on_path

ADDS = f"""import re
    left, right = re.search(r"(\\d+)\\+(\\d+)", task).groups()
    return str(int(left) + int(right)) if {LESSON!r} in skill else "I do not know." """
SENT: dict[str, Any] = {
    "environment": {"kind": "agent", "split": {"ratio": [1, 1, 1]}},
    "agent": {"sandbox": "none"},
    "train": {"epochs": 1},
}


@pytest.fixture
def codex(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    monkeypatch.chdir(tmp_path)
    return codex_on_path(tmp_path, monkeypatch, ADDS)


def arguments(target: object, **more: object) -> dict[str, Any]:
    return {"skill": SEED, "tasks": sums(12), "attempt": target, "optimizer": ask, "settings": SENT, **more}


def test_an_agent_is_sent_and_its_skill_is_improved(codex: dict[str, Any]) -> None:
    result = optimize(**arguments(codex))
    assert LESSON in result.skill.text
    before, after = result.summary.scores.baseline.test, result.summary.scores.best.test
    assert before is not None
    assert after is not None
    assert (before.hard, after.hard, after.n) == (0.0, 1.0, 4)


def test_a_skill_is_measured_with_files_and_data_of_the_folder_here(tmp_path: Path, codex: dict[str, Any]) -> None:
    (tmp_path / "note.txt").write_text("A note.")
    (tmp_path / "handbook").mkdir()
    (tmp_path / "handbook" / "rules.md").write_text("Rules.")
    settings = SENT | {"agent": {"sandbox": "none", "data_dirs": {"docs": "handbook"}}}
    tasks = [Task(id="one", input="1+2", reference="3", files=("note.txt",))]
    found = evaluate(skill=f"# Sums\n\n{LESSON}\n", tasks=tasks, attempt=codex, settings=settings)
    assert (found.score.hard, found.score.n) == (1.0, 1)


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"attempt": attempt}, "models.target is no agent but function"),
        ({"grade": lambda task, answer: True}, "what an agent left is graded as the tasks say"),
        ({"settings": {"agent": {"skill": "told"}}}, "environment.kind is dataset: nobody would read it"),
        ({"settings": SENT | {"agent": {"data_dirs": {"all": "."}}}}, "where results of runs are"),
    ],
)
def test_what_would_not_count_is_refused(codex: dict[str, Any], more: dict[str, object], said: str) -> None:
    with pytest.raises(UsageError) as refused:
        optimize(**arguments(codex, **more))
    assert said in str(refused.value)


def test_tasks_of_a_file_are_not_shown_as_data(tmp_path: Path, codex: dict[str, Any]) -> None:
    place = tmp_path / "tasks"
    place.mkdir()
    for number, split in enumerate(("train", "val", "test")):
        (place / f"{split}.jsonl").write_text(
            f'{{"id": "{split}", "input": "{number}+1", "reference": "{number + 1}"}}\n'
        )
    settings = {"environment": {"kind": "agent"}, "agent": {"data_dirs": {"all": "tasks"}}}
    with pytest.raises(UsageError, match="where the tasks with their answers are"):
        optimize(**arguments(codex, tasks=place, settings=settings))
