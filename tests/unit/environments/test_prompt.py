from __future__ import annotations

import pytest

from skillopt.domain.chat import Message
from skillopt.domain.errors import UsageError
from skillopt.domain.tasks import Check, Task
from skillopt.environments.prompt import PromptSettings

TASK = Task(id="id-7", input="the input", context="the context", reference="gold", checks=(Check("contains", "gold"),))


def said(settings: PromptSettings, task: Task, skill: str = "the skill") -> list[tuple[str, str]]:
    return [(message.role, message.content) for message in settings.messages(task, skill)]


def test_the_default_prompt() -> None:
    assert said(PromptSettings(), TASK) == [("system", "the skill"), ("user", "the context\n\nthe input")]


@pytest.mark.parametrize("context", [None, ""])
def test_without_a_context_the_input_stands_alone(context: str | None) -> None:
    assert said(PromptSettings(), Task(id="a", input=" q ", context=context))[1] == ("user", " q ")


@pytest.mark.parametrize("skill", ["", " \n"])
def test_a_blank_skill_sends_no_system_message(skill: str) -> None:
    assert said(PromptSettings(), TASK, skill) == [("user", "the context\n\nthe input")]


def test_templates() -> None:
    settings = PromptSettings(system="Rules:\n{skill}", user='{input} ({context}) {"a": 1} {}')
    assert said(settings, TASK) == [
        ("system", "Rules:\nthe skill"),
        ("user", 'the input (the context) {"a": 1} {}'),
    ]


def test_one_template_leaves_the_other_default() -> None:
    assert said(PromptSettings(user="Q: {input}"), TASK) == [("system", "the skill"), ("user", "Q: the input")]
    assert said(PromptSettings(system="<{skill}>"), TASK)[1] == ("user", "the context\n\nthe input")


def test_what_was_filled_in_is_never_expanded_again() -> None:
    task = Task(id="a", input="{skill} {context}", context="{input}")
    settings = PromptSettings(system="{skill}", user="{context}|{input}")
    assert said(settings, task, "{input}") == [("system", "{input}"), ("user", "{input}|{skill} {context}")]


@pytest.mark.parametrize(
    ("system", "user", "says"),
    [
        ("{skil}", None, "Did you mean 'skill'"),
        (None, "{input} {reference}", "Unknown placeholder 'reference'"),
        ("no skill", None, "never show the skill"),
        (None, "no input", "never show the task"),
    ],
)
def test_a_template_that_cannot_work_is_refused(system: str | None, user: str | None, says: str) -> None:
    with pytest.raises(UsageError, match=says):
        PromptSettings(system=system, user=user)


def test_the_skill_may_stand_in_the_user_template() -> None:
    assert said(PromptSettings(system="Be brief. {context}", user="{skill}\n{input}"), TASK) == [
        ("system", "Be brief. the context"),
        ("user", "the skill\nthe input"),
    ]


CHAT = (Message("user", "hi"), Message("assistant", "hello"), Message("user", "bye"))


def test_a_conversation_passes_through() -> None:
    task = Task(id="a", input=CHAT)
    assert PromptSettings().messages(task, "s") == (Message("system", "s"), *CHAT)


def test_a_conversation_has_one_system_message_and_its_context_in_the_first_user_message() -> None:
    task = Task(id="a", input=(Message("system", "own"), *CHAT), context="c")
    assert said(PromptSettings(), task, "s") == [
        ("system", "s\n\nown"),
        ("user", "c\n\nhi"),
        ("assistant", "hello"),
        ("user", "bye"),
    ]
    assert said(PromptSettings(), task, "")[0] == ("system", "own")


@pytest.mark.parametrize(
    ("system", "user", "takes"),
    [(None, None, True), ("{skill}", None, True), (None, "{input}", False), ("{skill} {input}", None, False)],
)
def test_which_prompts_take_a_conversation(system: str | None, user: str | None, takes: bool) -> None:
    assert PromptSettings(system=system, user=user).takes_chat is takes


@pytest.mark.parametrize("settings", [PromptSettings(), PromptSettings(system="{skill}", user="{context} {input}")])
def test_nothing_of_the_grading_reaches_the_target(settings: PromptSettings) -> None:
    sent = " ".join(content for _, content in said(settings, TASK))
    assert "gold" not in sent
    assert "id-7" not in sent
