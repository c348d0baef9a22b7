"""How Codex is started for a job by its maker's SDK: the same config, environment and files, and the SDK's options.
Owns the names of those options; refuses what the SDK cannot pass on. The rest stands in config.toml, both ways."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from skillopt.agents.program import Command, Job


class _Part(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    type: str
    text: str | None = None
    path: str | None = None


class _Maker(msgspec.Struct, frozen=True, kw_only=True):
    codex_path_override: str


class _Thread(msgspec.Struct, frozen=True, kw_only=True):
    working_directory: str
    skip_git_repo_check: bool = True


class _Turn(msgspec.Struct, frozen=True, kw_only=True):
    output_schema: msgspec.Raw | None


class _Driven(msgspec.Struct, frozen=True, kw_only=True):
    """What the driver is told: for the SDK's Codex, for a thread of it, and for the one turn of the thread."""

    codex: _Maker
    thread: _Thread
    turn: _Turn
    input: tuple[_Part, ...]


def driven_command(job: Job, env: Mapping[str, str], files: Mapping[str, str]) -> Command:
    """Return what the driver is told."""
    images = (_Part(type="local_image", path=image) for image in job.images)
    told = _Driven(
        codex=_Maker(codex_path_override=job.driven),
        thread=_Thread(working_directory=job.work),
        turn=_Turn(output_schema=None if job.schema is None else msgspec.Raw(job.schema.encode())),
        input=(_Part(type="text", text=job.prompt.encode(errors="replace").decode()), *images),
    )
    return Command(args=(), env=env, stdin=msgspec.json.encode(told), home_files=files)
