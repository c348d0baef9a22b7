from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillopt.domain.errors import UsageError
from skillopt.testing.brains import brain_named
from skillopt.testing.conversation import BrainReply, Conversation, Tool, ToolCall, Turn
from skillopt.testing.faults import FaultKind
from skillopt.testing.scenario import parse_scenario
from skillopt.testing.tooluse.script import ScriptTurn, read_script, script, script_length

BASH = Tool(name="Bash", fields={"command": "string"})
ANSWER = Tool(name="StructuredOutput")


def play(
    name: str, results: int = 0, tools: tuple[Tool, ...] = (BASH,), form: dict[str, str] | None = None
) -> BrainReply:
    turns = (Turn("user", "go"), *(Turn("tool", str(number)) for number in range(results)))
    conversation = Conversation(model="m", system="", turns=turns, tools=tools)
    if form is not None:
        conversation = Conversation(model="m", system="", turns=turns, tools=tools, form=form)
    return brain_named(name)(conversation)


def test_a_turn_is_chosen_by_the_results_in_the_request_and_the_last_words_stay() -> None:
    name = script(ScriptTurn(sh="ls"), ScriptTurn(text="One more.", sh="pwd"), ScriptTurn(text="Done now."))
    assert [call.arguments for call in play(name).calls] == ['{"command":"ls"}']
    second = play(name, results=1)
    assert (second.text, second.finish, [call.arguments for call in second.calls]) == (
        "One more.",
        "tool",
        ['{"command":"pwd"}'],
    )
    for taken in (2, 3, 9):
        assert play(name, results=taken) == BrainReply(text="Done now.")
    assert play(name) == play(name)


def test_a_caller_without_tools_gets_text() -> None:
    assert play(script(ScriptTurn(sh="ls"), ScriptTurn(text="A title.")), tools=()).text == "A title."
    assert play(script(ScriptTurn(sh="ls")), tools=()) == BrainReply(text="Done.")


def test_a_missing_tool_is_said() -> None:
    assert play(script(ScriptTurn(skill="x")), tools=(ANSWER,)).text == "I have no tool for that."


def test_a_structured_answer_goes_to_the_tool_for_it_or_is_the_text() -> None:
    name = script(ScriptTurn(struct={"n": 1}), ScriptTurn(struct={"n": 2}))
    assert play(name, tools=(BASH, ANSWER)).calls == (ToolCall(name="StructuredOutput", arguments='{"n":1}'),)
    assert play(name, results=1, tools=(ANSWER,)).calls == (ToolCall(name="StructuredOutput", arguments='{"n":2}'),)
    assert play(name, form={"n": "integer"}) == BrainReply(text='{"n":1}')
    assert play(name, tools=(), form={"n": "integer"}) == BrainReply(text='{"n":1}')


def test_calls_by_name_and_broken_ones_are_made() -> None:
    name = 'script:[{"call": ["spawn", {"a": [1]}]}, {"raw": "{\\"cmd\\": "}, {"skill": "tides"}]'
    assert play(name).calls == (ToolCall(name="spawn", arguments='{"a":[1]}'),)
    assert play(name, results=1).calls == (ToolCall(name="Bash", arguments='{"cmd": '),)
    assert "tides/SKILL.md" in play(name, results=2).calls[0].arguments


def test_a_turn_can_fail_whoever_else_asks() -> None:
    name = script(ScriptTurn(sh="ls"), ScriptTurn(fault=FaultKind.HANG_STREAM))
    assert play(name).fault is None
    for _ in range(2):
        assert play(name, results=1).fault is FaultKind.HANG_STREAM


@pytest.mark.parametrize(
    "name",
    [
        "script:",
        "script:[]",
        "script:{}",
        "script:[{}]",
        'script:[{"shell": "ls"}]',
        'script:[{"sh": "ls", "skill": "x"}]',
        'script:[{"call": ["x"]}]',
        'script:[{"fault": "hangs"}]',
        'script:[{"text": 1}]',
        'script:[{"text": "a"}',
    ],
)
def test_what_is_no_script_is_refused_with_how_one_looks(name: str) -> None:
    with pytest.raises(UsageError, match="Give a list of turns"):
        brain_named(parse_scenario(name).brain)


def test_a_script_stands_in_a_scenario_with_its_commas_and_with_keys_behind_it() -> None:
    name = script(ScriptTurn(sh="echo a,b=c"), ScriptTurn(text="x, y"))
    scenario = parse_scenario(f"{name},latency=2,repeats=3")
    assert (scenario.brain, scenario.latency, scenario.faults.max_repeats) == (name, 2.0, 3)
    assert parse_scenario(name).brain == name
    assert script_length("rules,rate=1") == 0


@given(text=st.text(min_size=1), sh=st.none() | st.text(), key=st.text())
def test_a_script_is_read_as_it_was_written(text: str, sh: str | None, key: str) -> None:
    turns = (
        ScriptTurn(text=text, sh=sh),
        ScriptTurn(struct={key: text}),
        ScriptTurn(call=(text, {key: [1, None]})),
        ScriptTurn(text=text, raw=key),
    )
    name = script(*turns)
    assert json.loads(name.removeprefix("script:"))
    assert read_script(name) == turns
    assert parse_scenario(f"{name},rate=0.5").brain == name
