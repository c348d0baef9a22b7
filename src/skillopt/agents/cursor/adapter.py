"""Cursor: how it is started for a job, and what is heard of what it left behind.
Owns the settings of a model reached through it; refuses to know folders of this machine and what an answer is worth.
Its output was read from its documentation: no run of the program has confirmed it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from skillopt.agents.cursor.events import EVENTS, Ran, problem
from skillopt.agents.cursor.starting import CONFIG, command
from skillopt.agents.program import Command, Ended, Heard, Job, Sdk
from skillopt.agents.settings import CliSettings
from skillopt.agents.telling.calls import counted, denied, skill_opened, task_read
from skillopt.agents.telling.lines import read_lines
from skillopt.agents.telling.tokens import usage


class CursorSettings(
    CliSettings, frozen=True, kw_only=True, forbid_unknown_fields=True, tag="cursor", tag_field="backend"
):
    """A model reached through Cursor's command line, by Cursor's own service."""


class Cursor:
    """The adapter of Cursor's command line."""

    name = "cursor"
    programs: Sequence[str] = ("cursor-agent",)
    install = "Cursor's own installer, https://cursor.com/cli (npm packages of that name are other people's)"
    schemas = False
    hosts: Sequence[str] = ("api2.cursor.sh", "api2geo.cursor.sh", "api.cursor.com", "cursor.com")
    lasting: Sequence[str] = ()
    sdk: Sdk | None = None

    def login(self, home: Path) -> bool:
        """Say whether Cursor was ever set up in this home; where its login lies is not documented."""
        return (home / CONFIG / "cli-config.json").is_file()

    def command(self, job: Job) -> Command:
        """Return how Cursor is started; where it is only asked, what is the system's stands before the prompt."""
        return command(job)

    def heard(self, ended: Ended) -> Heard:
        """Return the answer or the problem, from its exit code and its events."""
        told = tuple(read_lines(ended.finished.stdout, EVENTS))
        run = Ran(told)
        calls = tuple(run.calls.values())
        model = ended.job.model
        return Heard(
            text=run.text,
            problem=problem(run, ended.finished),
            usage=None if run.used is None else usage(run.used, model),
            model=run.model or model.name or "",
            session=run.session,
            actions=tuple(run.actions),
            calls=counted(calls),
            denied=denied(calls),
            skill_opened=skill_opened(calls, ended.job.skill) if told else "unknown",
            task_read=task_read(calls) if told else "unknown",
        )
