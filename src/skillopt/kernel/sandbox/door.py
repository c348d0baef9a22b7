"""This side of a sandbox's only way out: a socket whose every connection is led to the one place that is allowed.
Owns where it leads and refuses all else; refuses to know what is said on the way."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import msgspec

from skillopt.kernel.sandbox.confinement import Door

PROXY_PORT = 3128
_FIRST_FREE, _BEYOND = 1024, 20_000
_PIECE = 1 << 16
_LONGEST_HEAD = 8192
_PATIENCE = 30.0  # seconds for a connection to be made

Stream = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class Forwarded(msgspec.Struct, frozen=True, kw_only=True):
    """The program's own loopback leads to this port of this host: for a server that is spoken to without TLS.

    `inside` is the port on the program's side: the same one, unless only the system's own programs may take it.
    """

    host: str
    port: int

    @property
    def inside(self) -> int:
        """The port that the program sends to."""
        return self.port if self.port >= _FIRST_FREE else self.port + _BEYOND


class Proxied(msgspec.Struct, frozen=True, kw_only=True):
    """The program reaches these hosts and ports by TLS, through a proxy that knows no other; its words stay sealed."""

    places: tuple[tuple[str, int], ...]


Way = Forwarded | Proxied


@asynccontextmanager
async def opened_door(way: Way) -> AsyncIterator[Door]:
    """Keep a door open for as long as the block lasts."""
    port = way.inside if isinstance(way, Forwarded) else PROXY_PORT
    talks: set[asyncio.Task[None]] = set()

    def welcome(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Lead a connection on, beside the others."""
        talk = asyncio.ensure_future(_led((reader, writer), way))
        talks.add(talk)
        talk.add_done_callback(talks.discard)
        talk.add_done_callback(lambda _: writer.close())  # also of a talk that was ended before it began

    with tempfile.TemporaryDirectory(prefix="skillopt-door-") as folder:
        socket = Path(folder) / "door"
        server = await asyncio.start_unix_server(welcome, socket)
        try:
            yield Door(port=port, socket=socket)
        finally:
            server.close()
            for talk in talks:
                talk.cancel()
            await asyncio.gather(*talks, return_exceptions=True)


async def _led(near: Stream, way: Way) -> None:
    """Lead one connection to where it may go, until one side ends it."""
    far: Stream | None = None
    try:
        place = (way.host, way.port) if isinstance(way, Forwarded) else await _asked(near, way.places)
        if place is not None:
            async with asyncio.timeout(_PATIENCE):
                far = await asyncio.open_connection(*place)
            if isinstance(way, Proxied):
                near[1].write(b"HTTP/1.1 200 Connection established\r\n\r\n")
            await asyncio.gather(_pass(near[0], far[1]), _pass(far[0], near[1]))
    except (OSError, TimeoutError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
        return  # who asked sees a connection that broke, as without a door
    finally:
        if far is not None:
            far[1].close()


async def _asked(near: Stream, places: tuple[tuple[str, int], ...]) -> tuple[str, int] | None:
    """Read whom the program wants to be led to, and refuse anybody who is not on the list."""
    head = await near[0].readuntil(b"\r\n\r\n")
    words = head[:_LONGEST_HEAD].decode("latin-1").split(" ", 2)
    wanted = words[1].casefold() if len(words) == 3 and words[0] == "CONNECT" else ""
    for host, port in places:
        if wanted == f"{host}:{port}":
            return host, port
    near[1].write(b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
    with suppress(OSError):
        await near[1].drain()
    return None


async def _pass(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while piece := await reader.read(_PIECE):
            writer.write(piece)
            await writer.drain()
    finally:
        if not writer.is_closing():
            with suppress(OSError):
                writer.write_eof()
