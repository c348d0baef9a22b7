"""What Codex is told in its config.toml, made anew for each job, so that nothing of this person's own counts.
Owns which keys those are and which jobs Codex cannot do; refuses to know how it is started and what it answers.
Tried with Codex 0.169: every key is known to it, or it would refuse to start (`--strict-config`)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias

import msgspec

from skillopt.agents.program import Job
from skillopt.agents.settings import AgentSettings
from skillopt.domain.errors import UsageError, named

KEY_VARIABLE = "SKILLOPT_MODEL_KEY"
SYSTEM_FILE = ".codex/system.md"
CATALOG_FILE = ".codex/models.json"
OWN_HOST = "https://api.openai.com/v1"

_Scalar: TypeAlias = str | bool | int | Sequence[str]
_Value: TypeAlias = "_Scalar | Mapping[str, _Value]"
_Table: TypeAlias = dict[str, _Value]

_NAME = "skillopt"  # of our provider and of our permissions
_CHANGES = {"read-only": False, "workspace-write": True, "danger-full-access": True}
_PATIENCE = 0.9  # of the seconds of a request: the program is to give up before it is stopped
_UNWANTED = ("apps", "goals", "hooks", "image_generation", "plugins", "shell_snapshot", "sleep_tool", "tool_suggest")
_TOOLS = ("shell_tool", "unified_exec", "view_image")


# Codex gives tools to the models it knows, whatever is switched off; one that its catalog does not have gets none.
CATALOG = msgspec.json.encode(
    {
        "models": [
            {
                "slug": "no-model",
                "display_name": "no-model",
                "base_instructions": "-",
                "shell_type": "disabled",
                "visibility": "none",
                "supported_in_api": True,
                "priority": 1,
                "supported_reasoning_levels": [],
                "supports_reasoning_summaries": False,
                "support_verbosity": False,
                "supports_parallel_tool_calls": False,
                "experimental_supported_tools": [],
                "truncation_policy": {"mode": "bytes", "limit": 10_000},
            }
        ]
    }
).decode()


def configuration(job: Job) -> str:
    """Return the whole config for a job; a job that Codex cannot do is a UsageError."""
    if job.model.wire not in {None, "responses"}:
        raise UsageError(
            f"Codex speaks the protocol `responses` only, not {job.model.wire!r}.",
            hint="Set wire: responses for this model, or leave it out.",
        )
    config: _Table = {
        "model_provider": _NAME,
        "check_for_update_on_startup": False,
        "allow_login_shell": False,  # it would set PATH anew
        "project_root_markers": [],  # nothing above the job's folder is read
        "analytics": {"enabled": False},
        "agents": {"enabled": False},
        "tools": {"experimental_request_user_input": {"enabled": False}},
        "shell_environment_policy": {"inherit": "all", "exclude": [KEY_VARIABLE]},
        "model_providers": {_NAME: _provider(job)},
    }
    if job.model.name is not None:
        config["model"] = job.model.name
    if job.effort is not None:
        config["model_reasoning_effort"] = job.effort
    config |= _asked(job) if job.agent is None else _working(job.agent, confined=job.confined)
    return "\n".join(_lines(config, ())) + "\n"


def _provider(job: Job) -> _Table:
    """Describe the model's server. A failed request is tried again once in the middle of long work, else not at all."""
    retries = 0 if job.agent is None else 1
    provider: _Table = {
        "name": _NAME,
        "wire_api": "responses",
        "request_max_retries": 0,
        "stream_max_retries": retries,
        "stream_idle_timeout_ms": max(1000, int(job.seconds * 1000 * _PATIENCE / (retries + 1))),
    }
    if job.model.key is not None:
        provider |= {"env_key": KEY_VARIABLE, "base_url": job.model.base_url or OWN_HOST}
    elif job.model.base_url is not None:
        provider["base_url"] = job.model.base_url
    else:
        provider["requires_openai_auth"] = True  # the login in its home says which server
    return provider


def _asked(job: Job) -> _Table:
    """Leave the model nothing but the system text and the prompt.

    Where the model is Codex's own choice, the catalog is what it chooses from: a known model then sees tools, which can
    do no harm in a folder that may only be read.
    """
    catalog: _Table = {} if job.model.name is None else {"model_catalog_json": f"{job.home}/{CATALOG_FILE}"}
    return catalog | {
        "web_search": "disabled",
        "sandbox_mode": "read-only",
        "project_doc_max_bytes": 0,
        "model_instructions_file": f"{job.home}/{SYSTEM_FILE}",
        "include_permissions_instructions": False,
        "include_environment_context": False,
        "include_apps_instructions": False,
        "skills": {"include_instructions": False, "bundled": {"enabled": False}},
        "features": dict.fromkeys((*_UNWANTED, *_TOOLS), False),
    }


def _working(agent: AgentSettings, *, confined: bool) -> _Table:
    _check(agent)
    mode = agent.permission
    may = _permissions(agent, confined=confined) if mode is None else _mode(agent, mode, confined=confined)
    return may | {
        "web_search": "live" if agent.web_search else "disabled",
        "skills": {"bundled": {"enabled": False}},  # they would compete with ours
        "features": dict.fromkeys(_UNWANTED, False),
    }


def _check(agent: AgentSettings) -> None:
    """Refuse what Codex cannot be told."""
    for key, value, why in (
        ("tools", agent.tools, "it has no list of tools to choose from"),
        ("thinking_tokens", agent.thinking_tokens, "it takes an effort, not a number of tokens"),
        ("profile", agent.profile, "its profiles lie in your own home, which it does not see"),
    ):
        if value is not None:
            raise UsageError(f"agent.{key} is set, but Codex cannot be told that: {why}.", hint="Leave it out.")


def _permissions(agent: AgentSettings, *, confined: bool) -> _Table:
    """Permissions of our own. Inside our sandbox Codex cannot have its own and needs none, save against the network.

    Its sandbox for files wants namespaces of its own, which ours forbids; what it does about the network works.
    """
    if confined:
        files: _Table = {":root": "write"}
    elif agent.files == "edit":
        files = {":root": "read", ":tmpdir": "write", ":workspace_roots": "write"}
    else:
        files = {":root": "read", ":tmpdir": "write"}
    network: _Table = {"enabled": agent.network}
    return {"default_permissions": _NAME, "permissions": {_NAME: {"filesystem": files, "network": network}}}


def _mode(agent: AgentSettings, mode: str, *, confined: bool) -> _Table:
    changes = named("value of agent.permission for Codex", mode, _CHANGES)
    if confined and mode != "danger-full-access":
        raise UsageError(
            f"agent.permission is {mode}, but Codex's own sandbox does not work inside ours.",
            hint="Leave agent.permission out: files and network are confined all the same.",
        )
    if changes and agent.files == "read":
        raise UsageError(
            f"agent.permission is {mode}, which lets files be changed, but agent.files is read.",
            hint="Set agent.permission to read-only, or leave it out.",
        )
    if agent.network and mode == "read-only":
        raise UsageError(
            "agent.network is true, but agent.permission is read-only, which has no network in Codex.",
            hint="Leave agent.permission out and set agent.files to read.",
        )
    return {
        "sandbox_mode": mode,
        "sandbox_workspace_write": {"network_access": agent.network, "exclude_slash_tmp": True},
    }


def _lines(table: Mapping[str, _Value], path: tuple[str, ...]) -> Iterator[str]:
    """Write a table as TOML: what is plain first, then the tables in it, each under its full name."""
    if path:
        yield f"[{'.'.join(map(_quoted, path))}]"
    for name, value in table.items():
        if not isinstance(value, Mapping):
            yield f"{_quoted(name)} = {_plain(value)}"
    for name, value in table.items():
        if isinstance(value, Mapping):
            yield from _lines(value, (*path, name))


def _plain(value: _Scalar) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    return _quoted(value) if isinstance(value, str) else f"[{', '.join(map(_quoted, value))}]"


def _quoted(text: str) -> str:
    """Write text as TOML does: as JSON, but for one character that only TOML wants escaped."""
    return msgspec.json.encode(text).decode().replace("\x7f", "\\u007f")
