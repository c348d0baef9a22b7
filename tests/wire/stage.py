"""A chat, the server that plays its provider, and what came of their talk.
Owns the port's place in what is compared; knows no dialect."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable

import pytest

from skillopt.domain.chat import ChatRequest, Message, Reply
from skillopt.domain.errors import ProviderError
from skillopt.kernel.ports import Chat
from tests.wire.raw_server import Act, RawServer

KEY = "sk-hunter2-hunter2"
REQUEST = ChatRequest(messages=(Message("system", "Be brief."), Message("user", "Say “hi”.")), max_tokens=64)
LONG_TALK = ChatRequest(
    messages=(
        Message("system", "Be brief."),
        Message("user", "Hi?"),
        Message("assistant", "Hi."),
        Message("user", "Why?"),
    ),
    max_tokens=64,
    temperature=0.5,
)


class Stage:
    """Asks once, against a server that does these acts; `make` gets the root of the server's address."""

    def __init__(self, make: Callable[[str], Chat], *acts: Act) -> None:
        self._make = make
        self._acts = acts
        self.requests: list[bytes] = []

    async def talk(self, *requests: ChatRequest) -> list[Reply]:
        """Ask these one after the other."""
        async with RawServer(*self._acts) as server:
            chat = self._make(server.base_url.removesuffix("/v1"))
            try:
                return [await chat.send(request) for request in requests]
            finally:
                await chat.close()
                self.requests = [request.replace(b":%d" % server.port, b":PORT") for request in server.requests]

    def reply(self, request: ChatRequest = REQUEST) -> Reply:
        """Return the reply."""
        return asyncio.run(self.talk(request))[0]

    def error(self, request: ChatRequest = REQUEST) -> ProviderError:
        """Return the error, which must be a provider's."""
        with pytest.raises(ProviderError) as caught:
            asyncio.run(self.talk(request))
        return caught.value

    @property
    def head(self) -> list[str]:
        """The lines of the first request before its body."""
        return self.requests[0].partition(b"\r\n\r\n")[0].decode().split("\r\n")

    @property
    def body(self) -> bytes:
        """The body of the first request."""
        return self.requests[0].partition(b"\r\n\r\n")[2]


def events(*values: dict[str, object], named: bool = True) -> bytes:
    """Return values as server-sent events, each under the name that is its `type`."""
    lines = [
        (f"event: {value['type']}\n" if named else "") + f"data: {json.dumps(value, ensure_ascii=False)}\n\n"
        for value in values
    ]
    return "".join(lines).encode()


def streamed(body: bytes) -> bytes:
    """Return a whole streamed reply that ends when the connection does."""
    return b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n" + body
