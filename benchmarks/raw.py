"""The raw asyncio client that ours is measured against: the least that can speak HTTP/1.1 to the stub.
Each connection sends the same bytes again as soon as its reply is whole; no futures, no JSON, no journal."""

from __future__ import annotations

import asyncio
import functools
import re
from typing import cast

_LENGTH = re.compile(rb"content-length: *(\d+)", re.IGNORECASE)


class _Connection(asyncio.Protocol):
    """One connection, and the number of requests that all of them together still have to send."""

    def __init__(self, request: bytes, left: list[int], done: asyncio.Future[None]) -> None:
        self._request = request
        self._left = left
        self._done = done
        self._transport: asyncio.Transport | None = None
        self._buffer = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Take the transport."""
        self._transport = cast("asyncio.Transport", transport)

    def start(self) -> None:
        """Send the next request, or end when there is none."""
        if self._left[0] <= 0:
            self._done.set_result(None)
            return
        self._left[0] -= 1
        cast("asyncio.Transport", self._transport).write(self._request)

    def data_received(self, data: bytes) -> None:
        """Go on when the reply is whole."""
        self._buffer = data = self._buffer + data if self._buffer else data
        end = data.find(b"\r\n\r\n")
        if end < 0:
            return
        length = _LENGTH.search(data, 0, end)
        if length is not None and len(data) >= end + 4 + int(length[1]):
            self._buffer = b""
            self.start()


async def ask(port: int, body: bytes, *, calls: int, concurrency: int) -> None:
    """Send so many requests with this body, so many at once."""
    head = (
        f"POST /v1/chat/completions HTTP/1.1\r\nhost: 127.0.0.1:{port}\r\nuser-agent: raw\r\n"
        f"accept-encoding: identity\r\ncontent-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n"
    )
    loop = asyncio.get_running_loop()
    left = [calls]
    request = head.encode() + body
    ends = [loop.create_future() for _ in range(concurrency)]
    opened = await asyncio.gather(
        *(loop.create_connection(functools.partial(_Connection, request, left, end), "127.0.0.1", port) for end in ends)
    )
    for _, connection in opened:
        connection.start()
    await asyncio.gather(*ends)
    for transport, _ in opened:
        transport.close()
