from __future__ import annotations

import json
from typing import Literal

import msgspec
import pytest

from skillopt.domain.chat import Message
from skillopt.kernel.dialogue import Conversation, UnreadableError, Unusable, converse, parse_reply
from skillopt.kernel.run import Run
from skillopt.testing.conversation import BrainReply
from skillopt.testing.conversation import Conversation as Heard
from skillopt.testing.faults import FaultKind, FaultPlan
from skillopt.testing.scripted import ScriptedChat
from tests.unit.kernel.bench import Bench


class Pick(msgspec.Struct, frozen=True):
    """A contract with one duty."""

    selected: tuple[int, ...]
    reason: str = ""


GOOD = '{"selected": [1, 2]}'


@pytest.mark.parametrize(
    ("reply", "selected"),
    [
        pytest.param(GOOD, (1, 2), id="plain"),
        pytest.param(f"```json\n{GOOD}\n```", (1, 2), id="fenced"),
        pytest.param(f"```\n{GOOD}\n```\nHope that helps {{smile}}!", (1, 2), id="fenced and chatty"),
        pytest.param(f"Sure! Here you are: {GOOD} Anything else?", (1, 2), id="chatty"),
        pytest.param('{"selected": [9]}\nNo, rather:\n{"selected": [3]}', (3,), id="the last of several counts"),
        pytest.param('```json\n{"selected": [9]}\n```\n```json\n{"selected": [4]}\n```', (4,), id="the last fence"),
        pytest.param('{"selected": [5]} {"other": 1}', (5,), id="one of several fits"),
        pytest.param('[{"selected": [6]}]', (6,), id="inside a list"),
        pytest.param('{"selected": [7], "reason": "a } and a { and \\" too"}', (7,), id="braces in strings"),
        pytest.param('{"selected": [8], "more": {"deep": {"deeper": 1}}}', (8,), id="extra keys are welcome"),
        pytest.param('{"selected": ["1", "2"]}', (1, 2), id="numbers as text"),
        pytest.param('{"selected": [1, 2', (1, 2), id="cut"),
        pytest.param("{'selected': [1, 2,],}", (1, 2), id="Python's quotes and commas"),
        pytest.param("{selected: [1, 2]} // done", (1, 2), id="bare keys and a comment"),
        pytest.param('{"selected": [1, 2], "reason": "two\nlines"}', (1, 2), id="a line break in a string"),
        pytest.param("```python\nprint({})\n```\n" + GOOD, (1, 2), id="a fence that holds something else"),
    ],
)
def test_one_object_is_found_in_whatever_surrounds_it(reply: str, selected: tuple[int, ...]) -> None:
    assert parse_reply(reply, Pick).selected == selected


@pytest.mark.parametrize(
    "reply",
    [
        "",
        "I would rather not say.",
        "{}",
        '{"selection": [1]}',
        '{"selected": "all of them"}',
        '{"selected": null}',
        '{"outer": {"selected": [1]}}',
        "[1, 2]",
        "{" * 20_000,
        '{"selected": ' + "[" * 20_000,
        '{"selected": [1], "more": ' + '{"a":' * 20_000 + "1" + "}" * 20_001,
    ],
)
def test_what_does_not_fulfil_the_contract_is_unreadable(reply: str) -> None:
    with pytest.raises(UnreadableError):
        parse_reply(reply, Pick)


@pytest.mark.parametrize("half", ["\\ud800", "\ud800"])
@pytest.mark.parametrize("end", ["}", ",}"])
def test_half_a_character_never_gets_through(half: str, end: str) -> None:
    reply = parse_reply('{"selected": [1], "reason": "odd ' + half + '"' + end, Pick)
    assert reply.reason == "odd \ufffd"


def speaker(*replies: str, faults: FaultPlan = FaultPlan()) -> tuple[Bench, list[Heard]]:
    """Return a bench whose model says these things in turn, and what it heard."""
    heard: list[Heard] = []

    def brain(conversation: Heard) -> BrainReply:
        heard.append(conversation)
        return BrainReply(text=replies[min(len(heard), len(replies)) - 1])

    return Bench(ScriptedChat(brain, faults=faults)), heard


def asked(bench: Bench, *prompts: str, name: str = "run") -> tuple[Pick | Unusable, ...]:
    conversation = Conversation(asker=bench.asker, phase="pick", contract=Pick)

    async def ask(run: Run) -> tuple[Pick | Unusable, ...]:
        return await converse(run, conversation, [(Message("user", prompt),) for prompt in prompts])

    return bench.live(ask, name=name)


def test_an_unreadable_reply_is_sent_back_once_with_what_was_wrong() -> None:
    bench, heard = speaker("Let me think.", GOOD)
    assert asked(bench, "Pick.") == (Pick((1, 2)),)
    assert [turn.speaker for turn in heard[1].turns] == ["user", "assistant", "user"]
    assert heard[1].turns[1].text == "Let me think."
    assert "could not be used" in heard[1].asked


def test_after_one_repair_it_is_unusable() -> None:
    bench, heard = speaker("Let me think.")
    (reply,) = asked(bench, "Pick.")
    assert isinstance(reply, Unusable)
    assert reply.kind == "Unreadable"
    assert len(heard) == 2


def test_a_readable_reply_is_not_asked_for_again() -> None:
    bench, heard = speaker(GOOD)
    assert asked(bench, "One.", "Two.") == (Pick((1, 2)), Pick((1, 2)))
    assert len(heard) == 2


def test_a_failure_stays_a_failure_and_is_never_sent_back() -> None:
    bench, heard = speaker(GOOD, faults=FaultPlan.always(FaultKind.FILTERED))
    (reply,) = asked(bench, "Pick.")
    assert isinstance(reply, Unusable)
    assert reply.kind == "RefusedError"
    assert len(heard) == 1


def test_a_secret_that_json_spells_differently_is_taken_out_after_reading() -> None:
    secret = "key/with/slashes"
    bench, _ = speaker(json.dumps({"selected": [1], "reason": secret}).replace("/", "\\/"))
    conversation = Conversation(asker=bench.asker, phase="pick", contract=Pick)

    async def ask(run: Run) -> tuple[Pick | Unusable, ...]:
        return await converse(run, conversation, [(Message("user", "Pick."),)])

    (reply,) = bench.live(ask, scrub=lambda text: text.replace(secret, "…"))
    assert reply == Pick((1,), "…")


class Choice(msgspec.Struct, frozen=True):
    word: str
    weight: int = 1


class Choices(msgspec.Struct, frozen=True):
    choices: tuple[Choice, ...]


def test_a_secret_is_taken_out_however_deep_it_stands() -> None:
    bench, _ = speaker(json.dumps({"choices": [{"word": "k/e/y"}]}).replace("/", "\\/"))
    conversation = Conversation(asker=bench.asker, phase="pick", contract=Choices)

    async def ask(run: Run) -> tuple[Choices | Unusable, ...]:
        return await converse(run, conversation, [(Message("user", "Pick."),)])

    (reply,) = bench.live(ask, scrub=lambda text: text.replace("k/e/y", "…"))
    assert reply == Choices((Choice("…"),))


def test_why_a_reply_is_unusable_holds_no_secret_either() -> None:
    class Named(msgspec.Struct, frozen=True):
        op: Literal["append"]

    bench, heard = speaker(json.dumps({"op": "k/e/y"}).replace("/", "\\/"))
    conversation = Conversation(asker=bench.asker, phase="pick", contract=Named)

    async def ask(run: Run) -> tuple[Named | Unusable, ...]:
        return await converse(run, conversation, [(Message("user", "Pick."),)])

    (reply,) = bench.live(ask, scrub=lambda text: text.replace("k/e/y", "…"))
    assert isinstance(reply, Unusable)
    assert "…" in reply.why
    assert "k/e/y" not in f"{reply.why}{heard[1].asked}"
