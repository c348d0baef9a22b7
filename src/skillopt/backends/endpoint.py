"""One address that is asked, with the key it takes and the headers that go along.
Owns where a key may travel; refuses to know wire formats and what is said."""

from __future__ import annotations

import ssl
from collections.abc import Awaitable, Callable, Mapping

import msgspec

from skillopt.backends.connection import Patience, Response
from skillopt.backends.http import HttpClient, Url, parse_url, request_head
from skillopt.domain.errors import UsageError

ApiKey = str | Callable[[], str] | Callable[[], Awaitable[str]]

_OWN_HEADERS = ("authorization", "content-length", "content-type", "connection", "host", "transfer-encoding")


class KeyUse(msgspec.Struct, frozen=True, kw_only=True):
    """A key and the header it goes in; a callable key is asked for at each call."""

    key: ApiKey
    header: str = "authorization"
    scheme: str = "Bearer "

    def __repr__(self) -> str:
        return f"KeyUse(header={self.header!r}, …)"


def check_key_host(url: Url, own_hosts: tuple[str, ...] = ()) -> None:
    """Refuse to send a key where it does not belong: in the clear beyond this machine, or to a host not its own.

    `own_hosts` are the provider's hosts when the key was found under the provider's usual name; leave it empty when
    the person wrote the key's reference beside this very base_url.
    """
    if url.scheme == "http" and not url.is_loopback:
        raise UsageError(
            f"The key for {url.text} would travel unencrypted, so it is not sent.",
            hint="Use https, or set `api_key: none` if this server needs no key.",
        )
    if own_hosts and url.host not in own_hosts:
        raise UsageError(
            f"The provider's key is for {', '.join(own_hosts)} and is not sent to {url.host}.",
            hint="Name the key for this base_url with `api_key`, or set `api_key: none`.",
        )


class Endpoint:
    """Sends bodies to one target at one address; `target` is what follows the path of the base_url."""

    def __init__(
        self,
        base_url: str,
        target: str,
        *,
        key: KeyUse | None = None,
        headers: Mapping[str, str],
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self._url = parse_url(base_url)
        if key is not None:
            check_key_host(self._url)
        self._target = target
        self._use = key
        self._headers = _checked(headers, key)
        self._key = ""
        self._head = self._head_with("")
        self._client = HttpClient(self._url, tls=tls)

    @property
    def address(self) -> str:
        """The address as messages and journals name it."""
        return self._url.text

    @property
    def secrets(self) -> tuple[str, ...]:
        """What no message may repeat."""
        return (self._key, *self._headers.values())

    async def ask(self, body: bytes, patience: Patience) -> Response:
        """Send a body once, and return the reply whatever its status."""
        if self._use is not None:
            await self._renew(self._use)
        return await self._client.request(self._head, body, patience)

    async def close(self) -> None:
        """Let go of connections."""
        await self._client.close()

    async def _renew(self, use: KeyUse) -> None:
        """Have the head carry the key of this moment; it is written anew only when the key has changed."""
        key = use.key if isinstance(use.key, str) else use.key()
        if not isinstance(key, str):
            key = await key
        if not key:
            raise UsageError(
                f"The key for {self._url.text} is empty.", hint="Set it, or write `api_key: none` if none is needed."
            )
        if key != self._key:
            self._head = self._head_with(f"{use.scheme}{key}")
            self._key = key

    def _head_with(self, key: str) -> bytes:
        headers = {"user-agent": "skillopt", "accept-encoding": "identity", "content-type": "application/json"}
        if key and self._use is not None:
            headers[self._use.header] = key
        return request_head("POST", self._url, self._target, headers | self._headers)


def _checked(headers: Mapping[str, str], key: KeyUse | None) -> dict[str, str]:
    """Return headers that take the place of none of ours."""
    ours = _OWN_HEADERS if key is None else (*_OWN_HEADERS, key.header)
    clash = sorted(name for name in headers if name.lower() in ours)
    if clash:
        raise UsageError(
            f"headers sets {', '.join(clash)}.", hint="Use api_key for the key; the rest is ours to write."
        )
    return dict(headers)
