"""Whose key goes to which host: against a real socket, what is sent."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import msgspec
import pytest

from skillopt.app.config import Model, Models, OpenAIModel, ScriptedModel
from skillopt.app.models import make_chat, references
from skillopt.domain.chat import ChatRequest, Message
from skillopt.domain.errors import UsageError
from skillopt.domain.usage import Caps
from skillopt.testing.scripted import ScriptedChat
from skillopt.testing.server.embedded import ThreadedServer, serve_in_thread

OPENAI = "sk-openai-0123456789abcdef"
OWN = "own-key-0123456789"
ASK = ChatRequest(messages=(Message("user", "hello"),), max_tokens=50)


def model(**settings: object) -> OpenAIModel:
    return msgspec.convert({"backend": "openai", "model": "m", **settings}, OpenAIModel)


@pytest.fixture
def server() -> Iterator[ThreadedServer]:
    with serve_in_thread() as running:
        yield running


@pytest.fixture(autouse=True)
def keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", OPENAI)
    monkeypatch.setenv("OWN_KEY", OWN)


def headers_sent(server: ThreadedServer, role: str, asked: Model) -> dict[str, str]:
    async def ask() -> None:
        chat = make_chat(role, asked, Caps())
        await chat.send(ASK)
        await chat.close()

    asyncio.run(ask())
    return dict(server.log("echo")[-1].headers)


def test_the_usual_key_is_never_sent_to_another_host(server: ThreadedServer) -> None:
    assert "authorization" not in headers_sent(server, "target", model(base_url=server.url("echo")))
    assert "authorization" not in headers_sent(server, "target", model(base_url=server.url("echo"), api_key="none"))


def test_a_key_is_sent_where_its_reference_says(server: ThreadedServer) -> None:
    named = headers_sent(server, "target", model(base_url=server.url("echo"), api_key="${OWN_KEY}"))
    header = headers_sent(server, "target", model(base_url=server.url("echo"), headers={"X-Key": "${OWN_KEY}"}))
    plain = headers_sent(server, "target", model(base_url=server.url("echo"), headers={"X-Title": "a ${b}"}))
    assert named["authorization"]
    assert header["x-key"] == OWN
    assert plain["x-title"] == "a ${b}"


@pytest.mark.parametrize("given", [{"api_key": "${OWN_KEY}"}, {"headers": {"X-Key": "${OWN_KEY}"}}])
@pytest.mark.parametrize("host", ["192.0.2.7:8000", "models.example.net"])
def test_a_key_never_travels_unencrypted_beyond_this_machine(given: dict[str, object], host: str) -> None:
    with pytest.raises(UsageError) as refused:
        make_chat("target", model(base_url=f"http://{host}/v1", **given), Caps())
    assert "unencrypted" in refused.value.message
    assert OWN not in str(refused.value)


@pytest.mark.parametrize("given", [{"api_key": "${NOT_SET}"}, {"headers": {"X-Key": "${NOT_SET}"}}])
def test_a_reference_to_nothing_names_its_variable(server: ThreadedServer, given: dict[str, object]) -> None:
    with pytest.raises(UsageError, match="NOT_SET is not set"):
        headers_sent(server, "target", model(base_url=server.url("echo"), **given))


@pytest.mark.parametrize("role", ["target", "optimizer"])
def test_a_dollar_cap_needs_a_known_price(role: str) -> None:
    unknown = model(base_url="http://127.0.0.1:1/v1")
    with pytest.raises(UsageError) as refused:
        make_chat(role, unknown, Caps(usd=1.0))
    assert f"models.{role}.model 'm' is not known" in refused.value.message
    assert f"models.{role}.price" in str(refused.value.hint)
    make_chat(role, unknown, Caps(calls=1))
    make_chat(role, model(base_url="http://127.0.0.1:1/v1", price={"input": 0.0, "output": 0.0}), Caps(usd=1.0))


def test_a_scripted_model_knows_its_part() -> None:
    scripted = msgspec.convert({"backend": "scripted", "scenario": "rules", "timeout": 3.0}, ScriptedModel)
    names = [make_chat(role, scripted, Caps(usd=1.0)).identity.model for role in ("target", "optimizer")]
    assert names == ["target-scripted", "opt-scripted"]
    chat = make_chat("target", scripted, Caps())
    assert isinstance(chat, ScriptedChat)
    assert chat.timeout == 3.0


def test_references_are_those_of_both_models() -> None:
    models = Models(
        target=model(base_url="http://127.0.0.1:1/v1", api_key="${A}", headers={"x": "${B}"}),
        optimizer=msgspec.convert({"backend": "scripted", "scenario": "rules"}, ScriptedModel),
    )
    assert references(models) == ("${A}", "${B}")
