"""How Copilot is started for a job: its words, its environment, the tools it has and what they may do.
Owns what each key means for it, and the refusal of those that mean nothing; refuses to know what comes of it."""

from __future__ import annotations

from skillopt.agents.program import Command, Job, Model
from skillopt.agents.settings import AgentSettings
from skillopt.domain.errors import UsageError

HOME = ".copilot"
NO_TOOLS = "none"  # a name that no tool has: an empty list would leave all of them on
_READING = ("view", "grep", "glob", "bash", "read_bash", "stop_bash", "list_bash")
_EDITING = ("create", "edit")
_EFFORTS = ("none", "minimal", "low", "medium", "high", "xhigh", "max")
_PERMISSIONS = ("allow-all-tools", "manual")
_WIRES = {"chat": ("openai", "completions"), "responses": ("openai", "responses"), "messages": ("anthropic", "")}
_KEY = "COPILOT_PROVIDER_API_KEY"
_ALWAYS = (
    f"--secret-env-vars={_KEY}",  # what its tools run, and what it writes down, never has the key
    *("--output-format", "json", "--stream", "off", "--no-color", "--no-auto-update"),
    *("--no-custom-instructions", "--disable-builtin-mcps", "--no-ask-user"),
)


def command(job: Job) -> Command:
    """Return how Copilot is started; the prompt is its input."""
    _refuse(job)
    prompt = job.prompt if job.agent is not None or not job.system.strip() else f"{job.system}\n\n{job.prompt}"
    return Command(
        args=(*_ALWAYS, "-C", job.work, *_effort(job), *_tools(job), *_images(job)),
        env=_environment(job),
        stdin=prompt.encode(errors="replace"),
    )


def _refuse(job: Job) -> None:
    if job.schema is not None:
        raise UsageError("Copilot cannot be told a JSON schema for its answer.", hint="Set agent.structured: false.")
    agent = job.agent
    if agent is None:
        return
    refused = {
        "thinking_tokens": agent.thinking_tokens is not None,
        "profile": agent.profile is not None,
        "web_search": agent.web_search,
        "mode": agent.mode == "sdk",
    }
    key = next((name for name, wanted in refused.items() if wanted), None)
    if key is not None:
        raise UsageError(f"Copilot cannot be told agent.{key} when it is run by us.", hint=f"Leave agent.{key} out.")
    if agent.permission is not None and agent.permission not in _PERMISSIONS:
        raise UsageError(
            f"agent.permission is {agent.permission!r}, which Copilot does not know.",
            hint=f"It knows {' and '.join(_PERMISSIONS)}; null leaves ours.",
        )
    if agent.permission == "allow-all-tools" and agent.files == "read":
        raise UsageError(
            "agent.permission allow-all-tools lets Copilot change files, and agent.files is read.",
            hint="Leave agent.permission out, or set agent.files: edit.",
        )


def _effort(job: Job) -> tuple[str, ...]:
    if job.effort is None:
        return ()
    if job.effort not in _EFFORTS:
        raise UsageError(
            f"The effort is {job.effort!r}, which Copilot does not know.", hint=f"It knows {', '.join(_EFFORTS)}."
        )
    return ("--reasoning-effort", job.effort)


def _images(job: Job) -> tuple[str, ...]:
    return tuple(word for image in job.images for word in ("--attachment", image))


def _tools(job: Job) -> tuple[str, ...]:
    agent = job.agent
    if agent is None:
        return (f"--available-tools={NO_TOOLS}",)
    own = () if agent.skill == "told" else ("skill",)
    ours = (*_READING, *(_EDITING if agent.files == "edit" else ()), *own)
    offered = ours if agent.tools is None else agent.tools
    folders = tuple(word for folder in job.data_dirs for word in ("--add-dir", folder))
    return (f"--available-tools={','.join(offered) or NO_TOOLS}", *folders, *_permissions(agent, confined=job.confined))


def _permissions(agent: AgentSettings, *, confined: bool) -> tuple[str, ...]:
    """Return what the tools may do without being asked about, which nobody could answer.

    Everything only where files may be changed and something else confines the program. Otherwise Copilot's own
    lists: with none it still runs what only reads, which it knows by the command.
    """
    rights: tuple[str, ...] = ()
    if agent.files == "read":
        rights = ("--deny-tool=write", *(("--allow-tool=shell",) if confined else ()))
    elif agent.permission != "manual":
        rights = ("--allow-tool=write", "--allow-tool=shell")
        if confined or agent.permission == "allow-all-tools":
            rights = ("--allow-all-tools", "--allow-all-paths") if confined else ("--allow-all-tools",)
    if agent.network:
        return (*rights, "--allow-all-urls")
    # confined there is no network to deny, and a command that merely names an address need not fail
    return rights if confined else (*rights, "--deny-tool=url")


def _environment(job: Job) -> dict[str, str]:
    env = {
        "COPILOT_HOME": f"{job.home}/{HOME}",
        "COPILOT_CACHE_HOME": f"{job.home}/.cache/copilot",
        "COPILOT_AUTO_UPDATE": "false",
        # the only time-out it has: until a reply begins; it tries six times, which no setting of its own changes
        "COPILOT_NATIVE_HTTP_TIMEOUT_MS": str(max(1, int(job.seconds * 950))),
    }
    return env | _provider(job.model)


def _provider(model: Model) -> dict[str, str]:
    named = {} if model.name is None else {"COPILOT_MODEL": model.name}
    if model.base_url is None:
        return named | ({} if model.key is None else {"COPILOT_GITHUB_TOKEN": model.key})
    if model.name is None:
        raise UsageError("Copilot needs to know which model a server of one's own has.", hint="Give the key model.")
    kind, wire = _WIRES[model.wire or "chat"]
    # Anthropic's address is given without its version
    address = model.base_url.rstrip("/").removesuffix("/v1") if kind == "anthropic" else model.base_url
    env = {"COPILOT_OFFLINE": "true", "COPILOT_PROVIDER_BASE_URL": address, "COPILOT_PROVIDER_TYPE": kind}
    if wire:
        env["COPILOT_PROVIDER_WIRE_API"] = wire
    if model.key is not None:
        env[_KEY] = model.key
    return named | env
