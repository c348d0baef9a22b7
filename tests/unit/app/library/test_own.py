from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest

from skillopt.app.library.calls import evaluate, optimize
from skillopt.app.library.given import Given, prepared_from
from skillopt.app.library.own import named_in, own_environment, own_tasks
from skillopt.app.project.prepare import Prepared
from skillopt.domain.errors import UsageError
from skillopt.domain.tasks import Task
from skillopt.kernel.plugins.members import members_of
from skillopt.phases.prompting import shipped_prompt
from skillopt.testing.environments.office import Office
from skillopt.testing.scripted import ScriptedChat
from skillopt.train.settings import TrainSettings

SEED = "# House style\n\nAnswer in the answer tag.\n"
SMALL = TrainSettings(batch_size=5, accumulation=2, seed=3)
SETTINGS: dict[str, Any] = {
    "train": {"epochs": 2, "batch_size": 6},
    "gate": {"rule": "strict"},
    "reflect": {"minibatch_size": 3},
}


def prepared(trains: bool = True, **more: object) -> Prepared:
    given: dict[str, Any] = {
        "skill": SEED,
        "tasks": Office(3),
        "attempt": ScriptedChat("rules", model="target"),
        "grade": None,
        "optimizer": ScriptedChat("rules", model="opt"),
        "settings": SETTINGS,
        "keeping": {},
    }
    return prepared_from(Given(**{**given, **more}), trains=trains)


@pytest.mark.parametrize("tasks", [[], {}, (), Path("tasks")])
def test_tasks_are_no_environment(tasks: object) -> None:
    assert own_environment(tasks) is None


def test_what_is_neither_is_told_what_it_lacks() -> None:
    with pytest.raises(UsageError, match="The tasks are a int without version, tasks, messages, grade"):
        own_environment(7)


def test_whole_microbatches_are_drawn_from_the_base_seeds() -> None:
    office = Office(1, train_size=11)
    tasks = own_tasks(office, office, SMALL, trains=True)
    assert tasks.train == tuple(task for seed in (4, 5, 6, 7) for task in office.draw(seed, 5))
    assert (tasks.val, tasks.test) == (office.tasks.val, office.tasks.test)


def test_an_evaluation_takes_what_was_not_drawn() -> None:
    office = Office(1)
    tasks = own_tasks(office, office, SMALL, trains=False)
    assert tasks.test == (*office.tasks.val, *office.tasks.test)
    assert (tasks.train, tasks.val) == ((), ())


class Stingy(Office):
    """Draws one task less than it was asked for."""

    def draw(self, seed: int, count: int) -> tuple[Task, ...]:
        return super().draw(seed, count)[1:]


class Forgetful(Office):
    """Draws the same tasks whatever the seed."""

    def draw(self, seed: int, count: int) -> tuple[Task, ...]:
        return super().draw(0 * seed, count)


class Careless(Office):
    """Breaks."""

    def draw(self, seed: int, count: int) -> tuple[Task, ...]:
        raise ZeroDivisionError(f"{seed} of {count}")


@pytest.mark.parametrize(
    ("kind", "says"),
    [
        (Stingy, "Drawing from the seed 4 gave 4 things"),
        (Forgetful, "stands twice in the train split"),
        (Careless, "Drawing tasks from the seed 4 broke with ZeroDivisionError"),
    ],
)
def test_a_draw_that_cannot_be_used_is_said_before_anything_is_asked(kind: type[Office], says: str) -> None:
    office = kind(1)
    with pytest.raises(UsageError, match=says):
        own_tasks(office, office, SMALL, trains=True)


def test_the_plan_names_the_environment_and_its_version() -> None:
    named = msgspec.json.decode(named_in(b'{"environment": {"path": {"val": "1"}, "grader": "exact"}}', Office(1)))
    name = "skillopt.testing.environments.office.Office office-1"
    assert named == {"environment": {"own": name, "path": {"val": "1"}, "feedback_turns": 2}}


def test_another_environment_is_another_run() -> None:
    class Newer(Office):
        version = "office-2"

    assert prepared().digest == prepared().digest
    others = [prepared(tasks=other).digest for other in (Newer(3), Office(4), Office(3, feedback_turns=1))]
    assert len({prepared().digest, *others}) == 4


def test_everything_it_brings_is_wired() -> None:
    office = Office(3)
    ready = prepared(tasks=office)
    assert ready.environment is office
    assert ready.members == members_of(office)
    assert ready.plan.drawn
    assert "You lead an office" in ready.prompts.text("reflect_failures", {"edit_budget": "1", "rules": "", "form": ""})
    assert not prepared(trains=False, tasks=office).plan.drawn


def test_prompts_of_the_config_win_over_those_of_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "reflect_failures.md").write_text("Task: reflect\n\nMine.\n", encoding="utf-8")
    texts = prepared(settings={**SETTINGS, "prompts": "mine"}).prompts
    assert texts.text("reflect_failures") == "Task: reflect\n\nMine."
    assert texts.text("rank", {"edit_budget": "1"}) != shipped_prompt("rank")
    assert prepared(settings={**SETTINGS, "prompts": "mine"}).digest != prepared().digest


@pytest.mark.parametrize(
    ("more", "named"),
    [
        ({"grade": lambda _task, _reply: True}, "grade is given beside an environment"),
        ({"settings": {"environment": {"grader": "f1"}}}, "settings.environment is given beside an environment"),
    ],
)
def test_what_an_environment_does_itself_cannot_be_given_too(more: dict[str, Any], named: str) -> None:
    with pytest.raises(UsageError, match=named):
        prepared(**more)


def test_an_environment_is_trained_on_and_measured_through_the_library() -> None:
    chats: dict[str, Any] = {"attempt": ScriptedChat("rules", model="target")}
    result = optimize(
        skill=SEED, tasks=Office(3), optimizer=ScriptedChat("rules", model="opt"), settings=SETTINGS, **chats
    )
    assert result.summary.status == "finished"
    assert [step.action for step in result.steps].count("accept_new_best") > 0
    found = evaluate(skill=result.skill, tasks=Office(3), **chats)
    assert (found.score.n, found.failed) == (16, 0)


def test_a_function_that_attempts_is_given_the_messages_of_the_environment() -> None:
    heard: list[Sequence[dict[str, str]]] = []

    def attempt(messages: list[dict[str, str]]) -> str:
        heard.append(messages)
        return "<answer>?</answer>"

    evaluate(skill=SEED, tasks=Office(3), attempt=attempt)
    assert len(heard) == 16
    assert heard[0][0] == {"role": "system", "content": f"The house style:\n\n{SEED.rstrip()}"}
