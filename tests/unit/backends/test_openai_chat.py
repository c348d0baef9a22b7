"""OpenAIChat without a network: where a key may go, what a request can cost at worst, and who it says it is."""

from __future__ import annotations

import msgspec
import pytest

from skillopt.backends.openai_chat import OpenAIChat, OpenAISettings
from skillopt.domain.chat import ChatRequest, Message
from skillopt.domain.errors import UsageError
from skillopt.domain.usage import Price, Usage

KEY = "sk-hunter2-hunter2"


PLAIN = OpenAISettings(base_url="https://api.example.com/v1", model="m-1")


def settings(**changes: object) -> OpenAISettings:
    return msgspec.structs.replace(PLAIN, **changes)


def test_the_worst_case_is_a_token_for_every_byte_and_every_token_that_may_be_written() -> None:
    request = ChatRequest(messages=(Message("system", "abc"), Message("user", "äöü\ud83d")), max_tokens=100)
    assert OpenAIChat(settings()).worst(request) == Usage(
        calls=1, input_tokens=64 + 16 + 3 + 16 + 9, cached_tokens=0, output_tokens=100
    )


def test_the_worst_case_has_a_price_when_the_model_has() -> None:
    request = ChatRequest(messages=(Message("user", "a" * 920),), max_tokens=1000)
    worst = OpenAIChat(settings(price=Price(input=2.0, cached=0.1, output=8.0))).worst(request)
    assert worst.nano_usd == 1000 * 2000 + 1000 * 8000


def test_identity_has_what_changes_the_answer_and_no_key() -> None:
    chat = OpenAIChat(
        settings(
            base_url="https://api.example.com/v1/", temperature=0.0, reasoning_effort="low", extra_body={"b": 1, "a": 2}
        ),
        api_key=KEY,
    )
    assert chat.identity.backend == "openai"
    assert chat.identity.address == "https://api.example.com/v1"
    assert chat.identity.model == "m-1"
    assert chat.identity.sampling == (
        '{"extra_body":{"a":2,"b":1},"max_tokens_field":"max_tokens","reasoning_effort":"low","temperature":0.0}'
    )
    assert OpenAIChat(settings(alias="lab")).identity.address == "lab"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({}, {"temperature": 0.0}),
        ({"temperature": 0.0}, {"temperature": 0.1}),
        ({}, {"seed": 0}),
        ({}, {"reasoning_effort": "high"}),
        ({}, {"max_tokens_field": "max_completion_tokens"}),
        ({"extra_body": {"a": 1}}, {"extra_body": {"a": 2}}),
        ({}, {"model": "m-2"}),
        ({}, {"base_url": "https://api.example.com/v2"}),
    ],
)
def test_another_way_of_asking_is_another_identity(one: dict[str, object], other: dict[str, object]) -> None:
    assert OpenAIChat(settings(**one)).identity != OpenAIChat(settings(**other)).identity


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"extra_body": {"a": 1, "b": 2}}, {"extra_body": {"b": 2, "a": 1}}),
        ({}, {"timeout": 5.0, "stream": True, "stall_seconds": 1.0, "price": Price(input=1, output=1)}),
        ({}, {"max_tokens": 7}),
    ],
)
def test_what_cannot_change_the_answer_is_no_part_of_the_identity(
    one: dict[str, object], other: dict[str, object]
) -> None:
    assert OpenAIChat(settings(**one)).identity == OpenAIChat(settings(**other)).identity


@pytest.mark.parametrize(
    "field", ["model", "messages", "max_tokens", "temperature", "seed", "stream", "stream_options"]
)
def test_extra_body_cannot_say_what_a_setting_says(field: str) -> None:
    with pytest.raises(UsageError, match=field):
        OpenAIChat(settings(extra_body={field: 1}))


@pytest.mark.parametrize("name", ["Authorization", "host", "Content-Length", "transfer-encoding"])
def test_headers_cannot_take_the_place_of_ours(name: str) -> None:
    with pytest.raises(UsageError, match=name):
        OpenAIChat(settings(headers={name: "hunter2"}))


def test_no_repr_shows_a_secret() -> None:
    shown = settings(headers={"x-gateway-key": KEY})
    assert "hunter2" not in repr(shown)
    assert "hunter2" not in repr(OpenAIChat(shown, api_key=KEY))
    assert "hunter2" not in repr(OpenAIChat(shown, api_key=KEY).identity)
