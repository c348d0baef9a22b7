from __future__ import annotations

import pytest

from skillopt.domain.skill import Skill
from skillopt.phases.prompting import Prompts
from skillopt.phases.proposals.author import Author, Permissions, said_of
from skillopt.phases.proposals.modes import MODES
from tests.unit.phases.authors import Replies, authored


def text_of(prompts: Prompts, mode: str) -> str:
    async def work(author: Author) -> str:
        return author.text("merge_final")

    return authored(Replies("no"), work, mode=MODES[mode], prompts=prompts)


@pytest.mark.parametrize("mode", MODES)
def test_a_prompt_says_the_form_of_its_mode(mode: str) -> None:
    text = text_of(Prompts(), mode)
    assert f'"{MODES[mode].key}"' in text
    assert "{{" not in text


def test_a_replaced_prompt_and_a_replaced_fragment_are_used_and_expanded_once() -> None:
    replaced = Prompts.replacing({"merge_final": "Task: merge\n{{rules}} and {{form}}", "rules_edits": "No rules."})
    assert text_of(replaced, "patch").startswith("Task: merge\nNo rules. and ")


def about(skill: Skill, permissions: Permissions = Permissions()) -> list[str]:
    async def work(author: Author) -> list[str]:
        return author.about(skill)

    return authored(Replies("no"), work, permissions=permissions)


def test_only_what_may_be_changed_is_shown_besides_the_document() -> None:
    document = "---\nname: s\ndescription: Short.\n---\n# S\n"
    skill = Skill.from_files({"SKILL.md": document, "references/a.md": "Alpha.", "tool.sh": "ls -l"})
    shown = about(skill)
    assert shown[0].startswith("# The skill\n\n<skill>\n# S\n")
    assert "Alpha." in shown[1]
    assert not any("ls -l" in section or "Short." in section for section in shown)
    told = about(skill, Permissions(scripts=True, description=True))
    assert "description: Short." in told[1]
    assert "ls -l" in told[2]
    assert len(about(Skill.from_text(document))) == 1


@pytest.mark.parametrize(("budget", "said"), [(None, "any number"), (0, "0"), (4, "4")])
def test_a_budget_in_words(budget: int | None, said: str) -> None:
    assert said_of(budget) == said
