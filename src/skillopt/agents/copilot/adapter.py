"""Copilot: how it is started for a job, and what is heard of what it left behind.
Owns the settings of a model reached through it; refuses to know folders of this machine and what an answer is worth."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from skillopt.agents.copilot.account import ran
from skillopt.agents.copilot.events import events, named
from skillopt.agents.copilot.outcome import problem
from skillopt.agents.copilot.starting import HOME, command
from skillopt.agents.program import Command, Ended, Heard, Job, Sdk
from skillopt.agents.settings import CliSettings
from skillopt.agents.telling.calls import counted, denied, skill_opened, task_read
from skillopt.agents.telling.tokens import usage


class CopilotSettings(
    CliSettings, frozen=True, kw_only=True, forbid_unknown_fields=True, tag="copilot", tag_field="backend"
):
    """A model reached through GitHub's Copilot CLI: GitHub's own, or a server's over any of the three protocols."""


class Copilot:
    """The adapter of Copilot's command line."""

    name = "copilot"
    programs: Sequence[str] = ("copilot",)
    install = "npm install --global @github/copilot"
    schemas = False
    hosts: Sequence[str] = (
        *("api.github.com", "github.com", "api.githubcopilot.com", "api.individual.githubcopilot.com"),
        *("api.business.githubcopilot.com", "api.enterprise.githubcopilot.com"),
    )
    lasting: Sequence[str] = (".cache/copilot/pkg",)  # 235 MB that it unpacks at its first start, alike for every run
    sdk: Sdk | None = None

    def login(self, home: Path) -> bool:
        """Say whether Copilot was ever started from this home; a login may lie in the keyring, which nobody reads."""
        return (home / HOME / "config.json").is_file()

    def command(self, job: Job) -> Command:
        """Return how Copilot is started; where it is only asked, what is the system's stands before the prompt."""
        return command(job)

    def heard(self, ended: Ended) -> Heard:
        """Return the answer or the problem, from its exit code, its events and the transcript in its home."""
        told = events(ended.finished.stdout, ended.home)
        run = ran(told)
        model = ended.job.model
        return Heard(
            text=run.text,
            problem=problem(run, ended.finished),
            usage=None if run.used is None else usage(run.used, model),
            requests=run.requests,
            model=run.model or model.name or "",
            session=named(told),
            actions=run.actions,
            calls=counted(run.calls),
            denied=denied(run.calls),
            skill_opened=skill_opened(run.calls, ended.job.skill) if told else "unknown",
            task_read=task_read(run.calls) if told else "unknown",
        )
