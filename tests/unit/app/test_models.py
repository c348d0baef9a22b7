"""Whose key goes to which host: against a real socket, what is sent."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import msgspec
import pytest

from skillopt.app.config import Model, Models, ScriptedModel
from skillopt.app.models import at_stage, key_references, make_chat, references
from skillopt.backends.openai_chat import OpenAISettings
from skillopt.domain.chat import ChatRequest, Message
from skillopt.domain.errors import UsageError
from skillopt.domain.usage import Caps
from skillopt.testing.scripted import ScriptedChat
from skillopt.testing.server.embedded import ThreadedServer, serve_in_thread

OPENAI = "sk-openai-0123456789abcdef"
OWN = "own-key-0123456789"
ASK = ChatRequest(messages=(Message("user", "hello"),), max_tokens=50)


def model(**settings: object) -> OpenAISettings:
    return msgspec.convert({"backend": "openai", "model": "m", **settings}, OpenAISettings)


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


USUAL = {
    "OPENAI_API_KEY": {"preset": "openai"},
    "GROQ_API_KEY": {"preset": "groq"},
    "MINIMAX_API_KEY": {"preset": "minimax", "region": "cn_zh"},
    "MISTRAL_API_KEY": {"base_url": "https://api.mistral.ai/v1"},
    "ANTHROPIC_API_KEY": {"backend": "anthropic"},
}


@pytest.mark.parametrize("variable", USUAL)
def test_a_providers_own_host_has_its_usual_key(variable: str) -> None:
    given = msgspec.convert({"backend": "openai", "model": "m", **USUAL[variable]}, Model)
    assert not isinstance(given, ScriptedModel)
    (reference,) = key_references(given)
    assert reference == f"${{{variable}}}"


@pytest.mark.parametrize(
    "given",
    [
        {"preset": "openai", "base_url": "https://models.example.net/v1"},
        {"preset": "vllm"},
        {"backend": "anthropic", "base_url": "https://models.example.net/v1"},
        {"backend": "completions", "base_url": "https://models.example.net/v1"},
        {"preset": "openai", "api_key": "none"},
    ],
)
def test_any_other_host_needs_its_key_named(given: dict[str, object]) -> None:
    chosen = msgspec.convert({"backend": "openai", "model": "m", **given}, Model)
    assert not isinstance(chosen, ScriptedModel)
    assert key_references(chosen) == ()


def test_each_backend_sends_its_key_its_own_way(server: ThreadedServer) -> None:
    def sent(given: dict[str, object]) -> dict[str, str]:
        chosen: Model = msgspec.convert({"model": "m", "api_key": "${OWN_KEY}", **given}, Model)
        return headers_sent(server, "target", chosen)

    url = server.url("echo")
    assert sent({"backend": "openai", "base_url": url, "api": "responses"})["authorization"].startswith("Bearer ")
    assert sent({"backend": "completions", "base_url": url})["authorization"].startswith("Bearer ")
    assert sent({"backend": "anthropic", "base_url": url})["x-api-key"]
    assert sent({"backend": "azure", "endpoints": [url]})["api-key"]


def test_a_login_without_its_package_says_what_to_install() -> None:
    given = {"backend": "azure", "endpoints": ["https://a.openai.azure.com"], "model": "d", "login": "cli"}
    try:
        make_chat("target", msgspec.convert(given, Model), Caps())
    except UsageError as refused:
        assert "azure-identity" in refused.message
        assert "skillopt[azure]" in str(refused.hint)


def test_a_stage_changes_its_own_part_of_a_model() -> None:
    plain = model(base_url="http://127.0.0.1:1/v1", stages={"rewrite": {"max_tokens": 64000, "timeout": 900}})
    rewriting = at_stage(plain, "rewrite")
    assert isinstance(rewriting, OpenAISettings)
    assert (rewriting.max_tokens, rewriting.timeout) == (64000, 900.0)
    assert at_stage(plain, "reflect") is plain
