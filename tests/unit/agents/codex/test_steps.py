from __future__ import annotations

import pytest

from skillopt.agents.codex.steps import Call, actions, calls, counts, denied, opened
from skillopt.domain.agency.transcripts import Action, Seen


def ran(text: str, *, failed: bool = False, reads: bool = True) -> Call:
    return Call(tool="exec_command", text=text, failed=failed, reads=reads)


def test_calls_are_steps_among_words() -> None:
    said = Action(kind="said", text="first")
    call = Call(tool="exec_command", text="ls", status="exit 0")
    assert actions([said, call]) == (said, Action(kind="ran", text="ls", tool="exec_command", status="exit 0"))
    assert calls([said, call]) == (call,)


def test_tools_are_counted_in_the_order_of_their_first_calls() -> None:
    made = [ran("a"), Call(tool="view_image", text="b"), ran("c")]
    assert counts(made) == (("exec_command", 2), ("view_image", 1))


def test_a_refused_tool_is_named_once() -> None:
    refused = Call(tool="exec_command", text="touch x", denied=True)
    assert denied([refused, ran("ls"), refused]) == ("exec_command",)


@pytest.mark.parametrize(
    ("made", "seen"),
    [
        ([], "no"),
        ([ran("ls -R")], "no"),
        ([ran("cat .agents/skills/tides/SKILL.md")], "yes"),
        ([ran("cd .agents/skills/tides && sed -n 1,99p SKILL.md")], "yes"),
        ([ran("cat .agents/skills/*/SKILL.md")], "yes"),
        ([ran("cat SKILL.md")], "no"),
        ([ran("cat notes/SKILL.md.txt in skills")], "yes"),
        ([ran("cat skills/MYSKILL.md")], "no"),
        ([ran("find . -path '*skills*' -name SKILL.md", reads=False)], "no"),
        ([ran("cat skills/tides/SKILL.md", failed=True)], "failed"),
        ([ran("cat skills/tide/SKILL.md", failed=True), ran("cat skills/tides/SKILL.md")], "yes"),
    ],
)
def test_a_file_was_opened_by_a_command_that_names_it(made: list[Call], seen: Seen) -> None:
    assert opened(made, "SKILL.md", "skills", "tides") == seen


def test_no_word_needs_to_stand_beside_the_task() -> None:
    assert opened([ran("cat task.md")], "task.md") == "yes"
    assert opened([ran("cat subtask.md")], "task.md") == "no"
