"""The model server that every speed is measured on: one asyncio process on loopback, one write per reply.
Owns framing, latency, counts and the hidden-rules target; the optimizer's answers are the test kit's."""

from __future__ import annotations

import argparse
import asyncio
import base64
import os
import re
import socket
import sys
import time
from collections import deque
from collections.abc import Callable
from typing import cast

import msgspec

from skillopt.domain.chat import ChatRequest, Message
from skillopt.testing.brains import brain_named
from skillopt.testing.conversation import conversation_of
from skillopt.testing.worlds import HIDDEN_RULES

_HOST = "127.0.0.1"
_BACKLOG = 4096
_LENGTH = re.compile(rb"content-length: *(\d+)", re.IGNORECASE)
_MODEL = re.compile(rb'"model": ?"([^"]*)"')
_SENTENCES = {rule.name.encode(): rule.sentence.encode() for rule in HIDDEN_RULES.rules}
_REPLY = (
    b'{"id":"stub","object":"chat.completion","created":0,"model":"stub","choices":[{"index":0,"message":'
    b'{"role":"assistant","content":%b},"finish_reason":"stop"}],'
    b'"usage":{"prompt_tokens":%d,"completion_tokens":%d,"total_tokens":%d}}'
)


class RoleStats(msgspec.Struct):
    """What one role was asked: times are seconds since 1970, of the first request and the last reply."""

    calls: int = 0
    in_flight: int = 0
    max_in_flight: int = 0
    first: float = 0.0
    last: float = 0.0


class _Body(msgspec.Struct):
    model: str
    messages: list[Message]
    max_tokens: int = 4096


class Desk:
    """Answers the requests of one role, each a fixed time after it came: one queue, so one timer at a time."""

    def __init__(self, answer: Callable[[bytes], bytes], latency: float) -> None:
        self.stats = RoleStats()
        self._answer = answer
        self._latency = latency
        self._due: deque[tuple[float, asyncio.Transport, bytes]] = deque()

    def ask(self, body: bytes, transport: asyncio.Transport) -> None:
        """Count a request and answer it when it is time."""
        stats = self.stats
        stats.calls += 1
        stats.in_flight += 1
        stats.max_in_flight = max(stats.max_in_flight, stats.in_flight)
        if stats.calls == 1:
            stats.first = time.time()
        if self._latency <= 0:
            self._reply(transport, self._answer(body))
            return
        loop = asyncio.get_running_loop()
        due = loop.time() + self._latency
        if not self._due:
            loop.call_at(due, self._serve)
        self._due.append((due, transport, self._answer(body)))

    def _serve(self) -> None:
        loop = asyncio.get_running_loop()
        now = loop.time()
        while self._due and self._due[0][0] <= now:
            _, transport, data = self._due.popleft()
            self._reply(transport, data)
        if self._due:
            loop.call_at(self._due[0][0], self._serve)

    def _reply(self, transport: asyncio.Transport, data: bytes) -> None:
        self.stats.in_flight -= 1
        self.stats.last = time.time()
        transport.write(data)


class Connection(asyncio.Protocol):
    """One client: requests come one after the other, and are cut out of what arrives."""

    def __init__(self, target: Desk, optimizer: Desk) -> None:
        self._target = target
        self._optimizer = optimizer
        self._transport: asyncio.Transport | None = None
        self._buffer = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Take the transport."""
        self._transport = cast("asyncio.Transport", transport)
        self._transport.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def data_received(self, data: bytes) -> None:
        """Answer every request that is whole."""
        self._buffer = data = self._buffer + data if self._buffer else data
        while (end := data.find(b"\r\n\r\n")) >= 0:
            length = _LENGTH.search(data, 0, end)
            size = end + 4 + (0 if length is None else int(length[1]))
            if len(data) < size:
                return
            self._handle(data[:end], data[end + 4 : size])
            self._buffer = data = data[size:]

    def _handle(self, head: bytes, body: bytes) -> None:
        transport = cast("asyncio.Transport", self._transport)
        if head.startswith(b"GET "):
            stats = {"target": self._target.stats, "optimizer": self._optimizer.stats}
            transport.write(_framed(msgspec.json.encode(stats)))
            return
        model = _MODEL.search(body)
        desk = self._optimizer if model is not None and b"opt" in model[1] else self._target
        desk.ask(body, transport)


def target_reply(body: bytes) -> bytes:
    """Answer as the target of the hidden-rules world: right iff every rule that the task needs was sent word by word.

    The sentences and tags are plain ASCII, so they are looked for in the JSON itself.
    """
    tag = body.rfind(b"[ref: ")
    if tag < 0:
        return _completion(b'"There is no case here to settle."', len(body))
    hidden = body[tag + 6 : body.index(b"]", tag)].decode()
    reference = base64.b32decode(hidden + "=" * (-len(hidden) % 8))
    needs = body.rfind(b"[needs: ")
    for name in body[needs + 8 : body.index(b"]", needs)].split(b", ") if needs >= 0 else ():
        if _SENTENCES[name] not in body:
            words = b'"I am not sure about this one. [violated: %b]\\n<answer>%b</answer>"' % (name, reference[:-2])
            return _completion(words, len(body))
    return _completion(b'"<answer>%b</answer>"' % reference, len(body))


def optimizer_reply(body: bytes) -> bytes:
    """Answer as the optimizer of the hidden-rules world."""
    asked = msgspec.json.decode(body, type=_Body)
    request = ChatRequest(messages=tuple(asked.messages), max_tokens=asked.max_tokens)
    said = brain_named("hidden-rules")(conversation_of(request, asked.model))
    return _completion(msgspec.json.encode(said.text), len(body))


def _completion(text: bytes, size: int) -> bytes:
    read, written = size // 4, len(text) // 4
    return _framed(_REPLY % (text, read, written, read + written))


def _framed(body: bytes) -> bytes:
    return b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body)


async def _serve(latency: float, optimizer_latency: float) -> None:
    target, optimizer = Desk(target_reply, latency), Desk(optimizer_reply, optimizer_latency)
    server = await asyncio.get_running_loop().create_server(
        lambda: Connection(target, optimizer), _HOST, 0, backlog=_BACKLOG
    )
    sys.stdout.write(f"{server.sockets[0].getsockname()[1]}\n")
    sys.stdout.flush()
    parent = os.getppid()
    while os.getppid() == parent:  # noqa: ASYNC110 - whoever started it ends without an event: then so does its use
        await asyncio.sleep(1.0)


def main() -> None:
    """Serve until interrupted, or until the process that started this one ends."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.stub", description=__doc__)
    parser.add_argument("--latency", type=float, default=0.0, help="seconds before every reply of the target")
    parser.add_argument("--optimizer-latency", type=float, default=0.0, help="the same for the optimizer")
    flags = parser.parse_args()
    asyncio.run(_serve(flags.latency, flags.optimizer_latency))


if __name__ == "__main__":
    main()
