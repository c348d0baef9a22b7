"""How Claude Code is started for a job: its words, its environment, its input.
Owns the options of the program that we use, each with its reason; refuses to know what comes of it."""

from __future__ import annotations

import base64
import mimetypes
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

import msgspec

from skillopt.agents.claude_code.permits import permits
from skillopt.agents.claude_code.settings import EFFORTS
from skillopt.agents.program import Command, Job, Model
from skillopt.agents.settings import AgentSettings
from skillopt.domain.errors import UsageError, unknown_name

CONFIG = ".claude"
SYSTEM, _SHELL = "system.md", "shell.sh"
# a shell command that prints its environment shall not print the key; from one who looks for it, it is not hidden
_BEFORE_A_COMMAND = "unset ANTHROPIC_API_KEY\n"
_NO_KEY = "none"
_LEAST_SILENCE = 10.0  # seconds; the program takes no shorter time-out for a reply that stops coming
_SHARE_OF_A_REQUEST = 0.95  # of a request's time: the program's own word comes before ours
_EVERY_START = ("-p", "--output-format", "stream-json", "--verbose", "--strict-mcp-config")
_QUIET: Mapping[str, str] = MappingProxyType(
    {
        # nothing is sent anywhere but to the model
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_TELEMETRY": "1",
        "DISABLE_ERROR_REPORTING": "1",
        "DISABLE_AUTOUPDATER": "1",
        # trying again is ours: there is one layer of it
        "CLAUDE_CODE_MAX_RETRIES": "0",
        "CLAUDE_CODE_DISABLE_NONSTREAMING_FALLBACK": "1",
        "CLAUDE_CODE_NO_MODEL_FALLBACK": "1",
        # nothing is known to it but the job: no instruction files, no memory, no skills but those of the folder
        "CLAUDE_CODE_DISABLE_CLAUDE_MDS": "1",
        "CLAUDE_CODE_DISABLE_AUTO_MEMORY": "1",
        "CLAUDE_CODE_DISABLE_BUNDLED_SKILLS": "1",
        "CLAUDE_CODE_DISABLE_GIT_INSTRUCTIONS": "1",
        "CLAUDE_CODE_DISABLE_BACKGROUND_TASKS": "1",
    }
)
# skills that are part of the program come in these, and would stand beside the one that is trained
NO_PLUGINS = '{"enabledPlugins":{"cc-plugin-plugin-authoring@builtin":false,"cc-plugin-agents-md@builtin":false}}'


def command(job: Job) -> Command:
    """Return how the program is started for this job; a job it cannot do is a UsageError that names the key."""
    _check_model(job)
    if job.agent is None:
        return _asked_once(job)
    _check_agent(job.agent)
    allowed = permits(job.agent)
    args = [
        *_EVERY_START,
        *("--setting-sources", "project", "--settings", NO_PLUGINS),
        *("--permission-mode", allowed.mode, "--tools", ",".join(allowed.tools)),
    ]
    if allowed.allowed:
        args += ["--allowedTools", *allowed.allowed]
    if allowed.forbidden:
        args += ["--disallowedTools", *allowed.forbidden]
    outside = [folder for folder in job.data_dirs if not Path(folder).is_relative_to(job.work)]
    if outside:
        args += ["--add-dir", *outside]
    env = _environment(job) | {"CLAUDE_ENV_FILE": f"{job.home}/{_SHELL}"}
    if job.agent.thinking_tokens is not None:
        env["MAX_THINKING_TOKENS"] = str(job.agent.thinking_tokens)
    prompt = job.prompt
    if job.images:
        prompt = "\n".join((prompt, "", *(f'@"{image}"' for image in job.images)))  # the program attaches them
    else:
        env["CLAUDE_CODE_DISABLE_FILE_MENTIONS"] = "1"
    return _complete(job, args, env, stdin=_plain(prompt).encode(), system="--append-system-prompt-file")


def _asked_once(job: Job) -> Command:
    if job.model.key is None and job.model.base_url is None:
        raise UsageError(
            "Claude Code can be asked for single answers with an API key only.",
            hint="Give api_key in this section of models, or take an `anthropic` backend.",
        )
    args = [*_EVERY_START, "--bare", "--tools", "", "--disable-slash-commands", "--no-session-persistence"]
    env = _environment(job) | {"CLAUDE_CODE_DISABLE_FILE_MENTIONS": "1"}
    stdin = _plain(job.prompt).encode()
    if job.images:
        args += ["--input-format", "stream-json"]
        stdin = _with_images(job)
    return _complete(job, args, env, stdin=stdin, system="--system-prompt-file")


def _complete(job: Job, args: list[str], env: dict[str, str], *, stdin: bytes, system: str) -> Command:
    """Add what both kinds of job have: the model, its effort, the form of the answer and the system text."""
    if job.model.name is not None:
        args += ["--model", job.model.name]
    if job.effort is not None:
        args += ["--effort", job.effort]
    if job.schema is not None:
        args += ["--json-schema", job.schema]
    files = {} if job.agent is None else {_SHELL: _BEFORE_A_COMMAND}
    if job.system:
        files[SYSTEM] = _sound(job.system)
        args += [system, f"{job.home}/{SYSTEM}"]
    return Command(args=tuple(args), env=env, stdin=stdin, home_files=files)


def _environment(job: Job) -> dict[str, str]:
    milliseconds = job.seconds * _SHARE_OF_A_REQUEST * 1000
    env = {
        **_QUIET,
        "CLAUDE_CONFIG_DIR": f"{job.home}/{CONFIG}",
        "CLAUDE_CODE_TMPDIR": f"{job.home}/tmp",
        "API_TIMEOUT_MS": f"{milliseconds:.0f}",
        "CLAUDE_ENABLE_BYTE_WATCHDOG": "1",
        "CLAUDE_BYTE_STREAM_IDLE_TIMEOUT_MS": f"{max(milliseconds, _LEAST_SILENCE * 1000):.0f}",
        **_access(job.model),
    }
    if job.model.name is not None:
        env["ANTHROPIC_DEFAULT_HAIKU_MODEL"] = job.model.name  # what it asks on the side is asked of the same model
    return env


def _access(model: Model) -> dict[str, str]:
    """Return where the model is and the key to it; a server without a key never gets a person's own login."""
    found: dict[str, str] = {}
    if model.base_url is not None:
        found["ANTHROPIC_BASE_URL"] = model.base_url.rstrip("/").removesuffix("/v1")
        found["ANTHROPIC_API_KEY"] = _NO_KEY
    if model.key is not None:
        found["ANTHROPIC_API_KEY"] = model.key
    return found


def _check_model(job: Job) -> None:
    section = "models.<role>" if job.agent is None else "agent"
    if job.effort is not None and job.effort not in EFFORTS:
        raise unknown_name(f"{section}.effort of Claude Code", job.effort, EFFORTS)
    if job.model.wire not in {None, "messages"}:
        raise UsageError(
            f"models.<role>.wire is {job.model.wire}, which Claude Code does not speak.",
            hint="Leave it out: it speaks messages.",
        )


def _check_agent(settings: AgentSettings) -> None:
    if settings.profile is not None:
        raise UsageError("agent.profile is not known to Claude Code.", hint="Leave it out.")
    if settings.thinking_tokens is not None and settings.thinking_tokens < 0:
        raise UsageError("agent.thinking_tokens is less than 0.", hint="Give 0 for no thinking, or more.")


def _plain(prompt: str) -> str:
    """Return the prompt so that it is no command of the program, as `/compact` would be."""
    return _sound(f"\n{prompt}" if prompt.startswith("/") else prompt)


def _sound(text: str) -> str:
    """Return the text without halves of characters, which cannot be written down."""
    return text.encode(errors="replace").decode()


class _Source(msgspec.Struct, frozen=True, kw_only=True):
    media_type: str
    data: str
    type: str = "base64"


class _Part(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    type: str
    text: str = ""
    source: _Source | None = None


class _Said(msgspec.Struct, frozen=True, kw_only=True):
    content: list[_Part]
    role: str = "user"


class _Input(msgspec.Struct, frozen=True, kw_only=True):
    message: _Said
    type: str = "user"


def _with_images(job: Job) -> bytes:
    """Return the prompt and the images as one message of the program's input format."""
    images = [_Part(type="image", source=_read(Path(image))) for image in job.images]
    said = _Said(content=[*images, _Part(type="text", text=_plain(job.prompt))])
    return msgspec.json.encode(_Input(message=said)) + b"\n"


def _read(image: Path) -> _Source:
    kind = mimetypes.guess_type(image.name)[0]
    try:
        data = base64.b64encode(image.read_bytes()).decode()
    except OSError as error:
        raise UsageError(f"The image {image.name!r} cannot be read: {error.strerror}.", hint="Put it back.") from error
    if kind is None or not kind.startswith("image/"):
        raise UsageError(f"{image.name!r} has no ending of an image.", hint="Name it .png, .jpg, .gif or .webp.")
    return _Source(media_type=kind, data=data)
