from __future__ import annotations

from typing import Any

import msgspec
import pytest

from skillopt.agents.opencode.starting import command
from skillopt.agents.program import Job, Model
from skillopt.domain.errors import UsageError
from tests.unit.agents.endings import JOB, MODEL, agent_job


def configured(job: Job) -> dict[str, Any]:
    made = command(job)
    assert made.env["OPENCODE_CONFIG"] == "/home/agent/opencode.json"
    return dict(msgspec.json.decode(made.home_files["opencode.json"]))


def test_it_fetches_nothing_and_asks_for_no_title() -> None:
    made = command(JOB)
    assert made.env["npm_config_registry"] == "http://127.0.0.1:9"
    assert made.env["npm_config_fetch_retries"] == "0"
    assert "--title" in made.args
    assert made.stdin == b"Do it."


@pytest.mark.parametrize(
    ("wire", "package"),
    [
        (None, "@ai-sdk/openai-compatible"),
        ("chat", "@ai-sdk/openai-compatible"),
        ("responses", "@ai-sdk/openai"),
        ("messages", "@ai-sdk/anthropic"),
    ],
)
def test_the_model_is_a_provider_of_its_own_and_the_key_is_in_no_variable(wire: str | None, package: str) -> None:
    job = msgspec.structs.replace(JOB, model=msgspec.structs.replace(MODEL, wire=wire))
    config = configured(job)
    provider = config["provider"]["skillopt"]
    assert (config["model"], config["small_model"]) == ("skillopt/scripted-1", "skillopt/scripted-1")
    assert provider["npm"] == package
    assert (provider["options"]["baseURL"], provider["options"]["apiKey"]) == ("http://127.0.0.1:9/v1", "a-key")
    assert provider["options"]["timeout"] == 285000
    assert "a-key" not in str(command(job).env) + str(command(job).args)


def test_without_an_address_the_provider_is_a_part_of_the_name() -> None:
    config = configured(msgspec.structs.replace(JOB, model=Model(name="anthropic/claude", base_url=None, key=None)))
    assert config["model"] == "anthropic/claude"
    assert "apiKey" not in config["provider"]["anthropic"]["options"]


def test_what_is_not_named_is_denied_and_nothing_is_asked() -> None:
    assert configured(JOB)["permission"] == {
        "*": "deny",
        **dict.fromkeys(("read", "grep", "glob", "list", "todowrite", "edit", "bash", "skill"), "allow"),
        "external_directory": "allow",
        "doom_loop": "allow",
    }


@pytest.mark.parametrize(
    ("job", "allowed", "missing"),
    [
        (agent_job(sandbox="none"), {"bash", "edit"}, {"external_directory"}),
        (agent_job(files="read"), {"bash", "read"}, {"edit"}),
        (agent_job(files="read", sandbox="none"), {"read"}, {"edit", "bash"}),
        (agent_job(skill="told"), {"read"}, {"skill"}),
        (agent_job(network=True), {"webfetch"}, set()),
        (agent_job(tools=["write", "read"]), {"edit", "read"}, {"bash", "skill"}),
    ],
)
def test_permissions_follow_what_the_agent_may_do(job: Job, allowed: set[str], missing: set[str]) -> None:
    permission = configured(job)["permission"]
    granted = {name for name, action in permission.items() if action == "allow"}
    assert allowed <= granted
    assert not missing & granted


def test_asked_once_it_is_an_agent_of_ours_with_our_words_and_without_tools() -> None:
    job = msgspec.structs.replace(JOB, agent=None, system="Be brief.")
    asked = configured(job)["agent"]["asked"]
    assert (asked["prompt"], asked["tools"], asked["permission"]) == ("Be brief.", {"*": False}, {"*": "deny"})
    assert "permission" not in configured(job)
    assert command(job).args[-2:] == ("--agent", "asked")
    assert configured(msgspec.structs.replace(job, system=" "))["agent"]["asked"]["prompt"]


def test_pictures_effort_and_profile_are_passed_on() -> None:
    job = msgspec.structs.replace(agent_job(profile="plan"), images=("a.png",), effort="high")
    model = configured(job)["provider"]["skillopt"]["models"]["scripted-1"]
    assert model["options"] == {"reasoningEffort": "high"}
    assert model["attachment"] is True
    assert command(job).args[-4:] == ("--agent", "plan", "--file", "a.png")


@pytest.mark.parametrize(
    ("job", "named"),
    [
        (msgspec.structs.replace(JOB, schema="{}"), "agent.structured"),
        (msgspec.structs.replace(JOB, model=Model(name=None, base_url="http://x", key=None)), "model"),
        (msgspec.structs.replace(JOB, model=Model(name="claude", base_url=None, key=None)), "provider/name"),
        (agent_job(thinking_tokens=5), "agent.thinking_tokens"),
        (agent_job(profile="mine"), "agent.profile"),
        (agent_job(web_search=True), "agent.web_search"),
        (agent_job(permission="ask"), "agent.permission"),
        (agent_job(mode="sdk"), "agent.mode"),
        (agent_job(files="read", tools=["write"]), "agent.files"),
    ],
)
def test_what_it_cannot_be_told_is_refused_by_its_key(job: Job, named: str) -> None:
    with pytest.raises(UsageError) as raised:
        command(job)
    assert named in f"{raised.value} {raised.value.hint}"
