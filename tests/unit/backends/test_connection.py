"""One connection, fed by hand: every framing, cut at every byte, and every way a reply can fail to be whole."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from skillopt.backends.connection import Connection, ExchangeError, Patience, Response

PATIENT = Patience(30.0)
LENGTH = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 5\r\n\r\nhello"
CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhe\r\n3;note=1\r\nllo\r\n0\r\n\r\n"


class FakeTransport(asyncio.Transport):
    """Keeps what is written and whether it was closed."""

    def __init__(self) -> None:
        super().__init__()
        self.written: list[bytes] = []
        self.closed = False

    def write(self, data: bytes | bytearray | memoryview) -> None:
        self.written.append(bytes(data))

    def is_closing(self) -> bool:
        return self.closed

    def abort(self) -> None:
        self.closed = True


class Talk:
    """A connection with a request under way."""

    def __init__(self, patience: Patience = PATIENT, size_limit: int = 1_000_000) -> None:
        self.loop = asyncio.get_running_loop()
        self.transport = FakeTransport()
        self.connection = Connection(self.loop, size_limit)
        self.connection.connection_made(self.transport)
        self.patience = patience
        self.waiter = self.ask()

    def ask(self) -> asyncio.Future[Response]:
        deadline = self.loop.time() + self.patience.total
        self.waiter = self.connection.ask(b"request", self.patience, deadline)
        return self.waiter

    def hear(self, *pieces: bytes) -> None:
        for piece in pieces:
            self.connection.data_received(piece)

    def hang_up(self, error: Exception | None = None) -> None:
        self.connection.connection_lost(error)

    @property
    def reply(self) -> Response:
        return self.waiter.result()

    @property
    def failure(self) -> ExchangeError:
        error = self.waiter.exception()
        assert isinstance(error, ExchangeError)
        return error


def talk(act: Callable[[Talk], None], size_limit: int = 1_000_000) -> Talk:
    async def scenario() -> Talk:
        made = Talk(size_limit=size_limit)
        act(made)
        return made

    return asyncio.run(scenario())


def heard(*pieces: bytes) -> Talk:
    return talk(lambda made: made.hear(*pieces))


@pytest.mark.parametrize("reply", [LENGTH, CHUNKED])
def test_a_reply_is_the_same_wherever_it_is_cut_into_pieces(reply: bytes) -> None:
    for cut in range(1, len(reply)):
        done = heard(reply[:cut], reply[cut:])
        assert (done.reply.status, done.reply.body) == (200, b"hello")
        assert done.connection.reusable
    assert heard(*(bytes([byte]) for byte in reply)).reply.body == b"hello"


def test_a_request_is_written_with_one_call() -> None:
    assert talk(lambda made: made.hear(LENGTH)).transport.written == [b"request"]


def test_headers_are_found_by_their_lower_case_name() -> None:
    reply = b"HTTP/1.1 429 Slow\r\nRetry-AFTER: 7\r\nX-Twice: a\r\nx-twice: b\r\nContent-Length: 0\r\n\r\n"
    response = heard(reply).reply
    assert response.header("retry-after") == "7"
    assert response.header("x-twice") == "a"
    assert response.header("x-none") is None


@pytest.mark.parametrize(
    ("reply", "body", "reusable"),
    [
        (b"HTTP/1.1 204 No Content\r\n\r\n", b"", True),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", b"", True),
        (b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nhi", b"hi", False),
        (b"HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nhi", b"hi", False),
        (b"HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\nhi", b"hi", True),
        (b"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi", b"hi", True),
        (b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nhi and more", b"hi", False),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi and more", b"hi", False),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhiHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nno", b"hi", False),
    ],
)
def test_framing_decides_the_body_and_whether_the_connection_is_kept(reply: bytes, body: bytes, reusable: bool) -> None:
    done = heard(reply)
    assert done.reply.body == body
    assert done.reply.header("link") is None
    assert done.connection.reusable is reusable
    assert done.transport.closed is not reusable


def test_a_reply_without_length_ends_when_the_peer_closes() -> None:
    def act(made: Talk) -> None:
        made.hear(b"HTTP/1.1 200 OK\r\n\r\nhel", b"lo")
        assert not made.waiter.done()
        made.hang_up()

    done = talk(act)
    assert done.reply.body == b"hello"
    assert not done.connection.reusable


@pytest.mark.parametrize(
    "pieces",
    [
        b"H",
        b"HTTP/1.1 200 OK\r\nContent-Le",
        LENGTH[:-1],
        CHUNKED[:-1],
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
        b"HTTP/1.1 100 Continue\r\n\r\n",
    ],
)
def test_a_cut_reply_is_no_reply(pieces: bytes) -> None:
    def act(made: Talk) -> None:
        made.hear(pieces)
        made.hang_up()

    done = talk(act)
    assert "in the middle of its reply" in done.failure.reason


def test_a_reset_cuts_even_a_reply_that_ends_at_the_close() -> None:
    def act(made: Talk) -> None:
        made.hear(b"HTTP/1.1 200 OK\r\n\r\nhel")
        made.hang_up(ConnectionResetError())

    assert "in the middle" in talk(act).failure.reason


@pytest.mark.parametrize("error", [None, ConnectionResetError()])
def test_a_peer_that_leaves_before_the_first_byte_gave_no_reply(error: Exception | None) -> None:
    done = talk(lambda made: made.hang_up(error))
    assert "without a reply" in done.failure.reason
    assert done.connection.gone.done()


def test_asking_on_a_lost_connection_sends_nothing() -> None:
    def act(made: Talk) -> None:
        made.hear(LENGTH)
        made.hang_up()
        assert not made.connection.reusable
        made.ask()

    done = talk(act)
    assert "before the request was sent" in done.failure.reason
    assert done.transport.written == [b"request"]


@pytest.mark.parametrize(
    "noise",
    [
        b"\x16\x03\x01 hello",
        b"SSH-2.0-OpenSSH_9.6\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: five\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n",
        b"HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: h2c\r\n\r\n",
    ],
)
def test_what_is_not_http_is_said_to_be(noise: bytes) -> None:
    done = heard(noise)
    assert done.failure.reason == "answered with something that is not HTTP/1.1"
    assert done.transport.closed


@pytest.mark.parametrize("reply", [LENGTH, CHUNKED])
def test_the_size_limit_is_exact(reply: bytes) -> None:
    assert talk(lambda made: made.hear(reply), size_limit=len(reply)).reply.body == b"hello"
    done = talk(lambda made: made.hear(reply[:10], reply[10:]), size_limit=len(reply) - 1)
    assert "sent more than" in done.failure.reason
    assert done.transport.closed


def test_bytes_that_nobody_asked_for_close_the_connection() -> None:
    def act(made: Talk) -> None:
        made.hear(LENGTH)
        assert made.connection.reusable
        made.hear(LENGTH)

    done = talk(act)
    assert done.transport.closed
    assert not done.connection.reusable


def test_one_connection_serves_many_exchanges() -> None:
    def act(made: Talk) -> None:
        for number in range(5):
            made.hear(b"HTTP/1.1 200 OK\r\nX-N: %d\r\nContent-Length: 1\r\n\r\n%d" % (number, number))
            assert (made.reply.header("x-n"), made.reply.body) == (str(number), b"%d" % number)
            made.ask()
        made.hear(LENGTH)

    assert talk(act).reply.headers == ((b"Content-Type", b"application/json"), (b"Content-Length", b"5"))


def failed_in_time(patience: Patience, *pieces: bytes) -> str:
    async def scenario() -> str:
        made = Talk(patience)
        made.hear(*pieces)
        with pytest.raises(ExchangeError) as caught:
            await made.waiter
        assert made.transport.closed
        return caught.value.reason

    return asyncio.run(scenario())


@pytest.mark.parametrize(
    ("patience", "beginning", "reason"),
    [
        (Patience(0.05), b"", "did not answer within 0.05 s"),
        (Patience(0.05), LENGTH[:-1], "did not finish its reply within 0.05 s"),
        (Patience(0.05, 20.0), LENGTH[:-1], "did not finish its reply within 0.05 s"),
        (Patience(20.0, 0.05), LENGTH[:-1], "fell silent for 0.05 s in the middle of its reply"),
        (Patience(0.1, 0.05), b"", "did not answer within 0.1 s"),
    ],
)
def test_patience_ends(patience: Patience, beginning: bytes, reason: str) -> None:
    assert failed_in_time(patience, *([beginning] if beginning else [])) == reason


def test_a_later_exchange_with_less_patience_is_not_kept_waiting_by_the_timer_of_the_first() -> None:
    async def scenario() -> None:
        made = Talk(Patience(3600.0))
        made.hear(LENGTH)
        made.patience = Patience(0.05)
        made.ask()
        with pytest.raises(ExchangeError, match=r"within 0\.05 s"):
            await made.waiter

    asyncio.run(scenario())


def test_the_timer_of_an_earlier_exchange_does_not_end_a_later_one() -> None:
    async def scenario() -> None:
        made = Talk(Patience(0.05))
        made.hear(LENGTH)
        made.patience = Patience(3600.0)
        waiter = made.ask()
        done, _ = await asyncio.wait((waiter,), timeout=0.15)
        assert not done
        made.hear(LENGTH)
        assert waiter.result().status == 200

    asyncio.run(scenario())
