from __future__ import annotations

import asyncio
import json
import socket

import pytest

from skillopt.domain.errors import UsageError
from skillopt.testing.server import ScriptedServer, Settings, serve_in_thread


async def post(server: ScriptedServer, path: str, body: object) -> bytes:
    reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
    data = json.dumps(body).encode()
    writer.write(f"POST {path} HTTP/1.1\r\nHost: x\r\nContent-Length: {len(data)}\r\n\r\n".encode() + data)
    head = await reader.readuntil(b"\r\n\r\n")
    length = next(int(line[16:]) for line in head.split(b"\r\n") if line.startswith(b"Content-Length: "))
    reply = await reader.readexactly(length)
    writer.close()
    return reply


def test_the_server_runs_inside_a_loop_and_plays_its_default_scenario() -> None:
    async def main() -> tuple[bytes, int, str]:
        async with ScriptedServer(Settings(scenario="echo")) as server:
            body = {"model": "m", "messages": [{"role": "user", "content": "hello"}]}
            reply = await post(server, "/v1/chat/completions", body)
            return reply, server.stats("echo")["target"].served, server.url("rules")

    reply, served, url = asyncio.run(main())
    assert json.loads(reply)["choices"][0]["message"]["content"] == "hello"
    assert served == 1
    assert url.startswith("http://127.0.0.1:")
    assert url.endswith("/s/rules/v1")


def test_leaving_drops_who_is_waiting_and_frees_the_port() -> None:
    async def main() -> int:
        async with ScriptedServer(Settings(scenario="echo,kinds=hang")) as server:
            body = {"model": "m", "messages": []}
            waiting = asyncio.create_task(post(server, "/v1/chat/completions", body))
            for _ in range(10_000):
                await asyncio.sleep(0)
                if server.stats("echo,kinds=hang"):
                    break
        with pytest.raises((ConnectionResetError, asyncio.IncompleteReadError)):
            await waiting
        return server.port

    port = asyncio.run(main())
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", port), timeout=1)


def test_a_default_scenario_nobody_knows_is_refused_at_the_start() -> None:
    with pytest.raises(UsageError, match="Did you mean 'rules'"):
        ScriptedServer(Settings(scenario="rulse"))
    with pytest.raises(UsageError), serve_in_thread(Settings(scenario="rulse")):
        pass


def test_a_port_that_is_taken_is_an_error_and_not_a_hang() -> None:
    with serve_in_thread() as first, pytest.raises(OSError, match="in use"), serve_in_thread(port=first.port):
        pass
