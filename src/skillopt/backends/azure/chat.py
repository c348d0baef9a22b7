"""Azure OpenAI: a deployment at one endpoint, or at several that stand in for each other.
Owns the settings and the addresses; refuses to know how a credential is come by, retries, prompts and skills."""

from __future__ import annotations

import ssl
from collections.abc import Callable
from typing import Literal
from urllib.parse import quote

from skillopt.backends.azure.entra import EntraTokens, check_token_host
from skillopt.backends.azure.rotation import Rotation
from skillopt.backends.dialects.request import bounds
from skillopt.backends.endpoint import Endpoint, KeyUse
from skillopt.backends.http import parse_url
from skillopt.backends.openai_chat import TARGETS, GptSettings, gpt_dialect, gpt_sampling
from skillopt.backends.providers.presets import Preset
from skillopt.backends.wired import WiredChat, Witness
from skillopt.domain.chat import ModelIdentity
from skillopt.domain.errors import UsageError
from skillopt.kernel.ports import Chat

Login = Literal["key", "cli", "managed_identity", "default"]
_AZURE = Preset(limit="max_completion_tokens")
_SCOPE = "https://cognitiveservices.azure.com/.default"


class AzureSettings(
    GptSettings, frozen=True, kw_only=True, forbid_unknown_fields=True, tag="azure", tag_field="backend"
):
    """A deployment on Azure OpenAI; `model` is the name of the deployment, the same at every endpoint.

    endpoints: The resources, such as `https://name.openai.azure.com`; several are asked in turn.
    api_version: A dated version for the addresses by deployment; null asks the undated `/openai/v1`.
    login: `key`, or whose Entra ID token is sent: of `az login` (cli), a managed_identity, or the default chain.
    client_id: Which managed identity is meant, where there are several.
    scope: What the token is asked for.
    allow_hosts: Hosts that are not Azure's own and may be sent a token all the same, such as your gateway.
    """

    endpoints: tuple[str, ...]
    api_version: str | None = None
    login: Login = "key"
    client_id: str | None = None
    scope: str = _SCOPE
    allow_hosts: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.endpoints or len(set(self.endpoints)) < len(self.endpoints):
            raise ValueError("endpoints must name at least one address, and none twice")
        for text in self.endpoints:
            url = parse_url(text)
            if self.login != "key":
                check_token_host(url, self.allow_hosts)
        if self.login == "key" and self.api_key is None:
            raise ValueError("login: key needs api_key: ${NAME}, or `none` for a server without keys")
        if self.login != "key" and self.api_key is not None:
            raise ValueError(f"login: {self.login} sends a token, not an api_key: give one of the two")
        if self.client_id is not None and self.login != "managed_identity":
            raise ValueError("client_id is for login: managed_identity")

    @property
    def address(self) -> str:
        """The first endpoint."""
        return self.endpoints[0]

    @property
    def target(self) -> str:
        """What follows the address of a resource."""
        if self.api_version is None:
            return f"/openai/v1{TARGETS[self.api]}"
        version = f"?api-version={quote(self.api_version, safe='')}"
        if self.api == "responses":
            return f"/openai/responses{version}"
        return f"/openai/deployments/{quote(self.model, safe='')}/chat/completions{version}"


def azure_chat(
    settings: AzureSettings,
    *,
    key: str | Callable[[], str] | EntraTokens | None,
    tls: ssl.SSLContext | None = None,
    witness: Witness | None = None,
) -> Chat:
    """Return the Chat of a deployment; what proves who we are is a key, or tokens of Entra ID."""
    use: KeyUse | None
    if isinstance(key, EntraTokens):
        for text in settings.endpoints:
            check_token_host(parse_url(text), settings.allow_hosts)
        use = KeyUse(key=key.current)
    elif settings.login != "key":
        raise UsageError(f"login: {settings.login} needs a token of Entra ID.", hint="Give tokens, not a key.")
    else:
        use = None if key is None else KeyUse(key=key, header="api-key", scheme="")
    endpoints = [
        Endpoint(text, settings.target, key=use, headers=settings.headers, tls=tls) for text in settings.endpoints
    ]
    extra = settings.extra_body
    identity = ModelIdentity(
        backend="azure",
        address=settings.alias or " ".join(sorted(endpoint.address for endpoint in endpoints)),
        model=settings.model,
        sampling=gpt_sampling(settings, _AZURE, extra),
    )
    limits = bounds(f"The deployment {settings.model}", (), extra)
    chats = [
        WiredChat(
            settings,
            identity=identity,
            dialect=gpt_dialect(settings, _AZURE, extra, limits),
            endpoint=endpoint,
            witness=witness,
        )
        for endpoint in endpoints
    ]
    return chats[0] if len(chats) == 1 else Rotation(chats)
