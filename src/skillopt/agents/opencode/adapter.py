"""OpenCode: how it is started for a job, and what is heard of what it left behind.
Owns the settings of a model reached through it; refuses to know folders of this machine and what an answer is worth."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from skillopt.agents.opencode.account import Ran, problem
from skillopt.agents.opencode.events import EVENTS, logged
from skillopt.agents.opencode.starting import command
from skillopt.agents.program import Command, Ended, Heard, Job, Sdk
from skillopt.agents.settings import CliSettings
from skillopt.agents.telling.calls import counted, denied, skill_opened, task_read
from skillopt.agents.telling.lines import read_lines
from skillopt.agents.telling.tokens import usage


class OpenCodeSettings(
    CliSettings, frozen=True, kw_only=True, forbid_unknown_fields=True, tag="opencode", tag_field="backend"
):
    """A model reached through OpenCode, over any of the three protocols."""


class OpenCode:
    """The adapter of OpenCode's command line."""

    name = "opencode"
    programs: Sequence[str] = ("opencode",)
    install = "npm install --global opencode-ai"
    schemas = False
    hosts: Sequence[str] = (  # its own service, and the providers that a model's name most often begins with
        *("opencode.ai", "api.opencode.ai", "api.anthropic.com", "api.openai.com"),
        *("generativelanguage.googleapis.com", "openrouter.ai"),
    )
    lasting: Sequence[str] = ()
    sdk: Sdk | None = None

    def login(self, home: Path) -> bool:
        """Say whether OpenCode keeps logins in this home."""
        return (home / ".local" / "share" / "opencode" / "auth.json").is_file()

    def command(self, job: Job) -> Command:
        """Return how OpenCode is started; where it is only asked, its agent is one of ours without tools."""
        return command(job)

    def heard(self, ended: Ended) -> Heard:
        """Return the answer or the problem, from its exit code, its events and, where those are silent, its log."""
        told = tuple(read_lines(ended.finished.stdout, EVENTS))
        run = Ran(told)
        calls = tuple(run.calls.values())
        model = ended.job.model
        return Heard(
            text=run.text,
            problem=problem(run, ended.finished, logged(ended.home)),
            usage=usage(run.tokens, model) if run.requests else None,
            requests=run.requests,
            model=model.name or "",
            session=run.session,
            actions=tuple(run.actions),
            calls=counted(calls),
            denied=denied(calls),
            skill_opened=skill_opened(calls, ended.job.skill) if told else "unknown",
            task_read=task_read(calls) if told else "unknown",
        )
