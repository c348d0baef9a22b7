"""The settings of Azure: what must be said, what cannot be said together, and who a deployment says it is."""

from __future__ import annotations

import msgspec
import pytest

from skillopt.backends.azure.chat import AzureSettings, azure_chat
from skillopt.domain.errors import UsageError

PLAIN = {"backend": "azure", "endpoints": ["https://a.openai.azure.com/"], "model": "d", "api_key": "${K}"}


def settings(**given: object) -> AzureSettings:
    fields = {name: value for name, value in {**PLAIN, **given}.items() if value is not None}
    return msgspec.convert(fields, AzureSettings)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"endpoints": []}, "at least one"),
        ({"endpoints": ["https://a.openai.azure.com"] * 2}, "none twice"),
        ({"endpoints": ["a.openai.azure.com"]}, "no http:// or https://"),
        ({"api_key": None}, "needs api_key"),
        ({"login": "cli"}, "not an api_key"),
        ({"client_id": "x"}, "managed_identity"),
        ({"login": "cli", "api_key": None, "endpoints": ["https://evil.example.com"]}, "not a host of Azure"),
        ({"login": "cli", "api_key": None, "endpoints": ["http://a.openai.azure.com"]}, "unencrypted"),
        ({"login": "clii"}, "clii"),
        ({"api": "responses", "seed": 1}, "no seed"),
    ],
)
def test_what_cannot_be_meant_is_refused(given: dict[str, object], says: str) -> None:
    with pytest.raises((msgspec.ValidationError, UsageError), match=says):
        settings(**given)


def test_a_key_never_travels_in_the_clear() -> None:
    with pytest.raises(UsageError, match="unencrypted"):
        azure_chat(settings(endpoints=["http://a.openai.azure.com"]), key="hunter2")


def test_a_login_takes_no_key() -> None:
    with pytest.raises(UsageError, match="login: cli"):
        azure_chat(settings(login="cli", api_key=None), key="hunter2")


def test_identity_is_the_same_in_any_order_of_endpoints() -> None:
    one, other = "https://a.openai.azure.com", "https://b.openai.azure.com"
    there = azure_chat(settings(endpoints=[one, other]), key="k").identity
    back = azure_chat(settings(endpoints=[other, one]), key="k").identity
    assert there == back
    assert (there.backend, there.address) == ("azure", f"{one} {other}")
    assert azure_chat(settings(alias="mine"), key="k").identity.address == "mine"


def test_another_dialect_is_another_identity() -> None:
    chat, responses = (azure_chat(settings(api=api), key="k").identity for api in ("chat", "responses"))
    assert chat != responses


def test_several_endpoints_take_as_long_as_all_of_them() -> None:
    two = settings(endpoints=["https://a.openai.azure.com", "https://b.openai.azure.com"], timeout=7)
    assert azure_chat(two, key="k").timeout == 14.0
