"""OpenAIChat: one model behind the `/chat/completions` or the `/responses` of any OpenAI-compatible server.
Owns its settings and how a preset fills them in; refuses to know retries, prompts, skills and where the key is kept."""

from __future__ import annotations

import ssl
from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal

from skillopt.backends.dialects import chat_turns, response_turns
from skillopt.backends.dialects.chat_completions import ChatCompletions
from skillopt.backends.dialects.reply import Dialect
from skillopt.backends.dialects.request import Bounds, Names, RequestWriter, bounds
from skillopt.backends.dialects.responses import NAMES, Responses
from skillopt.backends.endpoint import ApiKey, Endpoint, KeyUse
from skillopt.backends.http import parse_url
from skillopt.backends.providers.presets import ANY_SERVER, Limit, Preset, PresetName, Thinking, preset_of
from skillopt.backends.settings import JsonFields, SeeingSettings, encoded_constants, sampling
from skillopt.backends.wired import WiredChat, Witness
from skillopt.domain.chat import Feature, ModelIdentity

Api = Literal["chat", "responses"]
TARGETS: Mapping[Api, str] = MappingProxyType({"chat": "/chat/completions", "responses": "/responses"})
_OWN_FIELDS = (
    "model",
    "messages",
    "input",
    "max_tokens",
    "max_completion_tokens",
    "max_output_tokens",
    "temperature",
    "seed",
    "random_seed",
    "reasoning_effort",
    "reasoning",
    "stream",
    "stream_options",
)


class GptSettings(SeeingSettings, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a model in one of OpenAI's two dialects can be told, wherever it is.

    api: Which dialect is spoken: `chat` is `/chat/completions`, `responses` is `/responses`, which knows no seed.
    max_tokens_field: The name under which `/chat/completions` takes max_tokens; null takes what is usual there.
    reasoning_effort: How hard a reasoning model should think, in the provider's words.
    seed: Sent where a request leaves it open, for servers that know it.
    """

    api: Api = "chat"
    max_tokens_field: Limit | None = None
    reasoning_effort: str | None = None
    seed: int | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.api == "responses" and (self.seed is not None or self.max_tokens_field is not None):
            raise ValueError("api: responses knows no seed and no max_tokens_field")


class OpenAISettings(
    GptSettings, frozen=True, kw_only=True, forbid_unknown_fields=True, tag="openai", tag_field="backend"
):
    """A model behind any OpenAI-compatible server.

    preset: What is particular about a well-known server: its address, its usual key, its names of fields.
    base_url: The address up to `/v1` or what stands in its place; null takes that of the preset.
    region: Which of the preset's addresses is meant, where it has several.
    thinking: Whether the model thinks before it answers, for presets that can say it; otherwise use extra_body.
    organization: The organization that the provider should charge.
    """

    preset: PresetName | None = None
    base_url: str | None = None
    region: str | None = None
    thinking: Thinking = "server_default"
    organization: str | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check_address()
        self._check_thinking()

    @property
    def known(self) -> Preset:
        """What is known of the server."""
        return preset_of(self.preset)

    @property
    def address(self) -> str:
        """The base_url, the region's, or the preset's own."""
        if self.base_url is not None:
            return self.base_url
        return self.known.base_url if self.region is None else self.known.regions[self.region]

    @property
    def lacks(self) -> frozenset[Feature]:
        """What this model is known not to take, by its preset and its name."""
        known, found = self.known, set[Feature]()
        if self.model.startswith(known.blind):
            found.add("images")
        if not known.holds_to_schemas:
            found.add("schema")
        return frozenset(found)

    @property
    def thoughts(self) -> JsonFields:
        """The fields that say whether the model thinks."""
        return dict(self.known.thinking.get(self.thinking, ANY_SERVER.always))

    def _check_address(self) -> None:
        if self.region is not None and self.base_url is not None:
            raise ValueError("base_url and region both say where the model is: give one")
        if self.region is not None and self.region not in self.known.regions:
            regions = ", ".join(sorted(self.known.regions)) or "none"
            raise ValueError(f"region {self.region!r} is not one of this preset's: {regions}")
        if not self.address:
            raise ValueError("base_url is missing: give one, or a preset that has an address")
        parse_url(self.address)

    def _check_thinking(self) -> None:
        if self.thinking == "server_default":
            return
        if self.thinking not in self.known.thinking:
            who = "without a preset" if self.preset is None else f"with preset {self.preset}"
            raise ValueError(f"thinking: {self.thinking} has no meaning {who}: say it with extra_body")
        anyway = self.known.thinks_anyway
        if self.thinking == "disabled" and anyway is not None and self.model.startswith(anyway):
            raise ValueError(f"thinking: disabled does not work with {self.model}, which thinks anyway")


class OpenAIChat(WiredChat):
    """The Chat port over OpenAI's dialects; a callable key is asked for at each call."""

    def __init__(
        self,
        settings: OpenAISettings,
        *,
        api_key: ApiKey | None = None,
        tls: ssl.SSLContext | None = None,
        witness: Witness | None = None,
    ) -> None:
        headers = dict(settings.headers)
        if settings.organization is not None:
            headers = {"openai-organization": settings.organization} | headers
        endpoint = Endpoint(
            settings.address,
            TARGETS[settings.api],
            key=None if api_key is None else KeyUse(key=api_key),
            headers=headers,
            tls=tls,
        )
        extra = dict(settings.known.always) | settings.thoughts | settings.extra_body
        identity = ModelIdentity(
            backend="openai",
            address=settings.alias or endpoint.address,
            model=settings.model,
            sampling=gpt_sampling(settings, settings.known, extra),
        )
        limits = bounds(f"{settings.model} of preset {settings.preset}", settings.lacks, extra)
        dialect = gpt_dialect(settings, settings.known, extra, limits)
        super().__init__(settings, identity=identity, dialect=dialect, endpoint=endpoint, witness=witness)


def gpt_dialect(settings: GptSettings, known: Preset, extra: JsonFields, limits: Bounds) -> Dialect:
    """Return the dialect that these settings ask for, made up for one model."""
    fields: JsonFields = {}
    if settings.api == "responses":
        fields["store"] = False  # the provider need not keep what is said
        if settings.reasoning_effort is not None:
            fields["reasoning"] = {"effort": settings.reasoning_effort}
        if settings.stream:
            fields["stream"] = True
        constants = encoded_constants(fields, extra, _OWN_FIELDS)
        writer = RequestWriter(settings.model, NAMES, response_turns.TURNS, constants=constants, bounds=limits)
        return Responses(writer, temperature=settings.temperature, stream=settings.stream)
    if settings.reasoning_effort is not None:
        fields["reasoning_effort"] = settings.reasoning_effort
    if settings.stream:
        fields["stream"] = True
        if known.asks_for_stream_usage:
            fields["stream_options"] = {"include_usage": True}
    names = Names(limit=settings.max_tokens_field or known.limit, seed=known.seed)
    constants = encoded_constants(fields, extra, _OWN_FIELDS)
    writer = RequestWriter(settings.model, names, chat_turns.TURNS, constants=constants, bounds=limits)
    return ChatCompletions(writer, temperature=settings.temperature, seed=settings.seed, stream=settings.stream)


def gpt_sampling(settings: GptSettings, known: Preset, extra: JsonFields) -> str:
    """Return what changes the answer beyond the request itself, however it was said: by preset or by hand."""
    chat = settings.api == "chat"
    return sampling(
        {
            "temperature": settings.temperature,
            "seed": settings.seed,
            "max_tokens_field": (settings.max_tokens_field or known.limit) if chat else None,
            "reasoning_effort": settings.reasoning_effort,
            "extra_body": extra,
            "api": None if chat else settings.api,
        }
    )
