"""How the responses dialect is told of turns that are several items; single requests are in tests/wire."""

from __future__ import annotations

import json

import pytest

from skillopt.backends.dialects.response_turns import TURNS
from skillopt.domain.chat import Image, Message, ToolCall

CALL = ToolCall(id="c", name="f", arguments="{")
IMAGE = Image(media_type="image/gif", digest="d", fetch=lambda: b"")


@pytest.mark.parametrize(
    ("message", "kinds"),
    [
        (Message("user", ""), ["user"]),
        (Message("assistant", "say"), ["assistant"]),
        (Message("assistant", "say", calls=(CALL, CALL)), ["assistant", "function_call", "function_call"]),
        (Message("assistant", "", calls=(CALL,)), ["function_call"]),
        (Message("tool", "found", call_id="c"), ["function_call_output"]),
    ],
)
def test_what_was_said_and_each_call_are_items_of_their_own(message: Message, kinds: list[str]) -> None:
    items = json.loads(b"[%b]" % TURNS.message(message))
    assert [item.get("type", item.get("role")) for item in items] == kinds


def test_images_without_words_are_shown_alone() -> None:
    (item,) = json.loads(b"[%b]" % TURNS.message(Message("user", "", (IMAGE, IMAGE))))
    assert [part["type"] for part in item["content"]] == ["input_image", "input_image"]
