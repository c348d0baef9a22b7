from __future__ import annotations

import msgspec
import pytest

from skillopt.agents.settings import AgentSettings
from skillopt.agents.wording import SCHEMA, heard_answer, prompt
from skillopt.domain.agency.errands import Attachment, Errand
from skillopt.domain.skill import Skill

ERRAND = Errand(instruction="Add up.", skill=Skill.from_text("Carry the one."))
IMAGE = Attachment(name="a.png", digest="d", source="/s/a.png")


def test_an_agent_that_is_told_reads_the_skill_by_its_path_and_one_that_is_not_has_to_find_it() -> None:
    told = prompt(ERRAND, AgentSettings(skill="told"), skill="skillopt-sums")
    assert ".agents/skills/skillopt-sums/SKILL.md" in told
    assert "skillopt-sums" not in prompt(ERRAND, AgentSettings(), skill="skillopt-sums")


@pytest.mark.parametrize(
    ("settings", "errand", "said"),
    [
        (AgentSettings(), ERRAND, "You may create and change files"),
        (AgentSettings(files="read"), ERRAND, "Do not create, change or delete any file"),
        (AgentSettings(data_dirs={"docs": "d"}), ERRAND, "data/docs"),
        (AgentSettings(), msgspec.structs.replace(ERRAND, images=(IMAGE,)), "ATTACHMENTS.md"),
        (
            AgentSettings(),
            msgspec.structs.replace(ERRAND, shims=("lookup", "tides")),
            "for this task: `lookup`, `tides`.",
        ),
    ],
)
def test_what_an_agent_may_do_and_has_is_said(settings: AgentSettings, errand: Errand, said: str) -> None:
    assert said in prompt(errand, settings, skill="s")


def test_only_a_second_attempt_is_told_of_the_first() -> None:
    first = prompt(ERRAND, AgentSettings(), skill="s")
    again = prompt(ERRAND, AgentSettings(), skill="s", again=True)
    assert again.startswith(first)
    assert "without any answer" in again.removeprefix(first)


@pytest.mark.parametrize(
    ("text", "graded"),
    [
        ('{"final_response": "It is <answer>4</answer>.", "final_answer": "4"}', "It is <answer>4</answer>."),
        ('{"final_response": " ", "final_answer": "4"}', "<answer>4</answer>"),
        ('{"final_response": "", "final_answer": "<answer>4</answer>"}', "<answer>4</answer>"),
        ('{"final_response": "", "final_answer": ""}', ""),
        ("It is 4.", "It is 4."),
        ('{"final_answer": "4"}', '{"final_answer": "4"}'),
    ],
)
def test_an_answer_in_the_form_asked_for_is_graded_by_its_words(text: str, graded: str) -> None:
    assert heard_answer(text) == graded


def test_the_schema_takes_two_texts_and_nothing_else() -> None:
    schema = msgspec.json.decode(SCHEMA)
    assert schema["required"] == ["final_response", "final_answer"]
    assert schema["additionalProperties"] is False
