"""Entra ID tokens: asked for when needed, kept until shortly before they end, fetched by one at a time.
Owns where a token may travel; refuses to know how a credential was come by."""

from __future__ import annotations

import asyncio
from typing import Protocol

from skillopt.backends.http import Url
from skillopt.domain.errors import AuthError, UsageError
from skillopt.kernel.boundary import Attributed
from skillopt.kernel.ports import Clock

AZURE_DOMAINS = (
    ".openai.azure.com",
    ".cognitiveservices.azure.com",
    ".services.ai.azure.com",
    ".openai.azure.us",
    ".cognitiveservices.azure.us",
    ".openai.azure.cn",
    ".cognitiveservices.azure.cn",
)
_MARGIN = 300.0  # seconds before its end in which a token is no longer used


class Token(Protocol):
    """A token with the second since 1970 at which it ends, as azure-identity gives it."""

    @property
    def token(self) -> str:
        """What is sent."""
        ...

    @property
    def expires_on(self) -> int:
        """When it ends."""
        ...


class Credential(Protocol):
    """Whoever can prove who we are; those of azure-identity can."""

    def get_token(self, scope: str) -> Token:
        """Return a token for a scope; may take seconds, and is called in a thread of its own."""
        ...


def check_token_host(url: Url, allowed: tuple[str, ...] = ()) -> None:
    """Refuse to send a token to anything but https, and to hosts that are neither Azure's nor `allowed`."""
    if url.scheme != "https":
        raise UsageError(
            f"An Entra ID token for {url.text} would travel unencrypted, so it is not sent.",
            hint="Use https; a token is never sent otherwise, not even to this machine.",
        )
    if not url.host.endswith(AZURE_DOMAINS) and url.host not in allowed:
        raise UsageError(
            f"An Entra ID token is not sent to {url.host}, which is not a host of Azure OpenAI.",
            hint="If it is yours, such as a gateway, list it in allow_hosts.",
        )


class EntraTokens:
    """The token of this moment, for one scope."""

    def __init__(self, credential: Credential, scope: str, clock: Clock) -> None:
        self._credential = credential
        self._scope = scope
        self._clock = clock
        self._token = ""
        self._ends = 0.0
        self._asking: asyncio.Task[Token] | None = None

    async def current(self) -> str:
        """Return a token that is good for some minutes yet; whoever needs a new one at the same time shares it."""
        if self._clock.wall() >= self._ends - _MARGIN:
            token = await self._asked()
            self._token, self._ends = token.token, float(token.expires_on)
        return self._token

    async def _asked(self) -> Token:
        if self._asking is None or self._asking.done():
            self._asking = asyncio.ensure_future(asyncio.to_thread(self._fetched))
        return await asyncio.shield(self._asking)

    def _fetched(self) -> Token:
        hint = "Log in with `az login`, or check the identity and its role on the resource."
        with Attributed(AuthError, f"The credential for {self._scope}", hint):
            return self._credential.get_token(self._scope)
