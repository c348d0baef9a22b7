from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

Ask = Callable[..., Any]
HELLO = {"model": "m", "instructions": "Be kind.", "input": "hello there"}


def test_a_response_has_the_shape_of_one(ask: Ask) -> None:
    body = ask("/s/echo/v1/responses", HELLO).json()
    assert (body["object"], body["status"], body["error"], body["model"]) == ("response", "completed", None, "m")
    (item,) = body["output"]
    assert (item["type"], item["role"], item["status"]) == ("message", "assistant", "completed")
    assert item["content"] == [{"type": "output_text", "text": "hello there", "annotations": []}]
    assert (body["usage"]["input_tokens"], body["usage"]["output_tokens"]) == (5, 3)
    assert body["usage"]["input_tokens_details"] == {"cached_tokens": 0}


def test_a_stream_names_and_numbers_its_events_and_ends_with_usage(ask: Ask) -> None:
    events = ask("/s/echo/v1/responses", {**HELLO, "stream": True}).events()
    assert [name for name, _ in events] == [
        "response.created",
        "response.in_progress",
        "response.output_item.added",
        "response.content_part.added",
        "response.output_text.delta",
        "response.output_text.delta",
        "response.output_text.delta",
        "response.output_text.done",
        "response.content_part.done",
        "response.output_item.done",
        "response.completed",
    ]
    assert [value["sequence_number"] for _, value in events] == list(range(len(events)))
    assert all(value["type"] == name for name, value in events)
    assert "".join(value["delta"] for name, value in events if name.endswith("text.delta")) == "hello there"
    last = events[-1][1]["response"]
    assert last["usage"]["output_tokens"] == 3
    assert events[-2][1]["item"] == last["output"][0]
    assert events[0][1]["response"]["id"] == last["id"]


def test_tool_calls_are_passed_on(ask: Ask) -> None:
    first, second = ask("/s/tools/v1/responses", HELLO).json()["output"]
    assert (first["type"], first["name"], first["arguments"]) == ("function_call", "exec", '{"cmd": "ls -l"}')
    assert first["call_id"] != second["call_id"]
    events = ask("/s/tools/v1/responses", {**HELLO, "stream": True}).events()
    deltas = [value["delta"] for name, value in events if name == "response.function_call_arguments.delta"]
    assert "".join(deltas) == first["arguments"] + second["arguments"]
    assert [value["item"]["name"] for name, value in events if name == "response.output_item.done"] == [
        "exec",
        "broken",
    ]


def test_a_request_is_understood(ask: Ask) -> None:
    body = {
        "model": "m",
        "instructions": "base",
        "input": [
            {"type": "message", "role": "developer", "content": [{"type": "input_text", "text": "rules"}]},
            {"role": "user", "content": [{"type": "input_text", "text": "a"}, {"type": "input_image"}]},
            {"type": "reasoning", "summary": []},
            {"type": "function_call", "name": "exec", "arguments": "{}", "call_id": "1"},
            {"type": "function_call_output", "call_id": "1", "output": "output"},
            {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "b"}]},
        ],
        "max_output_tokens": 800,
        "tools": [{"type": "function", "name": "exec", "parameters": {}}, {"type": "web_search"}],
    }
    reply = ask("/s/describe/v1/responses", body).json()
    assert json.loads(reply["output"][0]["content"][0]["text"]) == {
        "system": "base\n\nrules",
        "turns": [["user", "a"], ["tool", "output"], ["assistant", "b"]],
        "tools": ["exec", "web_search"],
        "max_tokens": 800,
        "seed": None,
    }


def test_a_reply_longer_than_allowed_is_incomplete(ask: Ask) -> None:
    body = ask("/s/echo/v1/responses", {**HELLO, "max_output_tokens": 2}).json()
    assert (body["status"], body["incomplete_details"]) == ("incomplete", {"reason": "max_output_tokens"})
    events = ask("/s/echo/v1/responses", {**HELLO, "max_output_tokens": 2, "stream": True}).events()
    assert events[-1][0] == "response.incomplete"


def test_words_before_a_call_are_an_item_of_their_own(ask: Ask) -> None:
    body = ask("/s/says%20and%20calls/v1/responses", HELLO).json()
    assert [item["type"] for item in body["output"]] == ["message", "function_call"]
    assert body["output"][0]["content"][0]["text"] == "I look."
    assert (body["output"][1]["namespace"], body["output"][1]["name"]) == ("box", "exec")
    events = ask("/s/says%20and%20calls/v1/responses", {**HELLO, "stream": True}).events()
    done = [value["item"]["type"] for name, value in events if name == "response.output_item.done"]
    assert done == ["message", "function_call"]
    assert events[-1][1]["response"]["output"] == body_without_ids(events, body["output"])


def body_without_ids(events: list[tuple[str, Any]], items: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the items with the ids that the streamed reply gave them."""
    ids = [{key: item[key] for key in ("id", "call_id") if key in item} for item in events[-1][1]["response"]["output"]]
    return [{**item, **own} for item, own in zip(items, ids, strict=True)]


def test_tools_are_understood_with_their_fields_namespaces_and_the_form_of_the_answer(ask: Ask) -> None:
    schema = {"type": "object", "properties": {"n": {"type": "integer"}, "m": {"type": ["string", "null"]}, "o": True}}
    tools = [
        {"type": "function", "name": "exec_command", "parameters": schema},
        {"type": "namespace", "name": "box", "tools": [{"type": "function", "name": "open", "parameters": {}}]},
        {"type": "web_search"},
    ]
    form = {"format": {"type": "json_schema", "name": "answer", "strict": True, "schema": schema}}
    reply = ask("/s/shows%20tools/v1/responses", {**HELLO, "tools": tools, "text": form}).json()
    assert json.loads(reply["output"][0]["content"][0]["text"]) == {
        "tools": [
            ["", "exec_command", {"n": "integer", "m": "", "o": ""}],
            ["box", "open", {}],
            ["", "web_search", {}],
        ],
        "form": {"n": "integer", "m": "", "o": ""},
    }
    for text in ({}, {"format": {"type": "text"}}, {"verbosity": "low"}):
        reply = ask("/s/shows%20tools/v1/responses", {**HELLO, "text": text}).json()
        assert json.loads(reply["output"][0]["content"][0]["text"]) == {"tools": [], "form": None}


def test_a_request_sent_again_with_its_metadata_in_another_order_is_the_next_attempt(ask: Ask) -> None:
    def status(metadata: str, session: str, scenario: str = "echo,kinds=internal,repeats=1,seed=81") -> int:
        text = f'{{"model": "m", "input": "hi", "prompt_cache_key": "{session}", "client_metadata": {metadata}}}'
        found = ask(f"/s/{scenario}/v1/responses", text.encode()).status
        assert isinstance(found, int)
        return found

    assert [status('{"a": "1", "b": "2"}', "one"), status('{"b": "2", "a": "1"}', "one")] == [500, 200]
    assert status('{"a": "1", "b": "2"}', "two") == 500


def test_a_free_tool_among_additional_ones_is_called_with_text(ask: Ask) -> None:
    tools = [{"type": "namespace", "name": "functions", "tools": [{"type": "custom", "name": "exec"}]}]
    request = {
        "model": "m",
        "input": [
            {"type": "additional_tools", "role": "developer", "tools": tools},
            {"role": "user", "content": "hello"},
        ],
        "stream": True,
    }
    events = ask('/s/script:[{"sh":"ls"}]/v1/responses', request).events()
    item = next(value["item"] for name, value in events if name == "response.output_item.done")
    script = 'text(await tools.exec_command({"cmd":"ls"}))'
    assert (item["type"], item["name"], item["namespace"], item["input"]) == (
        "custom_tool_call",
        "exec",
        "functions",
        script,
    )
    deltas = [value["delta"] for name, value in events if name == "response.custom_tool_call_input.delta"]
    assert "".join(deltas) == script
