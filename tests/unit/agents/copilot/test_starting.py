from __future__ import annotations

import msgspec
import pytest

from skillopt.agents.copilot.starting import command
from skillopt.agents.program import Job, Model
from skillopt.domain.errors import UsageError
from tests.unit.agents.endings import JOB, MODEL, agent_job


def words(job: Job) -> str:
    return " ".join(command(job).args)


def test_everything_is_allowed_only_where_files_may_change_and_something_confines_it() -> None:
    assert "--allow-all-tools" in words(JOB)
    assert "--allow-all-tools" not in words(agent_job(sandbox="none"))
    assert "--allow-tool=write --allow-tool=shell" in words(agent_job(sandbox="none"))
    assert "--allow-all-tools" in words(agent_job(sandbox="none", permission="allow-all-tools"))
    assert "--allow-" not in words(agent_job(permission="manual"))


@pytest.mark.parametrize("sandbox", ["bubblewrap", "none"])
def test_where_files_are_only_read_writing_is_neither_offered_nor_allowed(sandbox: str) -> None:
    told = words(agent_job(files="read", sandbox=sandbox))
    assert "--deny-tool=write" in told
    assert "--allow-all" not in told
    assert "create" not in told
    assert ("--allow-tool=shell" in told) == (sandbox == "bubblewrap")


def test_addresses_are_denied_where_only_copilot_itself_could_deny_them() -> None:
    assert "--deny-tool=url" in words(agent_job(sandbox="none"))
    assert "url" not in words(JOB)
    assert "--allow-all-urls" in words(agent_job(network=True))


def test_the_tool_for_skills_is_there_where_the_agent_finds_them_itself() -> None:
    assert ",skill " in words(JOB)
    assert "skill" not in words(agent_job(skill="told"))
    assert "--available-tools=view " in words(agent_job(tools=["view"]))


def test_asked_once_there_are_no_tools_and_the_systems_words_come_first() -> None:
    made = command(msgspec.structs.replace(JOB, agent=None, system="Be brief.", prompt="Why?"))
    assert made.args[-1] == "--available-tools=none"
    assert made.stdin == b"Be brief.\n\nWhy?"
    assert not any(word.startswith("--allow") for word in made.args)


def test_the_model_is_told_by_the_environment() -> None:
    env = command(JOB).env
    assert env["COPILOT_PROVIDER_BASE_URL"] == "http://127.0.0.1:9/v1"
    assert (env["COPILOT_PROVIDER_TYPE"], env["COPILOT_PROVIDER_WIRE_API"]) == ("openai", "completions")
    assert (env["COPILOT_PROVIDER_API_KEY"], env["COPILOT_MODEL"]) == ("a-key", "scripted-1")
    assert (env["COPILOT_OFFLINE"], env["COPILOT_AUTO_UPDATE"]) == ("true", "false")
    assert env["COPILOT_NATIVE_HTTP_TIMEOUT_MS"] == "285000"
    assert "a-key" not in words(JOB)


def test_anthropics_messages_are_asked_for_without_the_version_in_the_address() -> None:
    env = command(msgspec.structs.replace(JOB, model=msgspec.structs.replace(MODEL, wire="messages"))).env
    assert (env["COPILOT_PROVIDER_TYPE"], env["COPILOT_PROVIDER_BASE_URL"]) == ("anthropic", "http://127.0.0.1:9")
    assert "COPILOT_PROVIDER_WIRE_API" not in env


def test_without_an_address_github_is_asked_with_the_key_of_github() -> None:
    env = command(msgspec.structs.replace(JOB, model=Model(name=None, base_url=None, key="a-token"))).env
    assert env["COPILOT_GITHUB_TOKEN"] == "a-token"
    assert not any(name.startswith(("COPILOT_PROVIDER", "COPILOT_OFFLINE", "COPILOT_MODEL")) for name in env)


def test_pictures_folders_and_effort_are_words() -> None:
    told = words(msgspec.structs.replace(JOB, images=("a.png",), data_dirs=("/data/x",), effort="high"))
    assert "--attachment a.png" in told
    assert "--add-dir /data/x" in told
    assert "--reasoning-effort high" in told


@pytest.mark.parametrize(
    ("job", "named"),
    [
        (msgspec.structs.replace(JOB, schema="{}"), "agent.structured"),
        (msgspec.structs.replace(JOB, effort="wild"), "wild"),
        (msgspec.structs.replace(JOB, model=Model(name=None, base_url="http://x", key=None)), "model"),
        (agent_job(thinking_tokens=5), "agent.thinking_tokens"),
        (agent_job(profile="mine"), "agent.profile"),
        (agent_job(web_search=True), "agent.web_search"),
        (agent_job(mode="sdk"), "agent.mode"),
        (agent_job(permission="yolo"), "agent.permission"),
        (agent_job(permission="allow-all-tools", files="read"), "agent.permission"),
    ],
)
def test_what_it_cannot_be_told_is_refused_by_its_key(job: Job, named: str) -> None:
    with pytest.raises(UsageError) as raised:
        command(job)
    assert named in f"{raised.value} {raised.value.hint}"
