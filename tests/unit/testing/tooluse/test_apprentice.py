from __future__ import annotations

import json
from collections.abc import Callable

import msgspec
import pytest

from skillopt.testing.brains import brain_named
from skillopt.testing.conversation import Conversation, Tool, ToolCall, Turn
from skillopt.testing.tooluse.apprentice import TASK_FILE
from skillopt.testing.worlds import NEEDS, RULES, TaskRow, rules_world

BASH = Tool(name="Bash", fields={"command": "string"})
SKILL = Tool(name="Skill", fields={"skill": "string"})
EVERY_RULE = "\n".join(rule.sentence for rule in RULES.rules)
TASK = next(task for task in rules_world(1, 30, 0, 0).train if NEEDS.search(task.input))
LISTING = "./.claude/skills/house-style/SKILL.md\n./.agents/skills/house-style/SKILL.md\n"
PROMPT = "- house-style: How cases are settled.\n- dataviz: Charts."

Answer = Callable[[ToolCall], str]


def workspace(task: TaskRow = TASK, skill: str = EVERY_RULE, listing: str = LISTING) -> Answer:
    """Return what the tools of an agent answer in a folder with a task and a skill."""

    def answer(call: ToolCall) -> str:
        arguments = json.loads(call.arguments)
        command = arguments.get("command", "")
        if call.name == "Skill":
            return "Launching skill: house-style" if arguments == {"skill": "house-style"} else "Unknown skill"
        if command == f"cat {TASK_FILE}":
            return task.input
        if command.startswith("find"):
            return listing
        return skill if "SKILL.md" in command else ""

    return answer


def work(
    brain: str, answer: Answer, *, prompt: str = PROMPT, tools: tuple[Tool, ...] = (BASH,), said: str = "Go."
) -> tuple[str, list[ToolCall]]:
    """Let a brain work until it calls no more; what a skill says comes after the result, as an agent has it."""
    turns: list[Turn] = [Turn("user", said)]
    calls: list[ToolCall] = []
    for _ in range(9):
        reply = brain_named(brain)(Conversation(model="m", system=prompt, turns=tuple(turns), tools=tools))
        if not reply.calls:
            return reply.text, calls
        (call,) = reply.calls
        calls.append(call)
        turns += [Turn("assistant", ""), Turn("tool", answer(call))]
        if call.name == "Skill":
            turns.append(Turn("user", EVERY_RULE))
    raise AssertionError(f"no end after {calls}")


def test_it_reads_the_task_finds_and_opens_the_skill_and_answers() -> None:
    text, calls = work("agent-rules", workspace())
    assert text == f"<answer>{TASK.reference}</answer>"
    assert [json.loads(call.arguments)["command"] for call in calls] == [
        "cat task.md",
        "find . -path '*/skills/*/SKILL.md'",
        "cat ./.claude/skills/house-style/SKILL.md",
    ]


def test_with_a_tool_for_skills_it_opens_each_name_once_and_knows_what_came_after_the_result() -> None:
    text, calls = work("agent-rules", workspace(), tools=(BASH, SKILL))
    assert text == f"<answer>{TASK.reference}</answer>"
    assert [call.name for call in calls] == ["Bash", "Bash", "Skill"]


@pytest.mark.parametrize("skill", ["", EVERY_RULE.upper()])
def test_what_the_skill_does_not_say_is_violated(skill: str) -> None:
    text, _ = work("agent-rules", workspace(skill=skill))
    assert "[violated: " in text


def test_a_skill_that_the_prompt_does_not_list_or_the_folder_does_not_hold_is_not_known() -> None:
    for answer, prompt in ((workspace(), "- dataviz: Charts."), (workspace(listing=""), PROMPT)):
        text, calls = work("agent-rules", answer, prompt=prompt)
        assert "[violated: " in text
        assert len(calls) == 2


def test_a_skill_whose_file_the_prompt_names_is_read_even_where_no_tool_lists_it() -> None:
    said = "Read task.md. Then read .agents/skills/house-style/SKILL.md and go by what it says."
    text, calls = work("agent-rules", workspace(), prompt="- dataviz: Charts.", tools=(BASH, SKILL), said=said)
    assert text == f"<answer>{TASK.reference}</answer>"
    assert json.loads(calls[-1].arguments) == {"command": "cat .agents/skills/house-style/SKILL.md"}


def test_rules_that_only_stand_in_the_prompt_do_not_count() -> None:
    text, _ = work("agent-rules", workspace(skill=""), prompt=f"{PROMPT}\n{EVERY_RULE}", said=EVERY_RULE)
    assert "[violated: " in text


def test_a_task_in_the_prompt_is_not_looked_for() -> None:
    text, calls = work("agent-rules", workspace(), said=f"{EVERY_RULE}\n\n{TASK.input}")
    assert text == f"<answer>{TASK.reference}</answer>"
    assert "task.md" not in calls[0].arguments
    text, _ = work("agent-rules", workspace(skill=""), said=f"{EVERY_RULE}\n\n{TASK.input}")
    assert "[violated: " in text


def test_without_a_task_it_says_so() -> None:
    text, _ = work("agent-rules", lambda _call: "No such file.")
    assert text == "There is no case here to settle."


def test_the_answer_is_also_written_where_that_is_asked_for() -> None:
    text, calls = work("agent-rules-file", workspace())
    assert json.loads(calls[-1].arguments)["command"] == f"printf '%s\\n' '{text}' > answer.txt"


def test_a_caller_without_a_shell_is_answered_at_once() -> None:
    turns = (Turn("user", TASK.input),)
    reply = brain_named("agent-rules")(Conversation(model="m", system=EVERY_RULE, turns=turns))
    assert reply.text == f"<answer>{TASK.reference}</answer>"


def test_an_answer_in_a_form_is_handed_in_once() -> None:
    hand_in = Tool(name="StructuredOutput", fields={"answer": "string", "sure": "boolean"})
    turns = (Turn("user", TASK.input),)
    asked = Conversation(model="m", system=EVERY_RULE, turns=turns, tools=(hand_in,))
    (call,) = brain_named("agent-rules")(asked).calls
    assert json.loads(call.arguments) == {"answer": f"<answer>{TASK.reference}</answer>", "sure": False}
    formed = msgspec.structs.replace(asked, tools=(), form={"n": "integer", "answer": "string"})
    text = brain_named("agent-rules")(formed).text
    assert json.loads(text) == {"n": 0, "answer": f"<answer>{TASK.reference}</answer>"}


def test_an_optimizer_overlooks_what_an_agents_prompt_says_first() -> None:
    request = "Task: reflect\n\n[violated: iso-date]\n\n<skill>\n\n</skill>"
    plain = Conversation(model="opt", system="", turns=(Turn("user", request),))
    said = brain_named("rules")(plain)
    assert json.loads(said.text)["patch"]["edits"]
    agent = Conversation(
        model="opt", system="You are an agent.\nTask lists help.", turns=(Turn("user", request),), tools=(BASH,)
    )
    assert brain_named("agent-rules")(agent) == said
    formed = msgspec.structs.replace(agent, tools=(Tool(name="StructuredOutput", fields={"patch": "object"}),))
    (call,) = brain_named("agent-rules")(formed).calls
    assert call.arguments == said.text
