"""A light HTTP/1.1 client for one origin: keep-alive connections, last used first, and one write for each request.
Owns addresses, heads and connections; refuses redirects, proxies, the environment, and to know what is said."""

from __future__ import annotations

import asyncio
import functools
import ipaddress
import ssl
from collections.abc import Mapping
from urllib.parse import urlsplit

import msgspec

from skillopt.backends.connection import Connection, ExchangeError, Patience, Response
from skillopt.domain.errors import UnavailableError, UsageError
from skillopt.domain.usage import NOTHING

SIZE_LIMIT = 64 * 1024 * 1024
LONGEST_REST = 4.0  # seconds; servers close a connection that rests longer than five or so
_PORTS = {"http": 80, "https": 443}
_NAME_CHARACTERS = frozenset("!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyz")


class Url(msgspec.Struct, frozen=True, kw_only=True):
    """An address in parts, checked; `path` has no slash at its end."""

    scheme: str
    host: str
    port: int
    path: str

    @property
    def authority(self) -> str:
        """Host and port as a Host header has them; also how messages name the server."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == _PORTS[self.scheme] else f"{host}:{self.port}"

    @property
    def text(self) -> str:
        """The address as one string."""
        return f"{self.scheme}://{self.authority}{self.path}"

    @property
    def is_loopback(self) -> bool:
        """Whether the host is this machine."""
        if self.host == "localhost":
            return True
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return False


def parse_url(text: str) -> Url:
    """Read an http or https address; a user name, query or fragment in it is a UsageError that does not repeat it."""
    hint = "Write it like https://host/v1 or http://127.0.0.1:8000/v1."
    if not text.isascii() or not text.isprintable() or " " in text:
        raise UsageError("A base_url has spaces, control or non-ASCII characters.", hint=hint)
    try:
        parts = urlsplit(text)
        host, port = parts.hostname, parts.port
    except ValueError as error:
        raise UsageError("A base_url cannot be read as an address.", hint=hint) from error
    if parts.scheme not in _PORTS or not host or port == 0:
        raise UsageError("A base_url has no http:// or https:// with a host after it.", hint=hint)
    if "@" in parts.netloc or parts.query or parts.fragment or "?" in text or "#" in text:
        raise UsageError(f"The base_url of {host} has a user name, a query or a fragment.", hint=hint)
    if any(not label or len(label) > 63 for label in host.removesuffix(".").split(".")):
        raise UsageError("A base_url has a host name with an empty or overlong part.", hint=hint)
    return Url(scheme=parts.scheme, host=host, port=port or _PORTS[parts.scheme], path=parts.path.rstrip("/"))


def request_head(method: str, url: Url, target: str, headers: Mapping[str, str]) -> bytes:
    """Return everything before the length of the body; a value that could add a header is a UsageError naming it."""
    lines = [f"{method} {url.path}{target} HTTP/1.1", f"host: {url.authority}"]
    for name, value in headers.items():
        if not name or not _NAME_CHARACTERS.issuperset(name.lower()):
            raise UsageError(f"{name!r} is not a header name.", hint="Use letters, digits and hyphens.")
        if not value.isascii() or not value.isprintable():
            raise UsageError(
                f"The value of the header {name!r} has a line break, a control or a non-ASCII character.",
                hint="Check the end of the key or value: a copied line break is the usual cause.",
            )
        lines.append(f"{name.lower()}: {value}")
    return ("\r\n".join(lines) + "\r\ncontent-length: ").encode("ascii")


class HttpClient:
    """Sends requests to one origin over as many connections as there are requests at once.

    A request is sent once, so that what is counted is what was sent. A connection that has rested for `longest_rest`
    seconds is not used again, since its server may be about to close it.
    """

    def __init__(
        self,
        url: Url,
        *,
        tls: ssl.SSLContext | None = None,
        size_limit: int = SIZE_LIMIT,
        longest_rest: float = LONGEST_REST,
    ) -> None:
        self._url = url
        self._tls = tls
        self._size_limit = size_limit
        self._longest_rest = longest_rest
        self._idle: dict[Connection, None] = {}
        self._open: set[Connection] = set()

    async def request(self, head: bytes, body: bytes, patience: Patience) -> Response:
        """Send a request made with `request_head` and return the reply, whatever its status, or UnavailableError."""
        loop = asyncio.get_running_loop()
        began = loop.time()
        deadline = began + patience.total
        data = b"%b%d\r\n\r\n%b" % (head, len(body), body)
        try:
            connection = self._rested(began)
            if connection is None:
                connection = await self._connect(loop, patience, deadline)
            return await self._exchange(connection, data, patience, deadline)
        except ExchangeError as error:
            raise UnavailableError(
                f"The server {self._url.authority} {error.reason}.", hint="Check that it is healthy, then try again."
            ) from error

    async def close(self) -> None:
        """Close every connection, and return when their sockets are closed; requests under way fail."""
        connections = tuple(self._open)
        self._idle.clear()
        for connection in connections:
            connection.abort()
        for connection in connections:
            await connection.gone

    def _rested(self, now: float) -> Connection | None:
        while self._idle:
            connection, _ = self._idle.popitem()
            if connection.reusable and now - connection.idle_since < self._longest_rest:
                return connection
            connection.abort()
        return None

    async def _exchange(self, connection: Connection, data: bytes, patience: Patience, deadline: float) -> Response:
        try:
            return await connection.ask(data, patience, deadline)
        finally:
            if connection.reusable:
                self._idle[connection] = None
            else:
                connection.abort()  # cancelled, or not to be kept

    async def _connect(self, loop: asyncio.AbstractEventLoop, patience: Patience, deadline: float) -> Connection:
        where, url = self._url.authority, self._url
        try:
            async with asyncio.timeout_at(deadline):
                _, connection = await loop.create_connection(
                    functools.partial(Connection, loop, self._size_limit), url.host, url.port, ssl=self._security()
                )
        except TimeoutError as error:
            raise UnavailableError(
                f"The server {where} did not accept a connection in time (at most {patience.total:g} s).",
                hint="Check base_url and the network.",
                usage=NOTHING,
            ) from error
        except ssl.SSLCertVerificationError as error:
            raise UnavailableError(
                f"The certificate of {where} is not trusted: {error.verify_message}.",
                hint="Check base_url; nothing was sent.",
                usage=NOTHING,
            ) from error
        except OSError as error:
            raise UnavailableError(
                f"Could not connect to {where}: {error.strerror or error}.",
                hint="Check base_url and that the server is running.",
                usage=NOTHING,
            ) from error
        self._open.add(connection)
        connection.gone.add_done_callback(functools.partial(self._forget, connection))
        return connection

    def _security(self) -> ssl.SSLContext | None:
        """Return the TLS settings, made at the first need: reading the certificate store takes milliseconds."""
        if self._url.scheme == "https" and self._tls is None:
            self._tls = ssl.create_default_context()
        return self._tls

    def _forget(self, connection: Connection, _: asyncio.Future[None]) -> None:
        self._open.discard(connection)
        self._idle.pop(connection, None)
