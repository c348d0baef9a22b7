"""The HTTP client on real sockets: when connections are kept, when a request is sent again, and when it is given up."""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from skillopt.backends.connection import Patience, Response
from skillopt.backends.http import HttpClient, parse_url, request_head
from skillopt.domain.errors import NotInstalledError, UnavailableError
from skillopt.kernel.process import run_process
from tests.wire.raw_server import Act, Ending, RawServer, reply

PATIENT = Patience(30.0)
FINE = Act(reply(b"fine"))
LATER = 3600.0


async def post(client: HttpClient, server: RawServer, patience: Patience = PATIENT, body: bytes = b"ask") -> Response:
    return await client.request(request_head("POST", parse_url(server.base_url), "/x", {}), body, patience)


def play(
    *acts: Act,
    scene: Callable[[HttpClient, RawServer], Awaitable[None]],
    longest_rest: float = LATER,
    size_limit: int = 1000,
) -> None:
    async def whole() -> None:
        async with RawServer(*acts) as server:
            client = HttpClient(parse_url(server.base_url), longest_rest=longest_rest, size_limit=size_limit)
            try:
                await scene(client, server)
            finally:
                await client.close()

    asyncio.run(whole())


def test_requests_one_after_another_share_one_connection() -> None:
    async def scene(client: HttpClient, server: RawServer) -> None:
        for _ in range(20):
            assert (await post(client, server)).body == b"fine"
        assert (server.connections, len(server.requests)) == (1, 20)

    play(FINE, scene=scene)


def test_requests_at_once_have_a_connection_each_and_keep_them() -> None:
    async def scene(client: HttpClient, server: RawServer) -> None:
        for _ in range(3):
            await asyncio.gather(*(post(client, server) for _ in range(5)))
        assert (server.connections, len(server.requests)) == (5, 15)

    play(FINE, scene=scene)


@pytest.mark.parametrize(
    "closing",
    [
        reply(b"fine", headers=b"Connection: close\r\n"),
        b"HTTP/1.0 200 OK\r\nContent-Length: 4\r\n\r\nfine",
        b"HTTP/1.1 200 OK\r\n\r\nfine",
    ],
)
def test_a_connection_that_ends_is_not_used_again(closing: bytes) -> None:
    async def scene(client: HttpClient, server: RawServer) -> None:
        for _ in range(3):
            assert (await post(client, server)).body == b"fine"
        assert (server.connections, len(server.requests)) == (3, 3)

    play(Act(closing, "close"), scene=scene)


def test_a_connection_that_rested_too_long_is_not_used_again() -> None:
    async def scene(client: HttpClient, server: RawServer) -> None:
        for _ in range(3):
            assert (await post(client, server)).body == b"fine"
        assert (server.connections, len(server.requests)) == (3, 3)

    play(FINE, scene=scene, longest_rest=0.0)


@pytest.mark.parametrize("how", ["close", "reset"])
def test_a_connection_in_steady_use_that_is_lost_is_an_error_since_the_request_may_be_billed(how: Ending) -> None:
    async def scene(client: HttpClient, server: RawServer) -> None:
        await post(client, server)
        with pytest.raises(UnavailableError, match="without a reply"):
            await post(client, server)
        assert len(server.requests) == 2

    play(FINE, Act(b"", how), scene=scene)


@pytest.mark.parametrize("says", [b"", b"H", reply(b"fine")[:-1]])
def test_a_request_on_a_new_connection_is_never_sent_again(says: bytes) -> None:
    async def scene(client: HttpClient, server: RawServer) -> None:
        with pytest.raises(UnavailableError, match=r"127\.0\.0\.1"):
            await post(client, server)
        assert len(server.requests) == 1

    play(Act(says, "close"), FINE, scene=scene)


def test_a_request_that_was_answered_in_part_is_never_sent_again() -> None:
    async def scene(client: HttpClient, server: RawServer) -> None:
        await post(client, server)
        with pytest.raises(UnavailableError, match="middle of its reply"):
            await post(client, server)
        assert len(server.requests) == 2

    play(FINE, Act(b"H", "close"), FINE, scene=scene)


@pytest.mark.parametrize(
    ("says", "patience", "why"),
    [
        (b"", Patience(0.1), r"did not answer within 0\.1 s"),
        (b"HTTP/1.1 200 OK\r\nContent-", Patience(0.1), r"did not finish its reply within 0\.1 s"),
        (reply(b"fine")[:-1], Patience(20.0, 0.1), r"fell silent for 0\.1 s"),
    ],
)
def test_a_server_that_hangs_is_left(says: bytes, patience: Patience, why: str) -> None:
    async def scene(client: HttpClient, server: RawServer) -> None:
        with pytest.raises(UnavailableError, match=why):
            await post(client, server, patience)
        async with asyncio.timeout(30):
            await server.left.wait()

    play(Act(says, "hang"), scene=scene)


@pytest.mark.parametrize("says", [b"", b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhel"])
def test_cancelling_closes_the_connection(says: bytes) -> None:
    async def scene(client: HttpClient, server: RawServer) -> None:
        task = asyncio.create_task(post(client, server))
        await server.asked.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        async with asyncio.timeout(30):
            await server.left.wait()

    play(Act(says, "hang"), scene=scene)


def test_closing_ends_what_is_under_way_and_closes_every_socket() -> None:
    async def scene(client: HttpClient, server: RawServer) -> None:
        task = asyncio.create_task(post(client, server))
        await server.asked.wait()
        await client.close()
        with pytest.raises(UnavailableError):
            await task

    play(Act(b"", "hang"), scene=scene)


def test_a_reply_over_the_size_limit_is_refused() -> None:
    async def scene(client: HttpClient, server: RawServer) -> None:
        with pytest.raises(UnavailableError, match="more than 1000 bytes"):
            await post(client, server)

    play(Act(reply(b"x" * 1000)), scene=scene)


def test_a_large_request_arrives_whole() -> None:
    body = b"0123456789" * 300_000

    async def scene(client: HttpClient, server: RawServer) -> None:
        await post(client, server, body=body)
        assert server.requests[0].endswith(b"\r\ncontent-length: 3000000\r\n\r\n" + body)

    play(FINE, scene=scene)


def test_a_refused_connection_names_the_server_and_says_what_to_do() -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = parse_url(f"http://127.0.0.1:{unused.getsockname()[1]}/v1")
        with pytest.raises(UnavailableError, match=rf"Could not connect to 127\.0\.0\.1:{url.port}.*base_url"):
            asyncio.run(HttpClient(url).request(request_head("POST", url, "", {}), b"", PATIENT))


def test_proxies_of_the_environment_are_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "https_proxy", "all_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    monkeypatch.delenv("no_proxy", raising=False)

    async def scene(client: HttpClient, server: RawServer) -> None:
        assert (await post(client, server)).status == 200

    play(FINE, scene=scene)


async def certificate(folder: Path) -> Path:
    """Make a certificate for 127.0.0.1 with its key in one file."""
    command = (
        "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -keyout pair.pem -out crt"
    )
    named = ["-subj", "/CN=test", "-addext", "subjectAltName=IP:127.0.0.1"]
    made = await run_process(
        [*command.split(), *named],
        cwd=folder,
        env={"PATH": "/usr/bin:/bin"},
        stdin=None,
        deadline=30,
        output_limit=10_000,
    )
    assert made.exit_code == 0, made.stderr
    pair = folder / "pair.pem"
    pair.write_bytes(pair.read_bytes() + (folder / "crt").read_bytes())
    return pair


@pytest.mark.parametrize("trusted", [True, False])
def test_over_tls_the_certificate_decides(tmp_path: Path, *, trusted: bool) -> None:
    try:
        pair = asyncio.run(certificate(tmp_path))
    except NotInstalledError:
        pytest.skip("openssl is not on this machine")
    serving = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    serving.load_cert_chain(pair)

    async def scenario() -> None:
        async with RawServer(FINE, tls=serving) as server:
            url = parse_url(server.base_url.replace("http:", "https:"))
            trusting = ssl.create_default_context(cafile=str(tmp_path / "crt")) if trusted else None
            client = HttpClient(url, tls=trusting)
            head = request_head("POST", url, "/x", {})
            if trusted:
                for _ in range(3):
                    assert (await client.request(head, b"ask", PATIENT)).body == b"fine"
                assert server.connections == 1
            else:
                with pytest.raises(UnavailableError, match="is not trusted"):
                    await client.request(head, b"ask", PATIENT)
                assert server.requests == []
            await client.close()

    asyncio.run(scenario())
