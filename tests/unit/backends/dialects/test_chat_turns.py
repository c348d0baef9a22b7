"""How chat completions are told of single messages; whole requests are in tests/wire."""

from __future__ import annotations

import json

import msgspec
import pytest

from skillopt.backends.dialects.chat_turns import message_fields, request_fields
from skillopt.domain.chat import ChatRequest, Image, JsonSchema, Message, ToolCall

CALL = ToolCall(id="c", name="f", arguments="{")
IMAGE = Image(media_type="image/gif", digest="d", fetch=lambda: b"")


@pytest.mark.parametrize(
    ("message", "fields"),
    [
        (Message("system", "be"), {"role": "system", "content": "be"}),
        (Message("user", ""), {"role": "user", "content": ""}),
        (Message("tool", "found", call_id="c"), {"role": "tool", "tool_call_id": "c", "content": "found"}),
    ],
)
def test_a_text_is_a_text(message: Message, fields: dict[str, str]) -> None:
    assert message_fields(message) == fields


def test_an_empty_text_is_left_out_where_there_is_something_else() -> None:
    assert message_fields(Message("assistant", "", calls=(CALL,)))["content"] is None
    shown = message_fields(Message("user", "", (IMAGE,)))["content"]
    assert shown == [{"type": "image_url", "image_url": {"url": "data:image/gif;base64,"}}]


def test_a_request_of_text_has_no_further_fields() -> None:
    assert request_fields(ChatRequest(messages=(), max_tokens=1)) == {}


def test_a_schema_need_not_be_strict() -> None:
    schema = JsonSchema(name="s", definition="{}", strict=False)
    fields = json.loads(msgspec.json.encode(request_fields(ChatRequest(messages=(), max_tokens=1, schema=schema))))
    assert fields["response_format"]["json_schema"] == {"name": "s", "strict": False, "schema": {}}
