from __future__ import annotations

import pytest

from skillopt.domain.chat import ModelIdentity, Reply, without_halves
from skillopt.domain.usage import Usage

REPLY = Reply(text="the key is abc", usage=Usage(calls=1), model="m", request_id="r", seconds=2.0)


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
