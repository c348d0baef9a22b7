"""What an adapter of an agent program is: how it is started for a job, and how what it leaves behind is read.
Owns these values; refuses to know folders of this machine, processes and what an answer is worth."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Literal, Protocol

import msgspec

from skillopt.agents.settings import AgentSettings
from skillopt.domain.agency.transcripts import Action, Seen
from skillopt.domain.usage import Price, Usage
from skillopt.kernel.process import Finished

Cause = Literal[
    "auth",
    "rate_limited",
    "quota",
    "context",
    "refused",
    "filtered",
    "truncated",
    "unavailable",
    "empty",
    "login",
    "crashed",
]


class Model(msgspec.Struct, frozen=True, kw_only=True):
    """Which model the program asks, and where; the key itself is never shown."""

    name: str | None
    base_url: str | None
    key: str | None
    wire: str | None = None
    price: Price | None = None

    def __repr__(self) -> str:
        return f"Model(name={self.name!r}, base_url={self.base_url!r}, …)"


class Job(msgspec.Struct, frozen=True, kw_only=True):
    """One start of a program. Paths are those that the program knows: `work` is its folder, `home` its own home.

    `agent` says what it may do in that folder; None means that it is only asked, with `system` before the prompt, and
    has no tools. `skill` is the name of the skill that lies in the folder. `schema` is the JSON schema of the answer.
    `confined` says that our sandbox stands around it, in which no program can make a sandbox of its own. `seconds` is
    how long one request of the program to its model may take. `driven` is where the program is when it is its maker's
    SDK that starts it, and empty when we do.
    """

    prompt: str
    work: str
    home: str
    model: Model
    agent: AgentSettings | None
    system: str = ""
    skill: str = ""
    schema: str | None = None
    images: tuple[str, ...] = ()
    data_dirs: tuple[str, ...] = ()
    effort: str | None = None
    confined: bool = True
    seconds: float = 300.0
    driven: str = ""


class Command(msgspec.Struct, frozen=True, kw_only=True):
    """How a program is started: the words after its own name, its environment, its input, and files of its home.

    Of a job that is driven, they are those of the driver, which stands in the program's place.

    `env` is added to HOME, PATH, LANG, TERM and the XDG folders, which every program is given; nothing is inherited.
    `home_files` are written below the home before the start, by their path in it.
    """

    args: tuple[str, ...]
    env: Mapping[str, str] = MappingProxyType({})
    stdin: bytes = b""
    home_files: Mapping[str, str] = MappingProxyType({})


class Sdk(msgspec.Struct, frozen=True, kw_only=True):
    """A maker's SDK for its program, which never runs in skillopt's own process: a small program of ours drives it.

    `driver` is that program; a Python that has the SDK runs it. With `--about` it says the SDK's version, where this
    Python is and where the SDK's packages are. `module` is the SDK's name in Python, `extra` is skillopt's extra that
    brings it.
    """

    driver: Path
    module: str
    extra: str


class Ended(msgspec.Struct, frozen=True, kw_only=True):
    """What a program left behind: how it ended, and its home as it lies on this machine, with its own transcript."""

    job: Job
    finished: Finished
    home: Path


class Problem(msgspec.Struct, frozen=True, kw_only=True):
    """Why there is no answer: who must act, and the program's own words; `status` is HTTP's, where one was told."""

    cause: Cause
    message: str
    status: int | None = None
    retry_after: float | None = None


class Heard(msgspec.Struct, frozen=True, kw_only=True):
    """What an adapter makes of what a program left behind: an answer, or a problem; and what it did on the way.

    `usage` is the whole of the run's tokens and 1 call; None where the program does not tell. `requests` counts the
    model requests it says it made; 0 where it does not tell. `skill_opened` and `task_read` come from its tool calls.
    """

    text: str = ""
    problem: Problem | None = None
    usage: Usage | None = None
    requests: int = 0
    model: str = ""
    session: str = ""
    actions: tuple[Action, ...] = ()
    calls: tuple[tuple[str, int], ...] = ()
    denied: tuple[str, ...] = ()
    skill_opened: Seen = "unknown"
    task_read: Seen = "unknown"


class Adapter(Protocol):
    """One agent program. It only translates: a job into a command, and what was left behind into what was heard.

    `heard` never raises, whatever bytes it is given: output that was cut at any byte, or holds events of a later
    version, yields what could be read. Its outcome rests on the exit code AND the events AND whether there is an
    answer, never on one of them alone.
    """

    @property
    def name(self) -> str:
        """What the backend is called in a config."""
        ...

    @property
    def programs(self) -> Sequence[str]:
        """The names under which the program is looked up on PATH."""
        ...

    @property
    def install(self) -> str:
        """The line that installs it, without a registry's address."""
        ...

    @property
    def schemas(self) -> bool:
        """Whether it can be told a JSON schema for its answer."""
        ...

    @property
    def hosts(self) -> Sequence[str]:
        """The hosts of the program's own provider: all that it can reach where no base_url is given."""
        ...

    @property
    def sdk(self) -> Sdk | None:
        """Its maker's SDK, where there is one that can be told what the program itself is told."""
        ...

    @property
    def lasting(self) -> Sequence[str]:
        """Paths below its home that hold nothing of a run and are kept for the next: unpacked parts, caches."""
        ...

    def login(self, home: Path) -> bool:
        """Say whether this person's own home has a login of this program; presence only, nothing is read."""
        ...

    def command(self, job: Job) -> Command:
        """Return how the program is started for this job; a job it cannot do is a UsageError that names the key."""
        ...

    def heard(self, ended: Ended) -> Heard:
        """Return what came of it."""
        ...
