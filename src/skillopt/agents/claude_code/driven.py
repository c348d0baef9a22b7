"""How Claude Code is started for a job by its maker's SDK: the same prompt, environment and files, other words.
Owns the names of the SDK's options; refuses to know how the SDK tells the program of them."""

from __future__ import annotations

from pathlib import Path

import msgspec

from skillopt.agents.claude_code.permits import permits
from skillopt.agents.claude_code.starting import NO_PLUGINS, SYSTEM, command
from skillopt.agents.program import Command, Job
from skillopt.agents.settings import AgentSettings

LONGEST_LINE = 8 << 20  # bytes of one message; the SDK gives up at a longer one
_ALSO = {"CLAUDE_AGENT_SDK_SKIP_VERSION_CHECK": "1"}  # it would start the program twice


class _Preset(msgspec.Struct, frozen=True, kw_only=True):
    type: str = "preset"
    preset: str = "claude_code"


class _Format(msgspec.Struct, frozen=True, kw_only=True):
    schema: msgspec.Raw
    type: str = "json_schema"


class _Options(msgspec.Struct, frozen=True, kw_only=True):
    """ClaudeAgentOptions, as far as we use them; what is left out is the SDK's own choice, which is nothing."""

    cli_path: str
    cwd: str
    permission_mode: str
    tools: tuple[str, ...]
    allowed_tools: tuple[str, ...]
    disallowed_tools: tuple[str, ...]
    add_dirs: tuple[str, ...]
    model: str | None
    effort: str | None
    output_format: _Format | None
    extra_args: dict[str, str]
    setting_sources: tuple[str, ...]
    settings: str
    strict_mcp_config: bool
    system_prompt: _Preset
    max_buffer_size: int


class _Driven(msgspec.Struct, frozen=True, kw_only=True):
    prompt: str
    options: _Options


def driven_command(job: Job, agent: AgentSettings) -> Command:
    """Return what the driver is told; a job that the program cannot do is a UsageError, as by its command line."""
    plain = command(job)
    allowed = permits(agent)
    options = _Options(
        cli_path=job.driven,
        cwd=job.work,
        permission_mode=allowed.mode,
        tools=allowed.tools,
        allowed_tools=allowed.allowed,
        disallowed_tools=allowed.forbidden,
        add_dirs=tuple(folder for folder in job.data_dirs if not Path(folder).is_relative_to(job.work)),
        model=job.model.name,
        effort=job.effort,
        output_format=None if job.schema is None else _Format(schema=msgspec.Raw(job.schema.encode())),
        extra_args={"append-system-prompt-file": f"{job.home}/{SYSTEM}"} if job.system else {},
        setting_sources=("project",),
        settings=NO_PLUGINS,
        strict_mcp_config=True,
        system_prompt=_Preset(),
        max_buffer_size=LONGEST_LINE,
    )
    told = msgspec.json.encode(_Driven(prompt=plain.stdin.decode(), options=options))
    return Command(args=(), env={**plain.env, **_ALSO}, stdin=told, home_files=plain.home_files)
