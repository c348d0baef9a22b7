"""Codex: how it is started for a job, and what is heard of what it left behind.
Owns the settings of a model reached through it; refuses to know folders of this machine and what an answer is worth.
Its own retries are off but for one in the middle of an agent's work; what hangs before a reply the runner stops."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from skillopt.agents.codex.complaints import problem
from skillopt.agents.codex.configuration import CATALOG, CATALOG_FILE, KEY_VARIABLE, SYSTEM_FILE, configuration
from skillopt.agents.codex.driven import driven_command
from skillopt.agents.codex.events import Told, told
from skillopt.agents.codex.rollout import Recorded, recorded, rollout
from skillopt.agents.codex.steps import actions, calls, counts, denied, opened
from skillopt.agents.program import Command, Ended, Heard, Job, Problem, Sdk
from skillopt.agents.settings import CliSettings
from skillopt.agents.telling.lines import left_file
from skillopt.agents.telling.tokens import usage
from skillopt.domain.agency.transcripts import Action, Seen

_LAST_FILE = "last_message.txt"
_SCHEMA_FILE = ".codex/answer.schema.json"
_WORDLESS = "Answer."  # Codex takes no empty system text


class CodexSettings(
    CliSettings, frozen=True, kw_only=True, forbid_unknown_fields=True, tag="codex", tag_field="backend"
):
    """A model reached through Codex, over the protocol `responses`."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.wire not in {None, "responses"}:
            raise ValueError("Codex speaks no wire but responses")


class Codex:
    """The adapter of Codex by its command line, or by an SDK that starts the same program."""

    name = "codex"
    programs: Sequence[str] = ("codex",)
    install = "npm install --global @openai/codex"
    schemas = True
    hosts: Sequence[str] = ("api.openai.com", "chatgpt.com", "auth.openai.com")
    lasting: Sequence[str] = ()
    sdk: Sdk | None = Sdk(driver=Path(__file__).with_name("driver.py"), module="openai_codex_sdk", extra="codex")

    def login(self, home: Path) -> bool:
        """Say whether Codex keeps a login in this home."""
        return (home / ".codex" / "auth.json").is_file()

    def command(self, job: Job) -> Command:
        """Return how Codex is started: everything it is told stands in files of its home, the prompt is its input."""
        files = {".codex/config.toml": configuration(job), "tmp/.keep": ""}
        args = ["exec"]
        for image in job.images:
            args += ["--image", image]  # first, because it takes every word up to the next option
        args += ["--json", "--strict-config", "--skip-git-repo-check", "--color", "never", "--cd", job.work]
        args += ["--output-last-message", f"{job.home}/{_LAST_FILE}"]
        if job.schema is not None:
            files[_SCHEMA_FILE] = job.schema
            args += ["--output-schema", f"{job.home}/{_SCHEMA_FILE}"]
        if job.agent is None:
            files |= {SYSTEM_FILE: job.system if job.system.strip() else _WORDLESS, CATALOG_FILE: CATALOG}
            args.append("--ephemeral")
        # its own folder for what is temporary: Codex gives up its sandbox where its home is below the common one
        env = {"CODEX_HOME": f"{job.home}/.codex", "TMPDIR": f"{job.home}/tmp"}
        if job.model.key is not None:
            env[KEY_VARIABLE] = job.model.key
        if job.driven and job.agent is not None:
            return driven_command(job, env, files)
        return Command(args=(*args, "-"), env=env, stdin=job.prompt.encode(errors="replace"), home_files=files)

    def heard(self, ended: Ended) -> Heard:
        """Return the answer or the problem, from its exit code, its events, its rollout file and its last message."""
        output = told(ended.finished.stdout)
        record = recorded(rollout(ended.home, output.thread))
        tokens = output.tokens or record.tokens
        left = left_file(ended.home, ended.home / _LAST_FILE).decode(errors="replace")
        text = left if left.strip() else output.text or record.last
        steps = record.steps or output.steps
        made = calls(steps)
        return Heard(
            text=text,
            problem=_problem(ended, output, record, text),
            usage=None if tokens is None else usage(tokens.told, ended.job.model),
            requests=record.requests,
            model=record.model or ended.job.model.name or "",
            session=output.thread,
            actions=(*actions(steps), *(Action(kind="error", text=error) for error in output.errors)),
            calls=counts(made),
            denied=denied(made),
            skill_opened=_seen(opened(made, "SKILL.md", "skills", ended.job.skill), record)
            if ended.job.skill
            else "unknown",
            task_read=_seen(opened(made, "task.md"), record),
        )


def _seen(seen: Seen, record: Recorded) -> Seen:
    """Without a rollout file a call may be missing, so that nobody knows that there was none."""
    return seen if record.model or seen != "no" else "unknown"


def _problem(ended: Ended, output: Told, record: Recorded, text: str) -> Problem | None:
    finished = ended.finished
    keyed = ended.job.model.key is not None
    complaint = output.failure or (output.errors[-1] if output.errors and not output.completed else "")
    if complaint:
        return problem(complaint, keyed=keyed)
    if finished.timed_out:
        return Problem(cause="unavailable", message="Codex was still running when its time was up.")
    if finished.exit_code != 0:
        stderr = finished.stderr.decode(errors="replace").strip()
        return problem(stderr or f"Codex ended with exit code {finished.exit_code} and said nothing.", keyed=keyed)
    if not (output.completed or record.complete):
        return Problem(cause="crashed", message="Codex ended before its turn was complete.")
    return None if text.strip() else Problem(cause="empty", message="Codex ended its turn without an answer.")
