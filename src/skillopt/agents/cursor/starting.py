"""How Cursor is started for a job: its words and its environment.
Owns what each key means for it, and the refusal of those that mean nothing; refuses to know what comes of it.
Written from its documentation: the program could not be had where this was made."""

from __future__ import annotations

import msgspec

from skillopt.agents.program import Command, Job
from skillopt.agents.settings import AgentSettings
from skillopt.domain.errors import UsageError

CONFIG = ".cursor"
_ALWAYS = ("--print", "--output-format", "stream-json", "--trust")
_DENIED = ("Read(**)", "Write(**)", "Shell(**)", "Mcp(*:*)", "WebFetch(*)")


def command(job: Job) -> Command:
    """Return how Cursor is started; the prompt is its input."""
    _refuse(job)
    model = () if job.model.name is None else ("--model", job.model.name)
    config = {"version": 1, "permissions": {"allow": [], "deny": _DENIED if job.agent is None else []}}
    asked = job.agent is None and bool(job.system.strip())
    prompt = f"{job.system}\n\n{job.prompt}" if asked else job.prompt
    return Command(
        args=(*_ALWAYS, "--workspace", job.work, *model, *_rights(job.agent, confined=job.confined)),
        env={
            "CURSOR_CONFIG_DIR": f"{job.home}/{CONFIG}",
            "CURSOR_DATA_DIR": f"{job.home}/{CONFIG}/data",
            **({} if job.model.key is None else {"CURSOR_API_KEY": job.model.key}),
        },
        stdin=prompt.encode(errors="replace"),
        home_files={f"{CONFIG}/cli-config.json": msgspec.json.encode(config).decode()},
    )


def _refuse(job: Job) -> None:
    refused = {
        "models.<role>.base_url": job.model.base_url is not None,
        "models.<role>.wire": job.model.wire is not None,
        "effort": job.effort is not None,
        "agent.structured": job.schema is not None,
        "images": bool(job.images),
    }
    agent = job.agent
    if agent is not None:
        refused |= {
            "agent.tools": agent.tools is not None,
            "agent.permission": agent.permission is not None,
            "agent.profile": agent.profile is not None,
            "agent.thinking_tokens": agent.thinking_tokens is not None,
            "agent.web_search": agent.web_search,
            "agent.mode: sdk": agent.mode == "sdk",
        }
    key = next((name for name, wanted in refused.items() if wanted), None)
    if key is not None:
        raise UsageError(
            f"Cursor cannot be told {key}: it reaches its own models only, by its own service.",
            hint=f"Leave {key} out, or take another agent.",
        )


def _rights(agent: AgentSettings | None, *, confined: bool) -> tuple[str, ...]:
    """Return its mode, and whether it may do all without asking: only where files may be changed and it is confined."""
    if agent is None or agent.files == "read":
        return ("--mode", "ask")
    # within our sandbox there is none of its own
    return ("--sandbox", "disabled" if confined else "enabled", "--force")
