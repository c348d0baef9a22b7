"""Anthropic's replies, block by block; whole exchanges are in tests/wire."""

from __future__ import annotations

import json

import pytest

from skillopt.backends.dialects.messages import Messages, read_message, read_stream
from skillopt.backends.dialects.reply import Completion, Malformed
from skillopt.domain.chat import ChatRequest, Message, ToolCall

USE: dict[str, object] = {"type": "tool_use", "id": "t", "name": "f", "input": {}}


def streamed(*events: dict[str, object]) -> bytes:
    whole = ({"type": "message_start", "message": {"id": "m"}}, *events, {"type": "message_stop"})
    return b"".join(b"data: %b\n\n" % json.dumps(event).encode() for event in whole)


def started(index: int, block: dict[str, object]) -> dict[str, object]:
    return {"type": "content_block_start", "index": index, "content_block": block}


def delta(index: int, **fields: object) -> dict[str, object]:
    return {"type": "content_block_delta", "index": index, "delta": fields}


def completion(body: bytes) -> Completion:
    found = read_stream(body)
    assert isinstance(found, Completion)
    return found


def test_pieces_find_their_block_in_any_order() -> None:
    found = completion(
        streamed(
            started(0, {"type": "text", "text": "I "}),
            started(1, USE),
            delta(1, type="input_json_delta", partial_json='{"a":'),
            delta(0, type="text_delta", text="will."),
            delta(1, type="input_json_delta", partial_json=" 1}"),
        )
    )
    assert (found.text, found.calls) == ("I will.", (ToolCall(id="t", name="f", arguments='{"a": 1}'),))


def test_thoughts_are_no_text_and_text_without_a_start_is() -> None:
    thinking = started(0, {"type": "thinking", "thinking": ""})
    thought = delta(0, type="thinking_delta", thinking="Hm.")
    assert completion(streamed(thinking, thought, delta(1, type="text_delta", text="Hi."))).text == "Hi."


def test_a_call_without_pieces_has_no_arguments() -> None:
    assert completion(streamed(started(0, USE))).calls == (ToolCall(id="t", name="f", arguments="{}"),)


@pytest.mark.parametrize("block", [{"type": "tool_use", "id": "t"}, {**USE, "name": None}])
def test_a_call_of_nothing_is_malformed_either_way(block: dict[str, object]) -> None:
    whole = json.dumps({"content": [block]}).encode()
    for found in (read_stream(streamed(started(0, block))), read_message(whole)):
        assert isinstance(found, Malformed)
        assert "without a name" in found.reason


def test_system_text_between_results_does_not_part_them() -> None:
    call = ToolCall(id="c", name="f", arguments="{}")
    talk = (
        Message("assistant", "", calls=(call, call)),
        Message("tool", "one", call_id="c"),
        Message("system", "Be brief."),
        Message("tool", "two", call_id="c"),
    )
    sent = json.loads(Messages("m").body(ChatRequest(messages=talk, max_tokens=1)))
    assert [len(turn["content"]) for turn in sent["messages"]] == [2, 2]
    assert sent["system"][0]["text"] == "Be brief."
