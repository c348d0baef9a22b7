"""How OpenCode is started for a job: its words, and the configuration that stands in its home.
Owns what each key means for it, and the refusal of those that mean nothing; refuses to know what comes of it."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from skillopt.agents.program import Command, Job, Model
from skillopt.agents.settings import AgentSettings
from skillopt.domain.errors import UsageError

_CONFIG = "opencode.json"  # in its home and not in its environment, which what its tools run would inherit
_PROVIDER = "skillopt"
_ASKED = "asked"
_WORDLESS = "Answer."  # without a system text OpenCode takes its own
_PACKAGES = {
    "chat": "@ai-sdk/openai-compatible",
    "responses": "@ai-sdk/openai",
    "messages": "@ai-sdk/anthropic",
}
_PROFILES = ("build", "plan")
_READING = ("read", "grep", "glob", "list", "todowrite")
_CHANGING = ("edit", "bash")
_EDITORS = frozenset({"write", "patch", "multiedit", "apply_patch"})  # one permission, `edit`, is for all of them
_MODALITIES = {"input": ["text", "image"], "output": ["text"]}
_ENVIRONMENT = {
    # it fetches packages and lists of models of its own accord; refused at once, its start takes 2 s and not 5 to 10
    "npm_config_registry": "http://127.0.0.1:9",
    "npm_config_fetch_retries": "0",
    "OPENCODE_DISABLE_MODELS_FETCH": "1",
    "OPENCODE_DISABLE_AUTOUPDATE": "1",
    "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
    "OPENCODE_DISABLE_PROJECT_CONFIG": "1",  # no instruction file and no configuration of the folder; skills stay
}
_ARGUMENTS = ("run", "--format", "json", "--thinking", "--pure", "--title", "task")  # a title, or it asks for one

Json = dict[str, object]


def command(job: Job) -> Command:
    """Return how OpenCode is started; the prompt is its input."""
    agent = job.agent
    profile = _ASKED if agent is None else _profile(agent)
    args = (*_ARGUMENTS, "--dir", job.work, *(() if profile is None else ("--agent", profile)))
    return Command(
        args=(*args, *(word for image in job.images for word in ("--file", image))),
        env=_ENVIRONMENT | {"OPENCODE_CONFIG": f"{job.home}/{_CONFIG}"},
        stdin=job.prompt.encode(errors="replace"),
        home_files={_CONFIG: msgspec.json.encode(_configuration(job)).decode()},
    )


def _profile(agent: AgentSettings) -> str | None:
    if agent.profile is not None and agent.profile not in _PROFILES:
        raise UsageError(
            f"agent.profile is {agent.profile!r}, which OpenCode does not have in a new home.",
            hint=f"It has {' and '.join(_PROFILES)}; null is build.",
        )
    return agent.profile


def _configuration(job: Job) -> Json:
    if job.schema is not None:
        raise UsageError("OpenCode cannot be told a JSON schema for its answer.", hint="Set agent.structured: false.")
    name, providers = _provider(job)
    settings: Json = {
        "model": name,
        "small_model": name,
        "provider": providers,
        "share": "disabled",
        "autoupdate": False,
    }
    if job.agent is not None:
        return settings | {"permission": _permissions(job.agent, confined=job.confined)}
    asked = {"mode": "primary", "prompt": job.system.strip() or _WORDLESS, "permission": {"*": "deny"}}
    return settings | {"agent": {_ASKED: asked | {"tools": {"*": False}}}}


def _provider(job: Job) -> tuple[str, Json]:
    """Return the model's name with its provider before it, and how that is reached."""
    model = job.model
    if model.name is None:
        raise UsageError("OpenCode needs to be told which model it asks.", hint="Give the key model.")
    options: Json = dict.fromkeys(("timeout", "headerTimeout", "chunkTimeout"), max(1, int(job.seconds * 950)))
    if model.key is not None:
        options["apiKey"] = model.key
    known: Json = {"options": {} if job.effort is None else {"reasoningEffort": job.effort}}
    if model.base_url is None:
        return _own_provider(model.name, options, known)
    shown: Json = {"attachment": True, "modalities": _MODALITIES} if job.images else {}
    provider = {
        "npm": _PACKAGES[model.wire or "chat"],
        "options": options | {"baseURL": model.base_url, "apiKey": _key(model)},
        "models": {model.name: known | shown},
    }
    return f"{_PROVIDER}/{model.name}", {_PROVIDER: provider}


def _key(model: Model) -> str:
    return "none" if model.key is None else model.key  # without one some of its packages look in the environment


def _own_provider(name: str, options: Json, known: Json) -> tuple[str, Json]:
    provider, slash, model = name.partition("/")
    if not slash:
        raise UsageError(
            f"OpenCode cannot tell whose model {name!r} is.",
            hint="Give model as provider/name, such as anthropic/claude-sonnet-4-5, or give base_url.",
        )
    return name, {provider: {"options": options, "models": {model: known}}}


def _permissions(agent: AgentSettings, *, confined: bool) -> Json:
    """Return what is allowed. Nothing is left to be asked about: a question that nobody answers ends the run."""
    refused = {
        "permission": agent.permission is not None,
        "thinking_tokens": agent.thinking_tokens is not None,
        "web_search": agent.web_search,
        "mode": agent.mode == "sdk",
    }
    key = next((name for name, wanted in refused.items() if wanted), None)
    if key is not None:
        raise UsageError(f"OpenCode cannot be told agent.{key} when it is run by us.", hint=f"Leave agent.{key} out.")
    kept_back = _kept_back(agent, confined=confined)
    offered = _offered(agent, kept_back) if agent.tools is None else _asked_for(agent.tools, kept_back)
    beyond = "allow" if confined else "deny"
    # the last rule that fits counts, so that what is not named is refused
    return {"*": "deny", **dict.fromkeys(offered, "allow"), "external_directory": beyond, "doom_loop": "allow"}


def _offered(agent: AgentSettings, kept_back: Sequence[str]) -> tuple[str, ...]:
    changing = tuple(tool for tool in _CHANGING if tool not in kept_back)
    fetching = ("webfetch",) if agent.network else ()
    return (*_READING, *changing, *fetching, *(() if agent.skill == "told" else ("skill",)))


def _kept_back(agent: AgentSettings, *, confined: bool) -> tuple[str, ...]:
    """Return what would change files that may not be changed; a shell cannot where the folder itself is read-only."""
    if agent.files == "edit":
        return ()
    return ("edit",) if confined else _CHANGING


def _asked_for(tools: Sequence[str], kept_back: Sequence[str]) -> tuple[str, ...]:
    names = tuple(dict.fromkeys("edit" if tool in _EDITORS else tool for tool in tools))
    changing = next((name for name in names if name in kept_back), None)
    if changing is not None:
        raise UsageError(
            f"agent.tools has {changing}, with which OpenCode changes files, and agent.files is read.",
            hint=f"Leave {changing} out of agent.tools, or set agent.files: edit.",
        )
    return names
