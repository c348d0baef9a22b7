"""Makes the Chat of each role from its settings: the place where the word after `backend:` becomes an adapter.
Owns whose key goes to which host; refuses to know what is asked."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import cast

import msgspec

from skillopt.app.config import CliModel, FunctionModel, Model, Models, ScriptedModel, WiredModel, stages_of, title_of
from skillopt.app.environ import is_reference, resolve_reference
from skillopt.app.plugins import load_attribute
from skillopt.app.programs.teams import Programs
from skillopt.backends.anthropic import AnthropicChat, AnthropicSettings
from skillopt.backends.azure.chat import AzureSettings, Login, azure_chat
from skillopt.backends.azure.entra import Credential, EntraTokens
from skillopt.backends.completions import CompletionsChat, CompletionsSettings
from skillopt.backends.endpoint import check_key_host
from skillopt.backends.handoff import HandoffChat, HandoffSettings
from skillopt.backends.http import parse_url
from skillopt.backends.openai_chat import OpenAIChat, OpenAISettings
from skillopt.backends.providers.presets import usual_key
from skillopt.backends.providers.prices import price_of
from skillopt.domain.errors import UsageError
from skillopt.domain.usage import Caps, Price
from skillopt.kernel.clock import SystemClock
from skillopt.kernel.ports import Chat
from skillopt.kernel.work import Stage
from skillopt.testing.scripted import ScriptedChat

Key = Callable[[], str] | None

_NO_KEY = "none"
_SCRIPTED: Mapping[str, str] = MappingProxyType(
    {"target": "target-scripted", "optimizer": "opt-scripted", "judge": "judge-scripted"}
)
_CREDENTIALS: Mapping[Login, str] = MappingProxyType(
    {
        "cli": "AzureCliCredential",
        "managed_identity": "ManagedIdentityCredential",
        "default": "DefaultAzureCredential",
    }
)


def make_chat(role: str, model: Model, caps: Caps, root: Path = Path(), programs: Programs = Programs()) -> Chat:
    """Return who plays this role; a dollar cap needs a known price, and files are found from `root`."""
    if isinstance(model, ScriptedModel):
        return ScriptedChat.from_scenario(model.scenario, model=_SCRIPTED[role], timeout=model.timeout)
    if isinstance(model, HandoffSettings):
        return HandoffChat(model, root)
    if isinstance(model, FunctionModel):
        raise UsageError(
            f"models.{role} is the function {model.name!r}, which a config file cannot give.",
            hint="Call skillopt.optimize in Python, or name another backend.",
        )
    check_priced(role, model, caps)
    if isinstance(model, CliModel):
        return programs.asked_once(model)
    return _wired(_settings(model))


def check_priced(role: str, model: WiredModel | CliModel, caps: Caps) -> None:
    """Refuse a cap in dollars on a model whose price nobody knows."""
    if caps.usd is not None and known_price(model) is None:
        raise UsageError(
            f"limits.usd is set, but the price of models.{role}.model {model.model!r} is not known.",
            hint=f"Give models.{role}.price: {{input: …, output: …}} in dollars for a million tokens.",
        )


def at_stage(model: Model, stage: Stage) -> Model:
    """Return a role's model as one stage wants it; the same object where the stage changes nothing."""
    stages = stages_of(model)
    changes = stages[stage].changes if stage in stages else {}
    return msgspec.structs.replace(model, **changes) if changes else model


def samples(model: Model) -> bool:
    """Say whether this model is known to answer the same question in different ways."""
    if isinstance(model, CliModel):
        return True  # agents have no temperature to turn down
    temperature: float | None = getattr(model, "temperature", None)
    return temperature is not None and temperature > 0 and getattr(model, "seed", None) is None


def refuse_unseen(images: Collection[str], target: Model) -> None:
    """Refuse tasks with images for a target that is known to take none, before anything is asked."""
    known = isinstance(target, OpenAISettings | CompletionsSettings) and "images" in target.lacks
    if images and (known or isinstance(target, CliModel)):
        raise UsageError(
            f"The tasks have images, and models.target ({title_of(target)}) takes none as a model that is asked.",
            hint="Choose a model that is shown images, or with an agent's program environment.kind: agent.",
        )


def known_price(model: Model) -> Price | None:
    """Return what a model costs, if anybody said so; only what is asked over a wire has a price."""
    if not isinstance(model, WiredModel | CliModel):
        return None
    return price_of(model.model or "") if model.price is None else model.price


def references(models: Models) -> tuple[str, ...]:
    """Return every reference to a secret that these models have."""
    asked = (models.target, models.optimizer, models.judge)
    wired = [
        text for model in asked if isinstance(model, WiredModel) for text in (model.api_key, *model.headers.values())
    ]
    behind = [model.api_key for model in asked if isinstance(model, CliModel)]
    return tuple(text for text in (*wired, *behind) if text is not None)


def key_references(model: WiredModel) -> tuple[str, ...]:
    """Return every reference that must mean something when this model is asked."""
    headers = tuple(text for text in model.headers.values() if is_reference(text))
    key = _key_reference(model)
    return headers if key is None else (key, *headers)


def _wired(settings: WiredModel) -> Chat:
    if isinstance(settings, AzureSettings):
        return azure_chat(settings, key=_key(settings) if settings.login == "key" else _tokens(settings))
    key = _key(settings)
    if isinstance(settings, AnthropicSettings):
        return AnthropicChat(settings, api_key=key)
    if isinstance(settings, CompletionsSettings):
        return CompletionsChat(settings, api_key=key)
    return OpenAIChat(settings, api_key=key)


def _settings(model: WiredModel) -> WiredModel:
    """Return the settings with what headers refer to, and with the price of a well-known name."""
    headers = {name: _header(model, text) for name, text in model.headers.items()}
    price = price_of(model.model) if model.price is None else model.price
    return msgspec.structs.replace(model, headers=headers, price=price)


def _header(model: WiredModel, text: str) -> str:
    """Return what a header says; a reference in one is a key, and goes only where a key may go."""
    if not is_reference(text):
        return text
    for address in _addresses(model):
        check_key_host(parse_url(address))
    return resolve_reference(text)


def _key(model: WiredModel) -> Key:
    """Return how to get the key at call time: the one named beside this address, or the host's own usual one."""
    reference = _key_reference(model)
    if reference is None:
        return None
    for address in _addresses(model):
        check_key_host(parse_url(address))
    return partial(resolve_reference, reference)


def _key_reference(model: WiredModel) -> str | None:
    if isinstance(model, AzureSettings) and model.login != "key":
        return None
    if model.api_key is None:
        usual = usual_key(parse_url(_addresses(model)[0]).host)
        return None if usual is None else f"${{{usual}}}"
    return None if model.api_key == _NO_KEY else model.api_key


def _addresses(model: WiredModel) -> tuple[str, ...]:
    return model.endpoints if isinstance(model, AzureSettings) else (model.address,)


def _tokens(settings: AzureSettings) -> EntraTokens:
    """Return where the tokens of Entra ID come from; azure-identity is loaded only now."""
    name = _CREDENTIALS[settings.login]
    try:
        made = load_attribute("azure.identity", name)
    except UsageError as error:
        raise UsageError(
            f"login: {settings.login} needs the package azure-identity, which is not installed.",
            hint="Install it: pip install 'skillopt[azure]'.",
        ) from error
    credential = cast("Callable[..., Credential]", made)
    given = {} if settings.client_id is None else {"client_id": settings.client_id}
    return EntraTokens(credential(**given), settings.scope, SystemClock())
