from __future__ import annotations

import asyncio
import signal
import socket
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from skillopt.kernel.process import Finished, run_process
from skillopt.kernel.sandbox import relay

RELAY = str(Path(relay.__file__))
SENDS = """
import socket, sys
port, size = map(int, sys.argv[1:])
near = socket.create_connection(("127.0.0.1", port))
near.sendall(bytes(range(256)) * size)
near.shutdown(socket.SHUT_WR)
got = b""
while piece := near.recv(65536):
    got += piece
print(len(got), got == (bytes(range(256)) * size)[::-1])
"""


async def backwards(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.write((await reader.read())[::-1])
    await writer.drain()
    writer.close()


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as held:
        return int(held.getsockname()[1])


def relayed(
    folder: Path,
    *command: str,
    port: int,
    serve: Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]] | None = backwards,
) -> Finished:
    """Run a program behind the relay; with `serve` somebody holds the socket."""

    async def scene() -> Finished:
        server = None if serve is None else await asyncio.start_unix_server(serve, folder / "door")
        try:
            return await run_process(
                (sys.executable, "-I", "-S", RELAY, str(port), str(folder / "door"), "--", *command),
                cwd=folder,
                env={"PATH": "/usr/bin:/bin"},
                stdin=b"",
                deadline=60.0,
                output_limit=1 << 16,
            )
        finally:
            if server is not None:
                server.close()

    return asyncio.run(scene())


@pytest.mark.parametrize("code", [0, 1, 7, 255])
def test_it_ends_as_its_program_ended(tmp_path: Path, code: int) -> None:
    finished = relayed(tmp_path, "sh", "-c", f"echo out; echo err >&2; exit {code}", port=free_port())
    assert (finished.exit_code, finished.stdout, finished.stderr) == (code, b"out\n", b"err\n")


def test_a_program_that_a_signal_ended_shows_it_as_a_shell_would(tmp_path: Path) -> None:
    finished = relayed(tmp_path, "sh", "-c", "kill -KILL $$", port=free_port())
    assert finished.exit_code == 128 + signal.SIGKILL


def test_a_program_that_is_not_there_cannot_start(tmp_path: Path) -> None:
    finished = relayed(tmp_path, "no-such-program", port=free_port())
    assert (finished.exit_code, finished.stderr) == (126, b"sandbox: No such file or directory: no-such-program\n")


@pytest.mark.parametrize("size", [1, 8192])
def test_what_is_sent_to_its_port_goes_to_the_socket_and_back_byte_for_byte(tmp_path: Path, size: int) -> None:
    port = free_port()
    finished = relayed(tmp_path, sys.executable, "-c", SENDS, str(port), str(size), port=port)
    assert (finished.stdout, finished.stderr) == (f"{256 * size} True\n".encode(), b"")


def test_where_nobody_holds_the_socket_a_connection_ends_and_the_program_goes_on(tmp_path: Path) -> None:
    port = free_port()
    code = (
        "import socket\n"
        "def tried():\n"
        f"    near = socket.create_connection(('127.0.0.1', {port}))\n"
        "    try:\n        return near.recv(1)\n"
        "    except ConnectionError:\n        return b''\n"
        "print(tried(), tried())\n"
    )
    finished = relayed(tmp_path, sys.executable, "-c", code, port=port, serve=None)
    assert (finished.exit_code, finished.stdout) == (0, b"b'' b''\n")
