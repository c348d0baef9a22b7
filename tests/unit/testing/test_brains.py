from __future__ import annotations

import json

import pytest

from skillopt.domain.errors import UsageError
from skillopt.testing.brains import BRAINS, brain_named, two_sided
from skillopt.testing.conversation import BrainReply, Conversation, Turn
from skillopt.testing.faults import FaultKind

HELLO = (Turn("user", "first"), Turn("assistant", "well"), Turn("user", "hello"))


def test_an_unknown_brain_is_an_error_that_lists_the_known_ones() -> None:
    with pytest.raises(UsageError) as caught:
        brain_named("rulse")
    assert "Did you mean 'rules'?" in str(caught.value)
    assert all(name in str(caught.value) for name in BRAINS)


def test_echo_repeats_what_the_user_said_last() -> None:
    assert brain_named("echo")(Conversation(model="opt", system="s", turns=HELLO)).text == "hello"


def test_always_fails_has_a_fault_in_place_of_a_reply() -> None:
    assert brain_named("always-fails")(Conversation(model="m", system="", turns=HELLO)).fault is FaultKind.UNAVAILABLE


def test_the_stubborn_optimizer_never_gives_json() -> None:
    text = brain_named("stubborn")(Conversation(model="opt", system="Task: reflect", turns=HELLO)).text
    assert text
    assert not set("{}[]") & set(text)


@pytest.mark.parametrize(("model", "said"), [("gpt", "student"), ("gpt-opt", "master"), ("the-judge", "master")])
def test_two_sided_brains_go_by_the_role(model: str, said: str) -> None:
    brain = two_sided(lambda _: BrainReply(text="student"), lambda _: BrainReply(text="master"))
    assert brain(Conversation(model=model, system="", turns=())).text == said


def test_the_mindful_optimizer_reminds_where_reminders_are_asked_for_and_thins_them_out() -> None:
    def said(text: str) -> str:
        return brain_named("mindful")(Conversation(model="opt", system=text, turns=HELLO)).text

    reflecting = "Task: reflect\n\n[violated: title]\n\n<skill>\n\n</skill>"
    assert said(reflecting) == brain_named("rules")(Conversation(model="opt", system=reflecting, turns=HELLO)).text
    asked = [f'{reflecting} "appendix_notes": [] case {number}' for number in range(9)]
    assert any(json.loads(said(text))["appendix_notes"] for text in asked)
    notes = "Task: notes\n\n# The reminders\n\n- One.\n- Two.\n- Three.\n"
    assert json.loads(said(notes)) == {"appendix_notes": ["One.", "Two."]}
