from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from skillopt.kernel.sandbox import Forwarded, Proxied, opened_door

Serve = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@asynccontextmanager
async def server(serve: Serve) -> AsyncIterator[int]:
    listening = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with listening:
        yield listening.sockets[0].getsockname()[1]


async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.write(b"said " + await reader.read())
    writer.close()


async def said(socket: Path, words: bytes, *, then: bytes = b"") -> bytes:
    reader, writer = await asyncio.open_unix_connection(socket)
    writer.write(words)
    head = b""
    if then:
        head = await reader.readuntil(b"\r\n\r\n")
        writer.write(then)
    writer.write_eof()
    rest = await reader.read()
    writer.close()
    return head + rest


def test_what_is_sent_to_a_door_reaches_its_one_place() -> None:
    async def scene() -> tuple[int, int, bytes]:
        async with server(echo) as port, opened_door(Forwarded(host="127.0.0.1", port=port)) as door:
            return port, door.port, await said(door.socket, b"hello")

    port, inside, answer = asyncio.run(scene())
    assert inside == port
    assert answer == b"said hello"


def test_a_proxy_leads_to_the_places_on_its_list_and_to_no_other() -> None:
    async def scene() -> tuple[bytes, list[bytes]]:
        async with (
            server(echo) as port,
            server(echo) as other,
            opened_door(Proxied(places=(("localhost", port),))) as door,
        ):
            led = await said(door.socket, f"CONNECT localhost:{port} HTTP/1.1\r\n\r\n".encode(), then=b"hello")
            heads = (
                f"CONNECT localhost:{other} HTTP/1.1",
                f"CONNECT 127.0.0.1:{port} HTTP/1.1",
                f"GET http://localhost:{port}/ HTTP/1.1",
                "nonsense",
            )
            return led, [await said(door.socket, f"{head}\r\n\r\n".encode()) for head in heads]

    led, refused = asyncio.run(scene())
    assert led == b"HTTP/1.1 200 Connection established\r\n\r\nsaid hello"
    assert all(answer.startswith(b"HTTP/1.1 403 ") for answer in refused)


def test_a_place_that_does_not_answer_ends_the_connection_and_not_the_door() -> None:
    async def scene() -> tuple[bytes, bytes]:
        async with server(echo) as port:
            pass
        async with opened_door(Forwarded(host="127.0.0.1", port=port)) as door:
            return await said(door.socket, b"one"), await said(door.socket, b"two")

    assert asyncio.run(scene()) == (b"", b"")


def test_a_door_is_gone_with_its_connections_when_its_block_ends() -> None:
    async def scene() -> tuple[bool, bytes]:
        hold = asyncio.Event()

        async def silent(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            writer.write(b"here")
            await hold.wait()
            writer.close()

        async with server(silent) as port:
            async with opened_door(Forwarded(host="127.0.0.1", port=port)) as door:
                reader, writer = await asyncio.open_unix_connection(door.socket)
                greeting = await reader.readexactly(4)
            rest = await reader.read()
            hold.set()
            writer.close()
            return door.socket.exists(), greeting + rest

    assert asyncio.run(scene()) == (False, b"here")
