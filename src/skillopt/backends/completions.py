"""CompletionsChat: a base model behind the older `/completions`, which continues a text and knows no roles.
Owns its settings; refuses to know retries, prompts, skills and where the key is kept."""

from __future__ import annotations

import ssl

import msgspec

from skillopt.backends.dialects.completions import LACKS, Completions, TurnTemplate
from skillopt.backends.endpoint import ApiKey, Endpoint, KeyUse
from skillopt.backends.http import parse_url
from skillopt.backends.settings import JsonFields, ModelSettings, encoded_constants, sampling
from skillopt.backends.wired import WiredChat, Witness
from skillopt.domain.chat import Feature, ModelIdentity

_OWN_FIELDS = ("model", "prompt", "max_tokens", "temperature", "seed", "stop", "stream", "stream_options")


class CompletionsSettings(
    ModelSettings, frozen=True, kw_only=True, forbid_unknown_fields=True, tag="completions", tag_field="backend"
):
    """A base model behind `/completions`: the conversation is written out as one text, which the model continues.

    base_url: The address up to `/v1` or what stands in its place.
    seed: Sent where a request leaves it open, for servers that know it.
    stop: Where the model should stop: a base model goes on by itself with the next question.
    template: How a conversation becomes one text.
    """

    base_url: str
    seed: int | None = None
    stop: tuple[str, ...] = ("\nUser:",)
    template: TurnTemplate = TurnTemplate()

    def __post_init__(self) -> None:
        super().__post_init__()
        parse_url(self.base_url)

    @property
    def address(self) -> str:
        """The base_url."""
        return self.base_url

    @property
    def lacks(self) -> frozenset[Feature]:
        """What no base model takes."""
        return LACKS


class CompletionsChat(WiredChat):
    """The Chat port over the completions dialect; a callable key is asked for at each call."""

    def __init__(
        self,
        settings: CompletionsSettings,
        *,
        api_key: ApiKey | None = None,
        tls: ssl.SSLContext | None = None,
        witness: Witness | None = None,
    ) -> None:
        fields: JsonFields = {"stop": settings.stop} if settings.stop else {}
        if settings.stream:
            fields |= {"stream": True, "stream_options": {"include_usage": True}}
        endpoint = Endpoint(
            settings.base_url,
            "/completions",
            key=None if api_key is None else KeyUse(key=api_key),
            headers=settings.headers,
            tls=tls,
        )
        identity = ModelIdentity(
            backend="completions",
            address=settings.alias or endpoint.address,
            model=settings.model,
            sampling=sampling(
                {
                    "temperature": settings.temperature,
                    "seed": settings.seed,
                    "stop": settings.stop,
                    "template": msgspec.structs.asdict(settings.template),
                    "extra_body": settings.extra_body,
                }
            ),
        )
        dialect = Completions(
            settings.model,
            settings.template,
            temperature=settings.temperature,
            seed=settings.seed,
            stream=settings.stream,
            constants=encoded_constants(fields, settings.extra_body, _OWN_FIELDS),
        )
        super().__init__(settings, identity=identity, dialect=dialect, endpoint=endpoint, witness=witness)
