"""AnthropicChat: one model behind Anthropic's `/messages`.
Owns its settings; refuses to know retries, prompts, skills and where the key is kept."""

from __future__ import annotations

import ssl

from skillopt.backends.dialects.messages import Messages
from skillopt.backends.dialects.request import bounds
from skillopt.backends.endpoint import ApiKey, Endpoint, KeyUse
from skillopt.backends.http import parse_url
from skillopt.backends.settings import JsonFields, SeeingSettings, encoded_constants, sampling
from skillopt.backends.wired import WiredChat, Witness
from skillopt.domain.chat import Feature, ModelIdentity

_OWN_FIELDS = ("model", "messages", "system", "max_tokens", "temperature", "stream")
_LEAST_THINKING = 1024  # tokens; the provider refuses less


class AnthropicSettings(
    SeeingSettings, frozen=True, kw_only=True, forbid_unknown_fields=True, tag="anthropic", tag_field="backend"
):
    """A model behind Anthropic's messages, there or at whoever speaks them.

    base_url: The address up to `/v1` or what stands in its place.
    version: The version of the interface that requests are written for.
    thinking_budget: How many tokens of max_tokens the model may think with before it answers; null asks for none.
    cache: Whether the system text, which many requests share, is marked for the provider to keep.
    """

    base_url: str = "https://api.anthropic.com/v1"
    version: str = "2023-06-01"
    thinking_budget: int | None = None
    cache: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        parse_url(self.base_url)
        if self.thinking_budget is None:
            return
        if not _LEAST_THINKING <= self.thinking_budget < self.max_tokens:
            raise ValueError(f"thinking_budget must be at least {_LEAST_THINKING}, and less than max_tokens")
        if self.temperature is not None:
            raise ValueError("a model with a thinking_budget takes no temperature")

    @property
    def address(self) -> str:
        """The base_url."""
        return self.base_url


class AnthropicChat(WiredChat):
    """The Chat port over the messages dialect; a callable key is asked for at each call."""

    def __init__(
        self,
        settings: AnthropicSettings,
        *,
        api_key: ApiKey | None = None,
        tls: ssl.SSLContext | None = None,
        witness: Witness | None = None,
    ) -> None:
        fields: JsonFields = {}
        lacks = set[Feature]()
        if settings.thinking_budget is not None:
            lacks.add("tools")  # their results must come with the thoughts that led to them, and nobody keeps those
            fields["thinking"] = {"type": "enabled", "budget_tokens": settings.thinking_budget}
        if settings.stream:
            fields["stream"] = True
        endpoint = Endpoint(
            settings.base_url,
            "/messages",
            key=None if api_key is None else KeyUse(key=api_key, header="x-api-key", scheme=""),
            headers={"anthropic-version": settings.version} | settings.headers,
            tls=tls,
        )
        identity = ModelIdentity(
            backend="anthropic",
            address=settings.alias or endpoint.address,
            model=settings.model,
            sampling=sampling(
                {
                    "temperature": settings.temperature,
                    "thinking_budget": settings.thinking_budget,
                    "extra_body": settings.extra_body,
                }
            ),
        )
        dialect = Messages(
            settings.model,
            temperature=settings.temperature,
            cache=settings.cache,
            stream=settings.stream,
            constants=encoded_constants(fields, settings.extra_body, _OWN_FIELDS),
            bounds=bounds(f"{settings.model} with a thinking_budget", lacks, settings.extra_body),
        )
        super().__init__(settings, identity=identity, dialect=dialect, endpoint=endpoint, witness=witness)
