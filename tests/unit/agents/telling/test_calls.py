from __future__ import annotations

import pytest

from skillopt.agents.telling.calls import Call, counted, denied, skill_opened, task_read
from skillopt.domain.agency.transcripts import Seen


def shell(command: str, exit_code: int = 0) -> Call:
    return Call(tool="bash", told=command, outcome="ok", exit_code=exit_code, reads=True)


@pytest.mark.parametrize(
    ("call", "seen"),
    [
        (shell("cat .agents/skills/tides/SKILL.md"), "yes"),
        (shell("cd .agents/skills/tides && head SKILL.md"), "yes"),
        (shell("cat .agents/skills/tides/SKILL.md", exit_code=1), "failed"),
        (shell("find . -name SKILL.md"), "no"),
        (shell("ls -l .agents/skills/tides/SKILL.md; pwd"), "no"),
        (Call(tool="view", told="/job/.agents/skills/tides/SKILL.md", outcome="ok", reads=True), "yes"),
        (Call(tool="edit", told="/job/.agents/skills/tides/SKILL.md", outcome="ok"), "no"),
        (Call(tool="skill", told="tides", outcome="ok", skill="tides"), "yes"),
        (Call(tool="skill", told="tides", outcome="denied", skill="tides"), "failed"),
        (Call(tool="skill", told="tides", outcome="unfinished", skill="tides"), "failed"),
        (Call(tool="skill", told="other", outcome="ok", skill="other"), "no"),
    ],
)
def test_a_skill_is_opened_by_its_tool_or_by_showing_its_file(call: Call, seen: Seen) -> None:
    assert skill_opened((call,), "tides") == seen


def test_one_try_that_came_to_a_good_end_is_enough() -> None:
    assert skill_opened((shell("cat SKILL.md", exit_code=1), shell("cat SKILL.md")), "tides") == "yes"
    assert skill_opened((), "") == "unknown"


def test_the_task_is_read_like_any_file() -> None:
    assert task_read((shell("cat task.md"),)) == "yes"
    assert task_read((shell("echo task.md"),)) == "no"


def test_calls_are_counted_and_refusals_told_once() -> None:
    refused = Call(tool="edit", told="a.txt", outcome="denied", error="No.")
    calls = (refused, shell("ls", exit_code=2), refused)
    assert counted(calls) == (("bash", 1), ("edit", 2))
    assert denied(calls) == ("edit: a.txt",)
    assert [step.line for call in calls[:2] for step in call.steps()] == [
        "ran edit: a.txt [denied]",
        "error: No.",
        "ran bash: ls [exit 2]",
    ]
