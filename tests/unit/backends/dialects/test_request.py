"""What a model's bounds refuse, and how an image is written; whole requests are in tests/wire."""

from __future__ import annotations

import pytest

from skillopt.backends.dialects.request import Bounds, base64_of, bounds, data_url
from skillopt.domain.chat import ChatRequest, Feature, Image, JsonSchema, Message, Tool, ToolCall
from skillopt.domain.errors import RefusedError

IMAGE = Image(media_type="image/webp", digest="d", fetch=lambda: b"\x00\xff")
CALL = ToolCall(id="c", name="f", arguments="{}")
TEXT = Message("user", "x")
TOOL = Tool(name="f", description="", parameters="{}")


def request(*messages: Message, schema: JsonSchema | None = None, tools: tuple[Tool, ...] = ()) -> ChatRequest:
    return ChatRequest(messages=messages or (TEXT,), max_tokens=1, schema=schema, tools=tools)


def test_an_image_is_written_whole() -> None:
    assert base64_of(IMAGE) == "AP8="
    assert data_url(IMAGE) == "data:image/webp;base64,AP8="


@pytest.mark.parametrize(
    ("asked", "feature"),
    [
        (request(Message("user", "x", (IMAGE,))), "images"),
        (request(tools=(TOOL,)), "tools"),
        (request(TEXT, Message("assistant", "", calls=(CALL,))), "tools"),
        (request(TEXT, Message("tool", "y", call_id="c")), "tools"),
        (request(schema=JsonSchema(name="s", definition="{}")), "schema"),
    ],
)
def test_what_a_model_lacks_is_refused_and_nothing_else(asked: ChatRequest, feature: Feature) -> None:
    assert asked.wants == (feature,)
    assert not asked.is_text
    with pytest.raises(RefusedError, match=f"The model takes no {feature}"):
        bounds("The model", {feature}, {}).check(asked)
    others: set[Feature] = {"images", "schema", "tools"}
    bounds("The model", others - {feature}, {}).check(asked)


def test_text_wants_nothing() -> None:
    assert request().is_text
    assert request().wants == ()


def test_fields_stand_after_commas_and_never_twice() -> None:
    assert Bounds().encoded({}) == b""
    assert Bounds().encoded({"a": 1, "b": [2]}) == b',"a":1,"b":[2]'
    with pytest.raises(RefusedError, match="extra_body sets a, b, and this request brings its own"):
        bounds("m", (), {"b": 1, "a": 1, "c": 1}).encoded({"a": 1, "b": [2]})
