"""A small agent program of the tests: a real script that is started, and the adapter that speaks its language.

The script reads its prompt from its input, and finds what else it is told in its environment. What it prints is its
answer, unless the last line is JSON: then that is what was heard.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from skillopt.agents.finding import Program
from skillopt.agents.grounds import Grounds, Stay, Unconfined
from skillopt.agents.program import Command, Ended, Heard, Job, Sdk
from skillopt.agents.settings import CliSettings
from skillopt.agents.team import Team
from skillopt.kernel.process import Finished

PROLOGUE = f"#!{sys.executable} -IS\nimport json, os, pathlib, sys, time\nprompt = sys.stdin.read()\n"
VERSION = "1.2.3"


class ScriptedSettings(CliSettings, frozen=True, kw_only=True, tag="scripted_program", tag_field="backend"):
    """A model behind the script."""


class ScriptedAdapter:
    """Speaks for scripts of `PROLOGUE`; it remembers the jobs it was given."""

    name = "scripted_program"
    programs: Sequence[str] = ("scripted-program",)
    install = "write it"
    hosts: Sequence[str] = ("model.example.com",)

    def __init__(self, *, schemas: bool = False, lasting: Sequence[str] = (), sdk: Sdk | None = None) -> None:
        self.schemas = schemas
        self.sdk = sdk
        self.lasting = lasting
        self.jobs: list[Job] = []

    def login(self, home: Path) -> bool:
        """Nobody logs in."""
        del home
        return False

    def command(self, job: Job) -> Command:
        """Hand everything over: the prompt as input, the rest by the environment."""
        self.jobs.append(job)
        env = {"WORK": job.work, "SYSTEM": job.system, "KEY": job.model.key or "", "SKILL": job.skill}
        return Command(args=("run",), env=env, stdin=job.prompt.encode(), home_files={"etc/job": job.prompt})

    def heard(self, ended: Ended) -> Heard:
        """Take the last line as what was heard where it is JSON, and everything as the answer where it is not."""
        said = ended.finished.stdout.decode(errors="replace")
        last = said.rstrip("\n").rpartition("\n")[2]
        try:
            return msgspec.json.decode(last, type=Heard)
        except msgspec.DecodeError:
            return Heard(text=said)


class Turnstile(Unconfined):
    """Counts who is inside, and lets nobody on before so many are."""

    def __init__(self, together: int) -> None:
        self.barrier = asyncio.Barrier(together)
        self.inside = 0
        self.most = 0

    async def run(
        self, program: Program, args: Sequence[str], env: Mapping[str, str], stdin: bytes, stay: Stay
    ) -> Finished:
        """Wait for the others."""
        self.inside += 1
        self.most = max(self.most, self.inside)
        try:
            await self.barrier.wait()
            return await super().run(program, args, env, stdin, stay)
        finally:
            self.inside -= 1


def script(folder: Path, code: str, name: str = "scripted-program") -> Path:
    """Write a program that can be started."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_text(PROLOGUE + code, encoding="utf-8")
    path.chmod(0o755)
    return path


def team(
    folder: Path,
    code: str,
    *,
    adapter: ScriptedAdapter | None = None,
    settings: CliSettings = ScriptedSettings(),
    grounds: Grounds | None = None,
    key: str | None = None,
    version: str = VERSION,
) -> Team:
    """Return a team whose program does this."""
    path = script(folder / "bin", code)
    return Team(
        adapter=ScriptedAdapter() if adapter is None else adapter,
        program=Program(path=path, version=version, readable=(path.parent,), search="/usr/bin:/bin"),
        grounds=Unconfined() if grounds is None else grounds,
        settings=settings,
        key=None if key is None else lambda: key,
    )
