"""A server that says exactly the bytes it is given, for what a well-behaved server cannot be made to do.
Owns the socket and a record of what arrived; knows nothing of what is asked."""

from __future__ import annotations

import asyncio
import socket
import ssl
import struct
from types import TracebackType
from typing import Literal

import msgspec

Ending = Literal["keep", "close", "reset", "hang"]


class Act(msgspec.Struct, frozen=True):
    """What is done about one request: bytes are said, and then the connection is kept, closed, reset or left silent."""

    says: bytes = b""
    then: Ending = "keep"


def reply(body: bytes, status: int = 200, headers: bytes = b"") -> bytes:
    """Return a whole reply."""
    return b"HTTP/1.1 %d Scripted\r\nContent-Length: %d\r\n%b\r\n%b" % (status, len(body), headers, body)


class RawServer:
    """Meets the n-th request with the n-th act, and every later one with the last act."""

    def __init__(self, *acts: Act, tls: ssl.SSLContext | None = None) -> None:
        self.requests: list[bytes] = []
        self.connections = 0
        self.asked = asyncio.Event()
        self.left = asyncio.Event()
        self._acts = acts
        self._tls = tls
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self.port = 0

    async def __aenter__(self) -> RawServer:
        self._server = await asyncio.start_server(self._meet, "127.0.0.1", 0, ssl=self._tls)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._server is not None:
            self._server.close()
        for task in tuple(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    @property
    def base_url(self) -> str:
        """The address that a client is given."""
        return f"http://127.0.0.1:{self.port}/v1"

    async def _meet(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        self.connections += 1
        try:
            while await self._serve(reader, writer):
                pass
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            self.left.set()
            writer.transport.abort()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        head = await reader.readuntil(b"\r\n\r\n")
        length = int(head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0])
        body = await reader.readexactly(length)
        act = self._acts[min(len(self.requests), len(self._acts) - 1)]
        self.requests.append(head + body)
        self.asked.set()
        writer.write(act.says)
        await writer.drain()
        if act.then == "hang":
            await reader.read()
        if act.then == "reset":
            sock: socket.socket = writer.get_extra_info("socket")
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        return act.then == "keep"
