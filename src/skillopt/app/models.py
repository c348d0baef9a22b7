"""Makes the Chat of each role from its settings: the place where the word after `backend:` becomes an adapter.
Owns whose key goes to which host; refuses to know what is asked."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType

import msgspec

from skillopt.app.config import Model, Models, OpenAIModel
from skillopt.app.environ import is_reference, resolve_reference
from skillopt.backends.http import parse_url
from skillopt.backends.openai_chat import OpenAIChat, OpenAISettings, check_key_host
from skillopt.backends.prices import price_of
from skillopt.domain.errors import UsageError
from skillopt.domain.usage import Caps
from skillopt.kernel.ports import Chat
from skillopt.testing.scripted import ScriptedChat

_NO_KEY = "none"
_SCRIPTED: Mapping[str, str] = MappingProxyType(
    {"target": "target-scripted", "optimizer": "opt-scripted", "judge": "judge-scripted"}
)
_OWN_KEYS: Mapping[str, str] = MappingProxyType({"api.openai.com": "${OPENAI_API_KEY}"})


def make_chat(role: str, model: Model, caps: Caps) -> Chat:
    """Return who plays this role; a dollar cap needs a known price."""
    if isinstance(model, OpenAIModel):
        settings = _settings(model)
        if caps.usd is not None and settings.price is None:
            raise UsageError(
                f"limits.usd is set, but the price of models.{role}.model {model.model!r} is not known.",
                hint=f"Give models.{role}.price: {{input: …, output: …}} in dollars for a million tokens.",
            )
        return OpenAIChat(settings, api_key=_key(model))
    return ScriptedChat.from_scenario(model.scenario, model=_SCRIPTED[role], timeout=model.timeout)


def references(models: Models) -> tuple[str, ...]:
    """Return every reference to a secret that these models have."""
    asked = [model for model in (models.target, models.optimizer, models.judge) if isinstance(model, OpenAIModel)]
    return tuple(text for model in asked for text in (model.api_key, *model.headers.values()) if text is not None)


def _settings(model: OpenAIModel) -> OpenAISettings:
    fields = {name: getattr(model, name) for name in OpenAISettings.__struct_fields__}
    fields["headers"] = {name: _header(model, text) for name, text in model.headers.items()}
    if model.price is None:
        fields["price"] = price_of(model.model)
    return msgspec.convert(fields, OpenAISettings, from_attributes=True)


def _header(model: OpenAIModel, text: str) -> str:
    """Return what a header says; a reference in one is a key, and goes only where a key may go."""
    if not is_reference(text):
        return text
    check_key_host(parse_url(model.base_url))
    return resolve_reference(text)


def _key(model: OpenAIModel) -> Callable[[], str] | None:
    """Return how to get the key at call time: the one named beside this base_url, or the host's own usual one."""
    if model.api_key == _NO_KEY:
        return None
    url = parse_url(model.base_url)
    if model.api_key is not None:
        check_key_host(url)
        return partial(resolve_reference, model.api_key)
    if url.host in _OWN_KEYS:
        return partial(resolve_reference, _OWN_KEYS[url.host])
    return None
