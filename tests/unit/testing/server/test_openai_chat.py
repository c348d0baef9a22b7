from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

Ask = Callable[..., Any]
HELLO = [{"role": "system", "content": "Be kind."}, {"role": "user", "content": "hello there"}]


def test_a_completion_has_the_shape_of_one(ask: Ask) -> None:
    response = ask("/s/echo/v1/chat/completions", {"model": "m", "messages": HELLO, "max_tokens": 50})
    body = response.json()
    assert response.status == 200
    assert response.headers["content-type"] == "application/json"
    assert body["id"] == f"chatcmpl-{response.headers['x-request-id']}"
    assert (body["object"], body["model"]) == ("chat.completion", "m")
    assert body["choices"] == [
        {"index": 0, "message": {"role": "assistant", "content": "hello there"}, "finish_reason": "stop"}
    ]
    assert body["usage"]["prompt_tokens"] == 5
    assert body["usage"]["completion_tokens"] == 3
    assert body["usage"]["total_tokens"] == 8


def test_a_stream_gives_the_same_text_in_pieces_and_usage_only_when_asked(ask: Ask) -> None:
    body = {"model": "m", "messages": HELLO, "stream": True}
    response = ask("/s/echo/v1/chat/completions", body)
    *chunks, done = [value for _, value in response.events()]
    assert response.headers["content-type"] == "text/event-stream"
    assert done == "[DONE]"
    assert {chunk["object"] for chunk in chunks} == {"chat.completion.chunk"}
    deltas = [chunk["choices"][0]["delta"] for chunk in chunks]
    assert deltas[0] == {"role": "assistant", "content": ""}
    assert len(deltas) > 3
    assert "".join(delta.get("content", "") for delta in deltas) == "hello there"
    assert [chunk["choices"][0]["finish_reason"] for chunk in chunks] == [None] * (len(chunks) - 1) + ["stop"]
    assert not [chunk for chunk in chunks if "usage" in chunk]

    asked = ask("/s/echo/v1/chat/completions", {**body, "stream_options": {"include_usage": True}})
    last = asked.events()[-2][1]
    assert (last["choices"], last["usage"]["completion_tokens"]) == ([], 3)


def test_tool_calls_are_passed_on(ask: Ask) -> None:
    body = {"model": "m", "messages": HELLO}
    choice = ask("/s/tools/v1/chat/completions", body).json()["choices"][0]
    assert choice["finish_reason"] == "tool_calls"
    assert choice["message"]["content"] is None
    calls = [call["function"] for call in choice["message"]["tool_calls"]]
    assert calls == [
        {"name": "exec", "arguments": '{"cmd": "ls -l"}'},
        {"name": "broken", "arguments": '{"cmd": '},
    ]
    events = ask("/s/tools/v1/chat/completions", {**body, "stream": True}).events()
    deltas = [value["choices"][0]["delta"] for _, value in events[:-1]]
    streamed = [delta["tool_calls"][0] for delta in deltas if "tool_calls" in delta]
    assert [(call["index"], call["function"]) for call in streamed] == list(enumerate(calls))


def test_a_request_is_understood(ask: Ask) -> None:
    body = {
        "model": "m",
        "messages": [
            {"role": "developer", "content": "rules"},
            {
                "role": "user",
                "content": [{"type": "text", "text": "a"}, {"type": "image_url", "image_url": {"url": "x"}}],
            },
            {"role": "assistant", "content": None, "tool_calls": []},
            {"role": "tool", "tool_call_id": "1", "content": "output"},
        ],
        "max_tokens": 1,
        "max_completion_tokens": 900,
        "seed": 4,
        "tools": [{"type": "function", "function": {"name": "exec", "parameters": {}}}],
        "something_new": True,
    }
    reply = ask("/s/describe/v1/chat/completions", body).json()
    assert json.loads(reply["choices"][0]["message"]["content"]) == {
        "system": "rules",
        "turns": [["user", "a"], ["assistant", ""], ["tool", "output"]],
        "tools": ["exec"],
        "max_tokens": 900,
        "seed": 4,
    }


def test_a_reply_longer_than_allowed_stops_for_length(ask: Ask) -> None:
    body = ask("/s/echo/v1/chat/completions", {"model": "m", "messages": HELLO, "max_tokens": 2}).json()
    assert body["choices"][0]["message"]["content"] == "hello th"
    assert body["choices"][0]["finish_reason"] == "length"
    assert body["usage"]["completion_tokens"] == 2


def test_words_before_a_call_are_kept(ask: Ask) -> None:
    message = ask("/s/says%20and%20calls/v1/chat/completions", {"model": "m", "messages": HELLO}).json()["choices"][0][
        "message"
    ]
    assert (message["content"], message["tool_calls"][0]["function"]["name"]) == ("I look.", "exec")


def test_tools_are_understood_with_their_fields_and_the_form_of_the_answer(ask: Ask) -> None:
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}}
    tools = [
        {"type": "function", "function": {"name": "bash", "parameters": schema}},
        {"type": "function", "function": {"name": "list"}},
    ]
    form = {"type": "json_schema", "json_schema": {"name": "answer", "schema": schema}}
    reply = ask(
        "/s/shows%20tools/v1/chat/completions",
        {"model": "m", "messages": HELLO, "tools": tools, "response_format": form},
    ).json()
    assert json.loads(reply["choices"][0]["message"]["content"]) == {
        "tools": [["", "bash", {"n": "integer"}], ["", "list", {}]],
        "form": {"n": "integer"},
    }
    plain = ask(
        "/s/shows%20tools/v1/chat/completions",
        {"model": "m", "messages": HELLO, "response_format": {"type": "json_object"}},
    ).json()
    assert json.loads(plain["choices"][0]["message"]["content"])["form"] is None
