"""What is particular about some OpenAI-compatible servers, as data: addresses, usual keys, names of fields, thinking.
Owns the table; refuses to guess: what a server is not known to do is left to `extra_body`."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal

import msgspec

from skillopt.backends.http import parse_url

PresetName = Literal[
    "openai",
    "vllm",
    "minimax",
    "deepseek",
    "mistral",
    "groq",
    "openrouter",
    "ollama",
    "llama_cpp",
    "lm_studio",
]
Thinking = Literal["server_default", "enabled", "disabled"]
Limit = Literal["max_tokens", "max_completion_tokens"]
Fields = Mapping[str, object]

_NOTHING: Fields = MappingProxyType({})


class Preset(msgspec.Struct, frozen=True, kw_only=True):
    """One provider or server. `key` is the variable in which people usually keep its key; local servers have none.

    `always` are fields of every request, `thinking` those that turn thinking on or off; `thinks_anyway` is how the
    names of models begin that cannot be kept from thinking, `blind` those of models that are shown no images. Where
    `holds_to_schemas` is not set, a JSON schema would be taken for a wish, or ignored.
    """

    base_url: str = ""
    regions: Mapping[str, str] = MappingProxyType({})
    key: str | None = None
    limit: Limit = "max_tokens"
    seed: str = "seed"
    asks_for_stream_usage: bool = True
    always: Fields = _NOTHING
    thinking: Mapping[Thinking, Fields] = MappingProxyType({})
    thinks_anyway: str | None = None
    blind: tuple[str, ...] = ()
    holds_to_schemas: bool = True

    @property
    def addresses(self) -> tuple[str, ...]:
        """Every address of its own."""
        return tuple(text for text in (self.base_url, *self.regions.values()) if text)


def _by_template(*, think: bool) -> Fields:
    """Return how servers that fill a chat template are told whether the model thinks."""
    return {"chat_template_kwargs": {"enable_thinking": think}}


_TEMPLATE: Mapping[Thinking, Fields] = MappingProxyType(
    {"enabled": _by_template(think=True), "disabled": _by_template(think=False)}
)
ANY_SERVER = Preset()
PRESETS: Mapping[PresetName, Preset] = MappingProxyType(
    {
        "openai": Preset(base_url="https://api.openai.com/v1", key="OPENAI_API_KEY", limit="max_completion_tokens"),
        "vllm": Preset(base_url="http://127.0.0.1:8000/v1", thinking=_TEMPLATE),
        "minimax": Preset(
            base_url="https://api.minimax.io/v1",
            regions={"global_en": "https://api.minimax.io/v1", "cn_zh": "https://api.minimaxi.com/v1"},
            key="MINIMAX_API_KEY",
            limit="max_completion_tokens",
            always={"reasoning_split": True},  # thoughts apart from the answer, not in its text
            thinking={"enabled": {"thinking": {"type": "adaptive"}}, "disabled": {"thinking": {"type": "disabled"}}},
            thinks_anyway="MiniMax-M2",
            blind=("MiniMax-M2",),
            holds_to_schemas=False,
        ),
        "deepseek": Preset(
            base_url="https://api.deepseek.com/v1",
            key="DEEPSEEK_API_KEY",
            thinking={"enabled": {"thinking": {"type": "enabled"}}, "disabled": {"thinking": {"type": "disabled"}}},
            blind=("deepseek-chat", "deepseek-reasoner"),
            holds_to_schemas=False,  # it knows JSON, and no schema
        ),
        "mistral": Preset(
            base_url="https://api.mistral.ai/v1",
            key="MISTRAL_API_KEY",
            seed="random_seed",
            asks_for_stream_usage=False,  # it sends usage unasked, and refuses fields it does not know
        ),
        "groq": Preset(base_url="https://api.groq.com/openai/v1", key="GROQ_API_KEY", limit="max_completion_tokens"),
        "openrouter": Preset(base_url="https://openrouter.ai/api/v1", key="OPENROUTER_API_KEY"),
        "ollama": Preset(base_url="http://127.0.0.1:11434/v1"),
        "llama_cpp": Preset(base_url="http://127.0.0.1:8080/v1", thinking=_TEMPLATE),
        "lm_studio": Preset(base_url="http://127.0.0.1:1234/v1"),
    }
)


def preset_of(name: PresetName | None) -> Preset:
    """Return what is known under a name; without one, what every server is taken to do."""
    return ANY_SERVER if name is None else PRESETS[name]


def usual_key(host: str) -> str | None:
    """Return the variable in which people keep the key of the provider at exactly this host."""
    return _USUAL_KEYS.get(host)


_USUAL_KEYS: Mapping[str, str] = MappingProxyType(
    {parse_url(text).host: preset.key for preset in PRESETS.values() for text in preset.addresses if preset.key}
    | {"api.anthropic.com": "ANTHROPIC_API_KEY"}
)
