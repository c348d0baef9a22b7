from __future__ import annotations

from collections.abc import Mapping

import msgspec
import pytest

from skillopt.agents.codex.folding import Done, Folding, Item
from skillopt.agents.codex.steps import Call, Step
from skillopt.domain.agency.transcripts import Action

RUN = "const r = await tools.exec_command({cmd: 'cat skills/SKILL.md'}); text(r)"


def folded(*records: Mapping[str, object]) -> list[Step]:
    folding = Folding()
    for record in records:
        if "id" in record:
            folding.report(msgspec.convert(record, Done))
        else:
            folding.take(msgspec.convert(record, Item))
    return folding.steps


def called(output: object, **call: object) -> Call:
    made = {"type": "function_call", "name": "exec_command", "arguments": '{"cmd": "ls"}', "call_id": "c"} | call
    (step,) = folded(made, {"type": "function_call_output", "call_id": "c", "output": output})
    assert isinstance(step, Call)
    return step


@pytest.mark.parametrize(
    ("output", "status", "failed", "denied"),
    [
        ("Wall time: 0\nProcess exited with code 0\nOutput:\nx", "exit 0", False, False),
        ("Wall time: 0\nProcess exited with code 1\nOutput:\nx", "denied", True, True),
        ("Wall time: 0\nOutput:\nProcess exited with code 1", "done", False, False),
        ("Wall time: 0\nOutput:\nExit code: 0\nWall time: 0\nOutput:\nSuccess.", "exit 0", False, False),
        ("Process running with session ID 7\nOutput:\n", "running", False, False),
        ("unsupported call: no_such_tool", "unsupported call: no_such_tool", True, False),
        ("failed to parse function arguments: key\nmore", "failed to parse function arguments: key", True, False),
        ("approval policy is Never; reject command — you cannot ask", "denied", True, True),
        ("patch rejected: writing is blocked by read-only sandbox; rejected by user", "denied", True, True),
        ([{"type": "input_text", "text": "unable to locate image"}], "unable to locate image", True, False),
        ([{"type": "input_image", "image_url": "data:"}], "done", False, False),
        (7, "done", False, False),
    ],
)
def test_its_output_says_how_a_call_ended(output: object, status: str, failed: bool, denied: bool) -> None:
    call = called(output)
    assert (call.text, call.status, call.failed, call.denied) == ("ls", status, failed, denied)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        ({"arguments": '{"cmd": "ls", "workdir": "/job/a"}'}, "cd /job/a && ls"),
        ({"arguments": "{broken"}, "{broken"),
        ({"arguments": '{"path": "x.png"}', "name": "view_image"}, '{"path": "x.png"}'),
        ({"type": "custom_tool_call", "arguments": "", "input": "*** Begin Patch"}, "*** Begin Patch"),
        ({"arguments": ["odd"]}, "odd"),
    ],
)
def test_what_a_tool_was_given_is_told(call: dict[str, object], text: str) -> None:
    assert called("ok", **call).text == text


def test_a_call_without_an_output_was_still_running() -> None:
    steps = folded({"type": "function_call", "name": "exec_command", "arguments": "x", "call_id": "c"})
    assert steps == [Call(tool="exec_command", text="x")]


def test_what_was_thought_and_searched_is_told() -> None:
    assert folded(
        {"type": "reasoning", "summary": [{"type": "summary_text", "text": "hm"}], "content": None},
        {"type": "reasoning", "summary": []},
        {"type": "web_search_call", "action": {"type": "search", "query": "tides"}},
        {"type": "message", "role": "user", "content": [{"text": "not said by the agent"}]},
    ) == [Action(kind="thought", text="hm"), Call(tool="web_search", text="tides", status="done")]


def scripted(output: object, *done: Mapping[str, object], text: str = RUN) -> list[Step]:
    """What is told of a script, in the order in which Codex writes it."""
    return folded(
        {"type": "custom_tool_call", "name": "exec", "call_id": "c", "input": text},
        *done,
        {"type": "custom_tool_call_output", "call_id": "c", "output": [{"type": "input_text", "text": output}]},
    )


def test_what_a_script_ran_are_calls_of_their_own() -> None:
    command = {
        "type": "CommandExecution",
        "id": "exec-1",
        "command": ["/bin/bash", "-c", "cat skills/SKILL.md"],
        "exit_code": 3,
        "status": "failed",
        "parsed_cmd": [{"type": "read"}],
    }
    patch = {"type": "FileChange", "id": "exec-2", "changes": {"a.txt": {"type": "add"}}, "status": "completed"}
    assert scripted("Script completed\nOutput:\n", command, patch) == [
        Call(tool="exec", text=RUN, status="done", reads=False),
        Call(tool="exec_command", text="cat skills/SKILL.md", status="exit 3", failed=True),
        Call(tool="apply_patch", text="a.txt", status="completed"),
    ]


def test_a_refused_command_is_denied_even_where_it_is_reported() -> None:
    call = {"type": "function_call", "name": "exec_command", "arguments": "{}", "call_id": "c"}
    output = "Process exited with code 1\nOutput:\nsh: a.txt: Read-only file system"
    done = {"type": "CommandExecution", "id": "c", "exit_code": 1}
    (step,) = folded(call, done, {"type": "function_call_output", "call_id": "c", "output": output})
    nested = {"type": "CommandExecution", "id": "exec-1", "command": "x", "exit_code": 1, "aggregated_output": output}
    script, within = scripted("Script completed\n", nested)
    assert [each.denied for each in (step, script, within) if isinstance(each, Call)] == [True, False, True]


@pytest.mark.parametrize(
    ("output", "status", "failed", "denied"),
    [
        ('Script completed\nOutput:\n{"exit_code":1,"output":"Read-only file system"}', "denied", True, True),
        ('Script completed\nOutput:\n{"exit_code":0,"output":"x"}', "done", False, False),
        ("Script failed\nOutput:\nScript error:\nError: oops\n    at x", "Error: oops", True, False),
        ("Script failed\nOutput:\nScript error:\napproval policy is Never; reject", "denied", True, True),
        ("Script failed\n", "failed", True, False),
        ("Script running with cell ID 7\n", "running", False, False),
    ],
)
def test_a_script_tells_of_what_was_refused(output: str, status: str, failed: bool, denied: bool) -> None:
    assert scripted(output) == [Call(tool="exec", text=RUN, status=status, failed=failed, denied=denied)]


def test_a_command_that_only_lists_reads_nothing() -> None:
    call = {"type": "function_call", "name": "exec_command", "arguments": "{}", "call_id": "c"}
    done = {"type": "CommandExecution", "id": "c", "parsed_cmd": [{"type": "list_files"}, {"type": "search"}]}
    (step,) = folded(call, done)
    assert isinstance(step, Call)
    assert not step.reads


def test_what_belongs_to_no_call_is_told_all_the_same() -> None:
    done = {"type": "CommandExecution", "id": "x", "command": "ls", "status": "completed"}
    output = {"type": "function_call_output", "call_id": "gone", "output": "x"}
    assert folded(done, output, {"type": "ImageView", "id": "y"}) == [
        Call(tool="exec_command", text="ls", status="completed")
    ]


def test_words_are_steps() -> None:
    said = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "hi"}]}
    assert folded(said) == [Action(kind="said", text="hi")]
