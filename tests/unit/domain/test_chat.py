from __future__ import annotations

from collections.abc import Callable

import msgspec
import pytest

from skillopt.domain.chat import (
    ChatRequest,
    Image,
    JsonSchema,
    Message,
    ModelIdentity,
    Reply,
    Tool,
    ToolCall,
    in_key,
    without_halves,
)
from skillopt.domain.usage import Usage

REPLY = Reply(text="the key is abc", usage=Usage(calls=1), model="m", request_id="r", seconds=2.0)
CALL = ToolCall(id="c", name="f", arguments='{"a": 1}')


def test_a_reply_without_secrets_is_the_same_reply() -> None:
    assert REPLY.scrubbed(lambda text: text) is REPLY


def test_a_scrubbed_reply_keeps_everything_else() -> None:
    scrubbed = REPLY.scrubbed(lambda text: text.replace("abc", "…"))
    assert scrubbed == Reply(text="the key is …", usage=Usage(calls=1), model="m", request_id="r", seconds=2.0)


@pytest.mark.parametrize(
    ("text", "whole"),
    [
        ("plain", "plain"),
        ("grün 🎉", "grün 🎉"),
        ("lone \ud83c end", "lone \ufffd end"),
        ("\udf89", "\ufffd"),
        ("pair \ud83c\udf89", "pair 🎉"),
        ("", ""),
    ],
)
def test_half_characters_are_replaced_and_pairs_joined(text: str, whole: str) -> None:
    assert without_halves(text) == whole
    assert Reply(text=text, usage=Usage()).scrubbed(str).text.encode().decode() == whole


def test_models_at_one_address_share_their_limits() -> None:
    one = ModelIdentity(backend="openai", address="http://127.0.0.1:1", model="a")
    two = ModelIdentity(backend="openai", address="http://127.0.0.1:1", model="b", sampling="hot")
    other = ModelIdentity(backend="openai", address="http://127.0.0.1:2", model="a")
    assert one.account == two.account != other.account


def test_every_text_of_a_reply_is_scrubbed() -> None:
    reply = Reply(text="a key", usage=Usage(), model="m-key", request_id="key-1")
    clean = reply.scrubbed(lambda text: text.replace("key", "…"))
    assert (clean.text, clean.model, clean.request_id) == ("a …", "m-…", "…-1")
    assert clean.scrubbed(str) is clean


def picture(digest: str = "d") -> Image:
    return Image(media_type="image/png", digest=digest, fetch=lambda: b"png")


def test_an_image_is_its_content() -> None:
    assert picture() == picture()
    assert len({picture(), picture(), picture("e")}) == 2
    assert picture() != Image(media_type="image/gif", digest="d", fetch=lambda: b"png")
    assert picture() != "d"
    assert picture().data == b"png"
    assert "png" in repr(picture())
    assert in_key(picture()) == ("image/png", "d")
    with pytest.raises(NotImplementedError):
        in_key(object())


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: Message("system", "x", (picture(),)), "only a user message has images"),
        (lambda: Message("user", "x", calls=(CALL,)), "only an assistant message has calls"),
        (lambda: Message("tool", "x"), "a tool message, and no other"),
        (lambda: Message("user", "x", call_id="c"), "a tool message, and no other"),
        (lambda: Tool(name="t", description="", parameters="[]"), "the parameters of the tool 't'"),
        (lambda: JsonSchema(name="s", definition="{"), "the definition of the schema 's'"),
    ],
)
def test_what_no_provider_could_be_told_cannot_be_made(make: Callable[[], object], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        make()


def test_a_request_knows_its_images() -> None:
    talk = (Message("user", "a", (picture("1"), picture("2"))), Message("assistant", "b"), Message("user", "c"))
    assert [image.digest for image in ChatRequest(messages=talk, max_tokens=1).images] == ["1", "2"]


def test_text_is_encoded_as_it_always_was() -> None:
    request = ChatRequest(messages=(Message("user", "Hi?"),), max_tokens=5)
    assert msgspec.json.encode(request) == (
        b'{"messages":[{"role":"user","content":"Hi?"}],"max_tokens":5,"temperature":null,"seed":null}'
    )


@pytest.mark.parametrize(
    ("arguments", "clean"),
    [
        ('{"say": "key"}', '{"say": "…"}'),
        ('{"say": "k\\u0065y", "deep": [{"also": "a key"}]}', '{"say": "…", "deep": [{"also": "a …"}]}'),
        ('{"key": 1}', '{"…": 1}'),
        ('{"k\\u0065y": 1}', '{"…": 1}'),
        ('{"say": "ke', '{"say": "ke'),
        ('{"say": "k\\u0065y', '{"say": "…'),
        ('{"say": "half \\ud83c", "also": "k\\u0065y"}', '{"say": "half \ufffd", "also": "…"}'),
        ('{"say": "plain \\u0061"}', '{"say": "plain \\u0061"}'),
        ('{"say": "plain \\u0061', '{"say": "plain \\u0061'),
    ],
)
def test_calls_are_scrubbed_however_json_spells_a_secret(arguments: str, clean: str) -> None:
    call = ToolCall(id="c-key", name="f", arguments=arguments)
    reply = Reply(text="", usage=Usage(), calls=(call,)).scrubbed(lambda text: text.replace("key", "…"))
    assert reply.calls == (ToolCall(id="c-…", name="f", arguments=clean),)


def test_a_reply_with_clean_calls_is_the_same_reply() -> None:
    reply = Reply(text="", usage=Usage(), calls=(CALL,))
    assert reply.scrubbed(str) is reply
