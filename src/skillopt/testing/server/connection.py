"""HTTP/1.1 on one connection: reads requests and writes each reply with a single call.
Owns framing and the ways to break it; refuses to know what is asked."""

from __future__ import annotations

import asyncio
import socket
import struct
from collections.abc import Callable, Iterable

import httptools
import msgspec

_REASONS = {
    200: b"OK",
    400: b"Bad Request",
    401: b"Unauthorized",
    403: b"Forbidden",
    404: b"Not Found",
    429: b"Too Many Requests",
}
_OTHER_REASON = b"Scripted"
_RESET = struct.pack("ii", 1, 0)


class HttpRequest(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One request as it arrived."""

    method: str
    target: str
    headers: tuple[tuple[bytes, bytes], ...]
    body: bytes


class HttpReply(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One reply: a body, or the frames of an event stream."""

    status: int = 200
    body: bytes = b""
    frames: tuple[bytes, ...] | None = None
    headers: tuple[tuple[str, str], ...] = ()

    def encode(self) -> bytes:
        """Return the bytes of the reply."""
        if self.frames is None:
            return self._head(b"application/json", b"Content-Length: %d\r\n" % len(self.body)) + self.body
        head = self._head(b"text/event-stream", b"Transfer-Encoding: chunked\r\n")
        return head + b"".join(map(_chunk, self.frames)) + b"0\r\n\r\n"

    def encode_half(self) -> bytes:
        """Return the bytes up to the middle of the body: of a stream half the frames and half of the next."""
        whole = self.encode()
        if self.frames is None:
            return whole[: len(whole) - (len(self.body) + 1) // 2]
        middle = len(self.frames) // 2
        rest = sum(len(_chunk(frame)) for frame in self.frames[middle + 1 :]) + len(b"0\r\n\r\n")
        return whole[: len(whole) - rest - len(_chunk(self.frames[middle])) // 2]

    def _head(self, content_type: bytes, framing: bytes) -> bytes:
        more = b"".join(f"{name}: {value}\r\n".encode() for name, value in self.headers)
        reason = _REASONS.get(self.status, _OTHER_REASON)
        return b"HTTP/1.1 %d %s\r\nContent-Type: %s\r\n%s%s\r\n" % (self.status, reason, content_type, framing, more)


def _chunk(frame: bytes) -> bytes:
    return b"%x\r\n%s\r\n" % (len(frame), frame)


class Connection(asyncio.Protocol):
    """One client's connection. `handle` gets each whole request and may answer it at any later time."""

    def __init__(self, handle: Callable[[HttpRequest, Connection], None], opened: set[Connection]) -> None:
        self._handle = handle
        self._opened = opened
        self._parser = httptools.HttpRequestParser(self)
        self._transport: asyncio.Transport | None = None
        self._target: list[bytes] = []
        self._headers: list[tuple[bytes, bytes]] = []
        self._body: list[bytes] = []
        self.on_lost: Callable[[], None] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Take the transport."""
        if not isinstance(transport, asyncio.Transport):
            raise TypeError("a connection needs a stream transport")
        self._transport = transport
        self._opened.add(self)

    def connection_lost(self, exc: Exception | None) -> None:
        """Tell whoever is about to answer that nobody listens any more."""
        del exc
        self._transport = None
        self._opened.discard(self)
        lost, self.on_lost = self.on_lost, None
        if lost is not None:
            lost()

    def data_received(self, data: bytes) -> None:
        """Feed the parser."""
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserUpgrade:
            return
        except httptools.HttpParserError:
            self.write(HttpReply(status=400, body=b'{"error": {"message": "This is not HTTP/1.1."}}').encode())
            self.close()

    def on_message_begin(self) -> None:
        """Start a request."""
        self._target.clear()
        self._headers.clear()
        self._body.clear()

    def on_url(self, url: bytes) -> None:
        """Take a piece of the target."""
        self._target.append(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        """Take a header."""
        self._headers.append((name, value))

    def on_body(self, body: bytes) -> None:
        """Take a piece of the body."""
        self._body.append(body)

    def on_message_complete(self) -> None:
        """Hand the request on."""
        request = HttpRequest(
            method=self._parser.get_method().decode("ascii"),
            target=b"".join(self._target).decode("latin-1"),
            headers=tuple(self._headers),
            body=b"".join(self._body),
        )
        self._handle(request, self)

    def write(self, data: bytes) -> None:
        """Send bytes; nothing happens when the client has gone."""
        if self._transport is not None:
            self._transport.write(data)

    def close(self) -> None:
        """Close after what was written."""
        if self._transport is not None:
            self._transport.close()

    def reset(self) -> None:
        """Drop the connection the rude way, so that the client sees a reset."""
        if self._transport is None:
            return
        sock = self._transport.get_extra_info("socket")
        if sock is not None:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
        self._transport.abort()


def drop_all(connections: Iterable[Connection]) -> None:
    """Reset every connection."""
    for connection in tuple(connections):
        connection.reset()
