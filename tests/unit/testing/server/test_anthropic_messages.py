from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

Ask = Callable[..., Any]
HELLO = {
    "model": "m",
    "max_tokens": 50,
    "system": "Be kind.",
    "messages": [{"role": "user", "content": "hello there"}],
}


def test_a_message_has_the_shape_of_one(ask: Ask) -> None:
    response = ask("/s/echo/v1/messages?beta=true", HELLO)
    body = response.json()
    assert body["id"] == f"msg_{response.headers['request-id']}"
    assert (body["type"], body["role"], body["model"]) == ("message", "assistant", "m")
    assert body["content"] == [{"type": "text", "text": "hello there"}]
    assert (body["stop_reason"], body["stop_sequence"]) == ("end_turn", None)
    assert (body["usage"]["input_tokens"], body["usage"]["output_tokens"]) == (5, 3)
    assert body["usage"]["cache_read_input_tokens"] == 0


def test_a_stream_names_its_events_and_gives_the_usage_before_the_last(ask: Ask) -> None:
    events = ask("/s/echo/v1/messages", {**HELLO, "stream": True}).events()
    assert [name for name, _ in events] == [
        "message_start",
        "content_block_start",
        "content_block_delta",
        "content_block_delta",
        "content_block_delta",
        "content_block_stop",
        "message_delta",
        "message_stop",
    ]
    assert all(value["type"] == name for name, value in events)
    deltas = [value["delta"] for name, value in events if name == "content_block_delta"]
    assert "".join(delta["text"] for delta in deltas) == "hello there"
    assert events[0][1]["message"]["usage"]["input_tokens"] == 5
    assert events[-2][1]["delta"]["stop_reason"] == "end_turn"
    assert events[-2][1]["usage"]["output_tokens"] == 3


def test_tool_calls_are_passed_on(ask: Ask) -> None:
    body = ask("/s/tools/v1/messages", HELLO).json()
    assert body["stop_reason"] == "tool_use"
    assert [(block["type"], block["name"], block["input"]) for block in body["content"]] == [
        ("tool_use", "exec", {"cmd": "ls -l"}),
        ("tool_use", "broken", {}),
    ]
    events = ask("/s/tools/v1/messages", {**HELLO, "stream": True}).events()
    parts = [value for name, value in events if name == "content_block_delta"]
    for index, arguments in enumerate(('{"cmd": "ls -l"}', '{"cmd": ')):
        pieces = [part["delta"]["partial_json"] for part in parts if part["index"] == index]
        assert "".join(pieces) == arguments


def test_a_request_is_understood(ask: Ask) -> None:
    body = {
        "model": "m",
        "max_tokens": 700,
        "system": [
            {"type": "text", "text": "base", "cache_control": {"type": "ephemeral"}},
            {"type": "text", "text": "Task: reflect"},
        ],
        "messages": [
            {"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "image", "source": {}}]},
            {"role": "assistant", "content": [{"type": "tool_use", "id": "1", "name": "exec", "input": {}}]},
            {
                "role": "user",
                "content": [
                    {"type": "tool_result", "tool_use_id": "1", "content": [{"type": "text", "text": "output"}]},
                    {"type": "text", "text": "go on"},
                ],
            },
            {"role": "system", "content": "rules"},
        ],
        "tools": [{"name": "Bash", "input_schema": {}}],
    }
    reply = ask("/s/describe/v1/messages", body).json()
    assert json.loads(reply["content"][0]["text"]) == {
        "system": "base\n\nTask: reflect\n\nrules",
        "turns": [["user", "a"], ["assistant", ""], ["tool", "output"], ["user", "go on"]],
        "tools": ["Bash"],
        "max_tokens": 700,
        "seed": None,
    }


def test_a_reply_longer_than_allowed_stops_for_length(ask: Ask) -> None:
    assert ask("/s/echo/v1/messages", {**HELLO, "max_tokens": 2}).json()["stop_reason"] == "max_tokens"


def test_tokens_can_be_counted_beforehand(ask: Ask) -> None:
    assert ask("/s/echo/v1/messages/count_tokens", HELLO).json() == {"input_tokens": 5}
    assert ask("/s/echo/v1/messages/count_tokens", b"{").status == 400


def test_words_before_a_call_are_a_block_of_their_own(ask: Ask) -> None:
    blocks = ask("/s/says%20and%20calls/v1/messages", HELLO).json()["content"]
    assert [block["type"] for block in blocks] == ["text", "tool_use"]


def test_tools_are_understood_with_their_fields(ask: Ask) -> None:
    tools = [
        {"name": "Bash", "input_schema": {"type": "object", "properties": {"command": {"type": "string"}}}},
        {"name": "Nothing", "input_schema": {"type": "object"}},
    ]
    reply = ask("/s/shows%20tools/v1/messages", {**HELLO, "tools": tools}).json()
    assert json.loads(reply["content"][0]["text"])["tools"] == [
        ["", "Bash", {"command": "string"}],
        ["", "Nothing", {}],
    ]
