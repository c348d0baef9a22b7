from __future__ import annotations

from collections.abc import Callable

import pytest

from skillopt.app.project.secrets import scrubbed_skill, scrubbed_tasks, scrubber
from skillopt.domain.chat import Message
from skillopt.domain.skill import Skill
from skillopt.domain.tasks import Check, Task, TaskSet

VALUE = "correct-horse-7-battery"
PROVIDER = "ghp_" + "a1B2c3D4e5F6" * 3


def hide(text: str) -> str:
    """Stand in for a scrubber."""
    return text.replace(VALUE, "[SECRET]")


@pytest.mark.parametrize(
    ("name", "hidden"),
    [("DB_PASSWORD", True), ("MY_API_KEY", True), ("GITHUB_TOKEN", True), ("EDITOR_THEME", False)],
)
def test_values_of_variables_that_say_secret_are_secrets(
    name: str, hidden: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, VALUE)
    assert (VALUE not in scrubber().text(f"it said {VALUE} twice")) is hidden


def test_what_a_reference_stands_for_is_a_secret_whatever_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLAIN", VALUE)
    assert VALUE in scrubber().text(f"it said {VALUE}")
    assert VALUE not in scrubber(["${PLAIN}"]).text(f"it said {VALUE}")


@pytest.mark.parametrize("reference", ["none", "${NOT_SET_ANYWHERE}", "", "plain text"])
def test_a_reference_to_nothing_hides_nothing(reference: str) -> None:
    assert scrubber([reference]).text("none plain text") == "none plain text"


def test_a_skill_is_scrubbed_file_by_file() -> None:
    skill = Skill.from_files({"SKILL.md": f"Use {VALUE}.\n", "a.md": "A\n", "b.md": f"{VALUE}\n"}, name="house")
    clean, warnings = scrubbed_skill(skill, hide)
    assert {file.path: file.text for file in clean.files} == {
        "SKILL.md": "Use [SECRET].\n",
        "a.md": "A\n",
        "b.md": "[SECRET]\n",
    }
    assert clean.name == "house"
    assert [warning.split(" holds")[0] for warning in warnings] == ["The skill's SKILL.md", "The skill's b.md"]
    assert scrubbed_skill(clean, hide) == (clean, ())


def task_with(change: Callable[[str], str]) -> Task:
    said = change(VALUE)
    return Task(
        id=f"id {said}",
        input=(Message("user", said), Message("assistant", said)),
        context=said,
        files=("a.txt",),
        reference=(said, "x"),
        checks=(Check("contains", said), Check("max_chars", 3)),
        rubric=said,
        type=said,
        group=said,
    )


def test_every_text_of_a_task_is_scrubbed_and_the_task_is_named() -> None:
    plain = Task(id="plain", input="1 + 1?", reference="2", checks=(Check("max_chars", 3.0),))
    tasks = TaskSet(train=(plain, task_with(str)), val=(plain,), test=(), warnings=(f"odd: {VALUE}",))
    clean = scrubbed_tasks(tasks, hide)
    assert clean.train == (plain, task_with(hide))
    assert clean.val == (plain,)
    assert clean.warnings[0] == "odd: [SECRET]"
    assert "tasks id [SECRET]. A token" in clean.warnings[1]
    assert scrubbed_tasks(TaskSet(train=(plain,), val=(plain,)), hide).warnings == ()


def test_many_scrubbed_tasks_are_counted() -> None:
    tasks = TaskSet(train=tuple(Task(id=str(number), input=VALUE) for number in range(9)), val=())
    (warning,) = scrubbed_tasks(tasks, hide).warnings
    assert "tasks 0, 1, 2, 3, 4 and 4 more." in warning


def test_an_answer_and_its_reference_go_through_the_same_scrubber() -> None:
    scrub = scrubber().text
    task = Task(id="a", input=f"Which token is in: {PROVIDER}?", reference=PROVIDER)
    (clean,) = scrubbed_tasks(TaskSet(train=(task,)), scrub).train
    assert clean.reference == scrub(f"{PROVIDER}")
    assert str(clean.reference) in str(clean.input)
