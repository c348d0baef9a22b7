"""The adapter of Claude Code: what the runner needs to know of it, and its two translations.
Owns nothing but their order; the folder's other modules each know one side of the program."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec

from skillopt.agents.claude_code.account import account
from skillopt.agents.claude_code.diary import diary
from skillopt.agents.claude_code.driven import driven_command
from skillopt.agents.claude_code.events import Line, lines
from skillopt.agents.claude_code.outcome import answer, ending, is_recovered, problem, requests, usage
from skillopt.agents.claude_code.starting import CONFIG, command
from skillopt.agents.program import Command, Ended, Heard, Job, Problem, Sdk
from skillopt.domain.texts import without

VERSION = "2.1.327"  # the version that this adapter was tried with
_LOGIN = ".credentials.json"


class ClaudeCode:
    """Claude Code by its command line, in print mode, or by its maker's SDK, which starts the same program."""

    name = "claude_code"
    programs: Sequence[str] = ("claude",)
    install = f"npm install --global @anthropic-ai/claude-code@{VERSION}"
    schemas = True
    hosts: Sequence[str] = ("api.anthropic.com",)
    lasting: Sequence[str] = ()
    sdk: Sdk | None = Sdk(driver=Path(__file__).with_name("driver.py"), module="claude_agent_sdk", extra="claude")

    def login(self, home: Path) -> bool:
        """Say whether this person's own home has a login; presence only, nothing is read."""
        return (home / CONFIG / _LOGIN).is_file()

    def command(self, job: Job) -> Command:
        """Return how the program is started for this job; a job it cannot do is a UsageError that names the key."""
        return command(job) if not job.driven or job.agent is None else driven_command(job, job.agent)

    def heard(self, ended: Ended) -> Heard:
        """Return what came of it; whatever the bytes are, what can be read of them."""
        told = list(lines(ended.finished.stdout))
        session = next((line.session_id for line in told if line.session_id), "")
        kept = list(lines(diary(ended.home, session)))
        end = ending(told, kept)
        done = account(_together(kept, told))
        text = answer(end, done, schema=ended.job.schema is not None)
        found = None if ended.job.driven and is_recovered(end, text) else problem(end, text, ended.finished)
        nothing = all(line.message is None for line in (*kept, *told))
        return Heard(
            text=text,
            problem=_hushed(found, ended.job.model.key),
            usage=usage(end, kept, ended.job.model.price),
            requests=requests(told, kept),
            model=_model((*kept, *told)),
            session=session,
            actions=done.actions,
            calls=done.counts,
            denied=done.denied,
            skill_opened="unknown" if nothing or not ended.job.skill else done.skill_opened(ended.job.skill),
            task_read="unknown" if nothing else done.task_read,
        )


def _together(kept: list[Line], told: list[Line]) -> list[Line]:
    """Return the transcript and, after it, what only the output has: each may lack what the other tells."""
    known = {line.uuid for line in kept if line.uuid}
    return [*kept, *(line for line in told if line.uuid not in known)]


def _hushed(problem: Problem | None, key: str | None) -> Problem | None:
    """Return the problem without the key, which a server may repeat."""
    if problem is None or key is None:
        return problem
    return msgspec.structs.replace(problem, message=without(problem.message, (key,)))


def _model(found: Iterable[Line]) -> str:
    """Return the model that answered last, by its own word."""
    names = [line.message.model for line in found if line.message is not None and not line.is_synthetic]
    return next((name for name in reversed(names) if name), "")
