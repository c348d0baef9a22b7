from __future__ import annotations

from skillopt.agents.claude_code.account import Account, account
from skillopt.agents.claude_code.events import lines
from tests.unit.agents.claude_code.stand import called, came, line, said


def told(*events: bytes) -> Account:
    return account(list(lines(b"".join(events))))


def test_steps_are_told_in_order_with_how_they_went() -> None:
    found = told(
        said({"type": "thinking", "thinking": "Hm."}, {"type": "text", "text": "I look."}),
        said(called("Bash", "t1", command="ls"), uuid="u2"),
        came("t1", "a.txt"),
        said(called("Bash", "t2", command="false"), uuid="u3"),
        came("t2", "Exit code 3\nno", error=True),
        said(called("Edit", "t3", file_path="a.txt"), uuid="u4"),
    )
    assert [(each.kind, each.text, each.tool, each.status) for each in found.actions] == [
        ("thought", "Hm.", "", ""),
        ("said", "I look.", "", ""),
        ("ran", "ls", "Bash", "ok"),
        ("ran", "false", "Bash", "exit 3"),
        ("error", "Exit code 3\nno", "", ""),
        ("ran", "a.txt", "Edit", "unfinished"),
    ]
    assert found.counts == (("Bash", 2), ("Edit", 1))


def test_a_call_that_is_told_twice_is_one() -> None:
    assert told(said(called("Bash", "t1", command="ls")), said(called("Bash", "t1", command="ls"))).counts == (
        ("Bash", 1),
    )


def test_arguments_that_are_not_read_are_told_as_they_are() -> None:
    found = told(said({"type": "tool_use", "id": "t", "name": "X", "input": {"command": 3}}))
    assert found.actions[0].text == '{"command":3}'


def test_denied_tools_are_told_once_each() -> None:
    found = told(
        said(called("Bash", "t1", command="rm x")),
        line(type="system", subtype="permission_denied", tool_name="Bash", tool_use_id="t1"),
        came("t1", "Permission denied.", error=True),
        said(called("WebFetch", "t2", url="http://x"), uuid="u2"),
        came("t2", "No such tool available: WebFetch. WebFetch is disabled for this session.", error=True),
        line(
            type="result",
            permission_denials=[
                {"tool_name": "Bash", "tool_use_id": "t1"},
                {"tool_name": "Write", "tool_use_id": "t9"},
            ],
        ),
    )
    assert found.denied == ("Bash", "WebFetch", "Write")
    assert [each.status for each in found.actions if each.kind == "ran"] == ["denied", "denied"]


def test_a_denial_is_known_from_the_transcript_alone() -> None:
    block = {"type": "tool_result", "tool_use_id": "t1", "content": "No.", "is_error": True}
    refused = line(type="user", toolDenialKind="user-rejected", message={"content": [block]})
    assert told(said(called("Bash", "t1", command="rm x")), refused).denied == ("Bash",)


def test_a_skill_is_opened_by_its_tool_or_as_a_file() -> None:
    by_tool = told(said(called("Skill", "t1", skill="tides")), came("t1"))
    assert (by_tool.skill_opened("tides"), by_tool.skill_opened("other")) == ("yes", "no")
    as_file = told(said(called("Read", "t1", file_path="/job/.claude/skills/tides/SKILL.md")), came("t1"))
    assert as_file.skill_opened("tides") == "yes"
    in_shell = told(said(called("Bash", "t1", command="cat .agents/skills/tides/SKILL.md")), came("t1"))
    assert in_shell.skill_opened("tides") == "yes"
    assert told(said(called("Write", "t1", file_path="SKILL.md")), came("t1")).skill_opened("tides") == "no"


def test_a_skill_that_could_not_be_opened_has_failed_until_it_is() -> None:
    failed = (said(called("Skill", "t1", skill="tides")), came("t1", "Unknown skill", error=True))
    assert told(*failed).skill_opened("tides") == "failed"
    again = (said(called("Skill", "t2", skill="tides"), uuid="u2"), came("t2"))
    assert told(*failed, *again).skill_opened("tides") == "yes"


def test_the_task_is_read_as_a_file() -> None:
    assert told(said(called("Read", "t1", file_path="/job/task.md")), came("t1")).task_read == "yes"
    assert told(said(called("Bash", "t1", command="cat task.md")), came("t1", error=True)).task_read == "failed"
    assert told().task_read == "no"


def test_an_answer_by_a_schema_is_said_and_no_call() -> None:
    found = told(said(called("StructuredOutput", "t1", a=1)), came("t1", "Provided."))
    assert (found.counts, [each.kind for each in found.actions]) == ((), ["said"])
    assert [call.raw for call in found.answers] == [b'{"a":1}']


def test_what_the_program_says_itself_is_an_error() -> None:
    found = told(said({"type": "text", "text": "API Error"}, model="<synthetic>"))
    assert [(each.kind, each.text) for each in found.actions] == [("error", "API Error")]
