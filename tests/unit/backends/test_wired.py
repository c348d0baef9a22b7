"""WiredChat: what one attempt costs at worst and what a reply that is refused cost all the same."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from types import MappingProxyType

import pytest

from skillopt.backends.dialects.reply import Bill, Completion, Reading
from skillopt.backends.endpoint import Endpoint
from skillopt.backends.settings import ModelSettings
from skillopt.backends.wired import WiredChat
from skillopt.domain.chat import ChatRequest, Finish, Message, ModelIdentity
from skillopt.domain.errors import EmptyReplyError, ProviderError, RefusedError, TruncatedError
from skillopt.domain.usage import Price, Usage
from tests.wire.raw_server import Act, RawServer, reply

REQUEST = ChatRequest(messages=(Message("user", "Hi?"),), max_tokens=100)
BILL = Bill(input_tokens=10, cached_tokens=4, output_tokens=3)


class Plain:
    """A dialect in which everything was read already."""

    name = "plain"
    finishes: Mapping[str, Finish] = MappingProxyType(
        {"end": "stop", "cut": "length", "no": "filtered", "call": "tool"}
    )

    def __init__(self, reading: Reading) -> None:
        self.reading = reading

    def body(self, request: ChatRequest) -> bytes:
        return b"{}"

    def read(self, body: bytes) -> Reading:
        return self.reading


def chat(base_url: str, reading: Reading, price: Price | None = None) -> WiredChat:
    return WiredChat(
        ModelSettings(model="m", price=price, timeout=20.0),
        identity=ModelIdentity(backend="plain", address=base_url, model="m"),
        dialect=Plain(reading),
        endpoint=Endpoint(base_url, "/x", headers={}),
    )


@pytest.mark.parametrize(
    ("completion", "error"),
    [
        (Completion(text="Hal", finish="cut", bill=BILL), TruncatedError),
        (Completion(text="Hal", finish="no", bill=BILL), RefusedError),
        (Completion(text="", refusal="No.", finish="end", bill=BILL), RefusedError),
        (Completion(text="\n ", finish="end", bill=BILL), EmptyReplyError),
        (Completion(text="", finish="call", bill=BILL), EmptyReplyError),
    ],
)
def test_a_reply_that_is_no_answer_says_what_it_cost(completion: Completion, error: type[ProviderError]) -> None:
    async def scenario() -> None:
        async with RawServer(Act(reply(b"{}"))) as server:
            asked = chat(server.base_url, completion, Price(input=2.0, output=8.0))
            with pytest.raises(error) as caught:
                await asked.send(REQUEST)
            await asked.close()
            assert type(caught.value) is error
            assert caught.value.usage == Usage(
                calls=1, input_tokens=10, cached_tokens=4, output_tokens=3, nano_usd=44_000
            )

    asyncio.run(scenario())


@pytest.mark.parametrize(("finish", "told"), [("end", "stop"), ("call", "tool"), ("", "unknown"), ("new", "unknown")])
def test_words_are_an_answer_however_the_model_ended(finish: str, told: str) -> None:
    async def scenario() -> None:
        async with RawServer(Act(reply(b"{}"))) as server:
            asked = chat(server.base_url, Completion(text="Hi.", finish=finish, refusal="x"))
            got = await asked.send(REQUEST)
            await asked.close()
            assert (got.text, got.finish) == ("Hi.", told)
            assert got.usage == asked.worst(REQUEST)

    asyncio.run(scenario())


def test_the_worst_case_takes_the_dearest_way_to_read() -> None:
    for price, nano in (
        (Price(input=2.0, output=0.0), 2000),
        (Price(input=2.0, output=0.0, cache_write=2.5), 2500),
        (Price(input=2.0, output=0.0, cache_write=1.0), 2000),
    ):
        worst = chat("http://127.0.0.1:1", Completion(text=""), price).worst(REQUEST)
        assert worst.nano_usd == worst.input_tokens * nano
