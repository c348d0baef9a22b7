from __future__ import annotations

import tomllib
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillopt.agents.codex.configuration import configuration
from skillopt.agents.program import Job, Model
from skillopt.agents.settings import AgentSettings
from skillopt.domain.errors import UsageError

MODEL = Model(name="some-model", base_url="http://127.0.0.1:9/v1", key="a-key")


def job(agent: AgentSettings | None = None, *, model: Model = MODEL, seconds: float = 100.0) -> Job:
    return Job(
        prompt="p",
        work="/job",
        home="/home/agent",
        confined=agent is None or agent.sandbox == "bubblewrap",
        model=model,
        agent=agent,
        seconds=seconds,
        effort="high",
    )


def read(job: Job) -> dict[str, Any]:
    return tomllib.loads(configuration(job))


def test_the_model_is_behind_a_provider_of_our_own() -> None:
    config = read(job())
    assert (config["model"], config["model_provider"], config["model_reasoning_effort"]) == (
        "some-model",
        "skillopt",
        "high",
    )
    assert config["model_providers"]["skillopt"] == {
        "name": "skillopt",
        "wire_api": "responses",
        "request_max_retries": 0,
        "stream_max_retries": 0,
        "stream_idle_timeout_ms": 90_000,
        "env_key": "SKILLOPT_MODEL_KEY",
        "base_url": "http://127.0.0.1:9/v1",
    }
    assert "a-key" not in configuration(job())


def test_one_retry_in_the_middle_of_long_work_and_both_end_in_time() -> None:
    provider = read(job(AgentSettings()))["model_providers"]["skillopt"]
    assert (provider["stream_max_retries"], provider["stream_idle_timeout_ms"]) == (1, 45_000)


@pytest.mark.parametrize(
    ("base_url", "key", "told"),
    [
        (None, "a-key", {"env_key": "SKILLOPT_MODEL_KEY", "base_url": "https://api.openai.com/v1"}),
        ("http://h/v1", None, {"base_url": "http://h/v1"}),
        (None, None, {"requires_openai_auth": True}),
    ],
)
def test_a_key_an_open_server_or_the_login(base_url: str | None, key: str | None, told: dict[str, object]) -> None:
    config = read(job(model=Model(name=None, base_url=base_url, key=key)))
    provider = config["model_providers"]["skillopt"]
    assert {
        name: provider[name] for name in provider if name in {"env_key", "base_url", "requires_openai_auth"}
    } == told
    assert "model" not in config


def test_who_is_only_asked_has_no_tools_and_no_instructions_but_ours() -> None:
    config = read(job())
    assert config["model_instructions_file"] == "/home/agent/.codex/system.md"
    assert not any(config["features"][tool] for tool in ("shell_tool", "unified_exec", "view_image"))
    assert config["skills"]["include_instructions"] is False
    assert config["project_doc_max_bytes"] == 0
    assert config["model_catalog_json"] == "/home/agent/.codex/models.json"


def test_a_model_of_its_own_choice_is_chosen_from_its_own_catalog() -> None:
    assert "model_catalog_json" not in read(job(model=Model(name=None, base_url=None, key=None)))


@pytest.mark.parametrize(
    ("agent", "told"),
    [
        (AgentSettings(), {":root": "write"}),
        (AgentSettings(files="read"), {":root": "write"}),
        (AgentSettings(sandbox="none"), {":root": "read", ":tmpdir": "write", ":workspace_roots": "write"}),
        (AgentSettings(sandbox="none", files="read"), {":root": "read", ":tmpdir": "write"}),
    ],
)
@pytest.mark.parametrize("network", [True, False])
def test_it_confines_itself_as_far_as_it_can_where_it_is(
    agent: AgentSettings, told: dict[str, str], network: bool
) -> None:
    config = read(job(msgspec.structs.replace(agent, network=network)))
    assert config["default_permissions"] == "skillopt"
    assert config["permissions"]["skillopt"] == {"filesystem": told, "network": {"enabled": network}}
    assert "sandbox_mode" not in config


def test_a_mode_of_its_own_may_be_asked_for() -> None:
    config = read(job(AgentSettings(sandbox="none", permission="workspace-write", network=True)))
    assert config["sandbox_mode"] == "workspace-write"
    assert config["sandbox_workspace_write"] == {"network_access": True, "exclude_slash_tmp": True}
    assert "default_permissions" not in config


@pytest.mark.parametrize(("wanted", "told"), [(True, "live"), (False, "disabled")])
def test_the_web_is_searched_only_where_that_is_allowed(wanted: bool, told: str) -> None:
    assert read(job(AgentSettings(web_search=wanted)))["web_search"] == told


@pytest.mark.parametrize(
    ("agent", "key"),
    [
        (AgentSettings(tools=("shell",)), "agent.tools"),
        (AgentSettings(thinking_tokens=100), "agent.thinking_tokens"),
        (AgentSettings(profile="mine"), "agent.profile"),
        (AgentSettings(permission="read-onyl"), "agent.permission"),
        (AgentSettings(permission="read-only"), "agent.permission"),
        (AgentSettings(permission="workspace-write"), "agent.permission"),
        (AgentSettings(permission="danger-full-access", files="read"), "agent.files"),
        (AgentSettings(permission="workspace-write", files="read", sandbox="none"), "agent.files"),
        (AgentSettings(permission="read-only", network=True, sandbox="none"), "agent.network"),
    ],
)
def test_what_it_cannot_do_is_refused_by_the_name_of_its_key(agent: AgentSettings, key: str) -> None:
    with pytest.raises(UsageError) as caught:
        configuration(job(agent))
    assert key in caught.value.message
    assert caught.value.hint


def test_it_speaks_one_protocol() -> None:
    with pytest.raises(UsageError, match="wire"):
        configuration(job(model=Model(name="m", base_url=None, key="k", wire="chat")))


@given(st.text(st.characters(codec="utf-8")))
def test_any_name_is_told_as_it_is(name: str) -> None:
    assert read(job(model=Model(name=name, base_url=None, key=None)))["model"] == name
