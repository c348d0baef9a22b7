"""One HTTP/1.1 connection: a request is written, its reply is parsed as it arrives, one exchange at a time.
Owns framing, the size limit, the deadline and the stall watchdog; refuses to know pools, hosts, keys and JSON."""

from __future__ import annotations

import asyncio
from typing import cast

import msgspec
from httptools import HttpParserError, HttpParserUpgrade, HttpResponseParser

BODYLESS = (204, 304)


class Response(msgspec.Struct, frozen=True, gc=False):
    """A whole reply; headers stay as they came until somebody asks for one."""

    status: int
    headers: tuple[tuple[bytes, bytes], ...]
    body: bytes

    def header(self, name: str) -> str | None:
        """Return the first header of this lower-case name, or None."""
        wanted = name.encode("ascii")
        for key, value in self.headers:
            if key.lower() == wanted:
                return value.decode("latin-1")
        return None


class Patience(msgspec.Struct, frozen=True):
    """How long to wait: `total` seconds for everything, `stall` for the next piece of a reply that has begun."""

    total: float
    stall: float | None = None


class ExchangeError(Exception):
    """An exchange ended without a reply."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class Connection(asyncio.Protocol):
    """A socket with its parser. `ask` starts an exchange; `reusable` says whether another may follow."""

    def __init__(self, loop: asyncio.AbstractEventLoop, size_limit: int) -> None:
        self.gone: asyncio.Future[None] = loop.create_future()
        self.idle_since = loop.time()
        self._loop = loop
        self._size_limit = size_limit
        self._transport: asyncio.Transport | None = None
        self._parser: HttpResponseParser | None = HttpResponseParser(self)
        self._timer: asyncio.TimerHandle | None = None
        self._waiter: asyncio.Future[Response] | None = None
        self._keep = False
        self._patience = Patience(0.0)
        self._deadline = 0.0
        self._heard = 0.0
        self._received = 0
        self._status = 0
        self._whole = False
        self._surplus = False
        self._headers: list[tuple[bytes, bytes]] = []
        self._pieces: list[bytes] = []

    @property
    def reusable(self) -> bool:
        """Whether the last exchange is over and the peer lets the connection stay open."""
        return self._keep and self._waiter is None and self._transport is not None and not self._transport.is_closing()

    def ask(self, data: bytes, patience: Patience, deadline: float) -> asyncio.Future[Response]:
        """Write a whole request at once and return the future of its reply; it fails with an ExchangeError."""
        self._waiter = waiter = self._loop.create_future()
        self._patience = patience
        self._deadline = deadline
        self._begin()
        if self._transport is None or self._transport.is_closing():
            self._fail("closed the connection before the request was sent")
            return waiter
        self._arm(deadline)
        self._transport.write(data)
        return waiter

    def abort(self) -> None:
        """Close at once, whatever is under way; `gone` resolves when the socket is closed."""
        self._keep = False
        if self._transport is not None:
            self._transport.abort()

    # What asyncio calls.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Take the transport."""
        self._transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        """Feed the parser, and hand over the reply once it is whole."""
        if self._waiter is None:
            self.abort()  # bytes that nobody asked for: whatever they are, they must not answer the next request
            return
        if self._patience.stall is not None:
            self._heard = self._loop.time()
            if not self._received:
                self._arm(min(self._deadline, self._heard + self._patience.stall))
        self._received += len(data)
        if self._received > self._size_limit:
            self._fail(f"sent more than {self._size_limit} bytes")
            return
        try:
            cast("HttpResponseParser", self._parser).feed_data(data)
        except (HttpParserError, HttpParserUpgrade):
            self._keep = False
            if not self._whole:
                self._fail("answered with something that is not HTTP/1.1")
                return
        if self._whole:
            self._succeed()

    def connection_lost(self, exc: Exception | None) -> None:
        """End the exchange under way: with its reply when only the closing marks its end, with an error otherwise."""
        if self._timer is not None:
            self._timer.cancel()
        if self._waiter is not None:
            if exc is None and self._ends_at_close():
                self._keep = False
                self._succeed()
            elif self._received:
                self._fail("closed the connection in the middle of its reply")
            else:
                self._fail("closed the connection without a reply")
        self._transport = None
        self._parser = None  # the parser holds this object's methods: leave no cycle behind
        if not self.gone.done():
            self.gone.set_result(None)

    # What httptools calls.

    def on_message_begin(self) -> None:
        """Notice a second reply in answer to one request."""
        if self._whole:
            self._surplus = True

    def on_header(self, name: bytes, value: bytes) -> None:
        """Keep a header as it came."""
        if not self._whole:
            self._headers.append((name, value))

    def on_headers_complete(self) -> None:
        """Take the status."""
        if not self._whole:
            self._status = cast("HttpResponseParser", self._parser).get_status_code()

    def on_body(self, body: bytes) -> None:
        """Keep a piece of the body."""
        if not self._whole:
            self._pieces.append(body)

    def on_message_complete(self) -> None:
        """Note that the reply is whole, unless it only announces another."""
        if self._whole:
            return
        if self._status < 200:
            self._headers.clear()
            self._status = 0
            return
        self._whole = True
        self._keep = cast("HttpResponseParser", self._parser).should_keep_alive()

    # The exchange.

    def _begin(self) -> None:
        self._received = 0
        self._status = 0
        self._whole = False
        self._surplus = False
        self._headers = []
        self._pieces = []

    def _ends_at_close(self) -> bool:
        if self._status < 200 or self._status in BODYLESS:
            return False
        framing = {name.lower() for name, _ in self._headers}
        return b"content-length" not in framing and b"transfer-encoding" not in framing

    def _succeed(self) -> None:
        pieces = self._pieces
        body = pieces[0] if len(pieces) == 1 else b"".join(pieces)
        waiter, self._waiter = self._waiter, None
        self.idle_since = self._loop.time()
        if self._surplus or not self._keep:
            self.abort()
        if waiter is not None and not waiter.done():
            waiter.set_result(Response(self._status, tuple(self._headers), body))

    def _fail(self, reason: str) -> None:
        waiter, self._waiter = self._waiter, None
        self.abort()
        if waiter is not None and not waiter.done():
            waiter.set_exception(ExchangeError(reason))

    # The watchdog. One timer serves many exchanges: it is moved only when it would ring too late, and when it rings
    # early it is set again. A timer for each request would cost more than parsing the reply.

    def _arm(self, due: float) -> None:
        if self._timer is not None:
            if self._timer.when() <= due:
                return
            self._timer.cancel()
        self._timer = self._loop.call_at(due, self._look)

    def _look(self) -> None:
        self._timer = None
        if self._waiter is None:
            return
        due, stall = self._deadline, self._patience.stall
        if stall is not None and self._received:
            due = min(due, self._heard + stall)
        now = self._loop.time()
        if now < due:
            self._arm(due)
        elif now < self._deadline:
            self._fail(f"fell silent for {stall:g} s in the middle of its reply")
        else:
            did_not = "finish its reply" if self._received else "answer"
            self._fail(f"did not {did_not} within {self._patience.total:g} s")
