from __future__ import annotations

import json
import socket

import pytest

from skillopt.testing.server import ThreadedServer
from skillopt.testing.server.connection import HttpReply

BODY = json.dumps({"model": "m", "messages": [{"role": "user", "content": "hello"}]}).encode()
PATH = b"POST /s/echo/v1/chat/completions HTTP/1.1\r\nHost: x\r\n"


def read_reply(stream: socket.socket) -> bytes:
    data = b""
    while b"\r\n\r\n" not in data:
        data += stream.recv(65536)
    head, _, body = data.partition(b"\r\n\r\n")
    length = int(next(line.split(b": ")[1] for line in head.split(b"\r\n") if line.startswith(b"Content-Length")))
    while len(body) < length:
        body += stream.recv(65536)
    return body


def test_one_connection_serves_many_requests_however_their_bytes_arrive(server: ThreadedServer) -> None:
    whole = PATH + b"Content-Length: %d\r\n\r\n" % len(BODY) + BODY
    with socket.create_connection(("127.0.0.1", server.port), timeout=5) as stream:
        stream.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for cut in (0, 1, 10, 60, len(whole) - 1):
            stream.sendall(whole[:cut])
            stream.sendall(whole[cut:])
            assert json.loads(read_reply(stream))["choices"][0]["message"]["content"] == "hello"


def test_a_chunked_request_is_read(server: ThreadedServer) -> None:
    chunks = b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in (BODY[:7], BODY[7:]))
    with socket.create_connection(("127.0.0.1", server.port), timeout=5) as stream:
        stream.sendall(PATH + b"Transfer-Encoding: chunked\r\n\r\n" + chunks + b"0\r\n\r\n")
        assert json.loads(read_reply(stream))["choices"][0]["message"]["content"] == "hello"


def test_what_is_not_http_is_refused_and_closed(server: ThreadedServer) -> None:
    with socket.create_connection(("127.0.0.1", server.port), timeout=5) as stream:
        stream.sendall(b"\x16\x03\x01 this is not http\r\n\r\n")
        data = b""
        while piece := stream.recv(65536):
            data += piece
    assert data.startswith(b"HTTP/1.1 400 ")


def test_a_reply_is_framed_by_its_length() -> None:
    data = HttpReply(status=429, body=b"{}", headers=(("Retry-After", "7"),)).encode()
    assert data == (
        b"HTTP/1.1 429 Too Many Requests\r\nContent-Type: application/json\r\nContent-Length: 2\r\n"
        b"Retry-After: 7\r\n\r\n{}"
    )


def test_a_stream_is_framed_in_chunks() -> None:
    data = HttpReply(frames=(b"data: 1\n\n", b"data: twenty-five\n\n")).encode()
    assert data.endswith(b"\r\n\r\n9\r\ndata: 1\n\n\r\n13\r\ndata: twenty-five\n\n\r\n0\r\n\r\n")


@pytest.mark.parametrize(
    "reply",
    [
        HttpReply(body=b"0123456789"),
        HttpReply(body=b"0"),
        HttpReply(frames=(b"data: 1\n\n",)),
        HttpReply(frames=(b"data: 1\n\n", b"data: 2\n\n", b"data: 3\n\n")),
    ],
)
def test_half_a_reply_is_its_head_and_less_than_its_body(reply: HttpReply) -> None:
    whole, half = reply.encode(), reply.encode_half()
    head = whole.index(b"\r\n\r\n") + 4
    assert whole.startswith(half)
    assert head <= len(half) < len(whole)
