"""skillopt itself with a real agent program: a project on disk, the command line in a process of its own, and what is
left of both. Whatever it starts knows the folder of the test, by its words, its environment or what it has mounted."""

from __future__ import annotations

import json
import os
import select
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from types import MappingProxyType

import msgspec

from skillopt.domain.agency.transcripts import Transcript
from skillopt.kernel.journal import Ref
from skillopt.store.reader import SqliteReader
from skillopt.testing.server import ThreadedServer
from skillopt.testing.worlds import rules_world
from tests.agents_real.programs import installed, ripgrep
from tests.architecture.source_tree import ROOT

BACKENDS = ("codex", "claude_code")
FURTHER = ("copilot", "opencode")  # tried with AGENTS=all only
PROGRAMS: Mapping[str, str] = MappingProxyType(
    {"codex": "codex", "claude_code": "claude", "copilot": "copilot", "opencode": "opencode"}
)
KEY = "sk-scripted-0000000000000000"
RUN = "run"
PATIENCE = 100.0  # seconds that one command may take, at most
_SEED = 10  # a world in which few tasks suffice to see that a skill got better
_DYING = 10.0
_LOOK = 0.05
SKILL = """---
name: house-style
description: Writes entries for the bulletin in its house style. Use it for every entry.
---
# House style

Answer in the answer tag.
"""


class Said(msgspec.Struct, frozen=True, kw_only=True):
    """How a command ended, and what it printed."""

    code: int
    out: str
    err: str

    @property
    def summary(self) -> dict[str, object]:
        """The one JSON object that was printed."""
        told = json.loads(self.out)
        assert isinstance(told, dict)
        return told


class Product:
    """A project whose agent is a real program and whose models are scripted; the person is a stranger with a home."""

    def __init__(self, folder: Path, backend: str, server: ThreadedServer) -> None:
        self.backend = backend
        self.program = _alone(backend, folder) if backend == "opencode" else installed(PROGRAMS[backend])
        self.server = server
        self.python = Path(sys.executable)
        self.folder = folder
        self.project, self.home, self.temporary = folder / "project", folder / "home", folder / "t"
        for place in (self.project / "tasks", self.home, self.temporary):
            place.mkdir(parents=True)
        self.config = self.project / "skillopt.yaml"
        self.workspace = self.project / ".skillopt"
        self.env = {
            "PATH": os.pathsep.join((str(self.program.parent), os.environ["PATH"])),
            "HOME": str(self.home),
            "TMPDIR": str(self.temporary),
            "XDG_STATE_HOME": str(folder / "state"),
            "PYTHONPATH": str(ROOT / "src"),
            "SCRIPTED_KEY": KEY,
        }
        (self.project / "SKILL.md").write_text(SKILL)

    def world(self, train: int, val: int, test: int) -> None:
        """Give it tasks of the rules world."""
        world = rules_world(_SEED, train, val, test)
        tasks = self.project / "tasks"
        (tasks / "train.jsonl").write_text(world.jsonl("train"))
        (tasks / "val.jsonl").write_text(world.jsonl("val"))
        (tasks / "test.jsonl").write_text(world.jsonl("test"))

    def behind(self, scenario: str, name: str = "scripted-target") -> dict[str, object]:
        """Return the settings of a model behind the program, which plays a scenario."""
        url = self.server.url(scenario)
        address = url.removesuffix("/v1") if self.backend == "claude_code" else url
        key = "${SCRIPTED_KEY}"
        return {"backend": self.backend, "model": name, "base_url": address, "api_key": key, "alias": "scripted"}

    def write(
        self,
        *,
        target: Mapping[str, object] | None = None,
        optimizer: Mapping[str, object] | None = None,
        agent: Mapping[str, object] | None = None,
        concurrency: int = 4,
    ) -> None:
        """Write the config: an agent that plays `agent-rules` and a scripted optimizer, unless others are given."""
        scripted = {"backend": "scripted", "scenario": "rules"}
        sent = target is None or target["backend"] == self.backend
        sections: dict[str, object] = {
            "skill": "SKILL.md",
            "environment": {"kind": "agent" if sent else "dataset", "path": "tasks"},
            "models": {"target": target or self.behind("agent-rules"), "optimizer": optimizer or scripted},
            "train": {"epochs": 1, "batch_size": 4},
            "gate": {"deterministic": True},
            "limits": {"concurrency": concurrency},
            "retry": {"attempts": 2, "first_wait": 0.01, "longest_wait": 0.02},
        }
        if sent:
            sections["agent"] = {"timeout": 60, **(agent or {})}
        self.config.write_text(json.dumps(sections))  # JSON is YAML

    def train(self, *more: str) -> Said:
        """Run `skillopt train`."""
        return self.run("train", str(self.config), "--run", RUN, "--json", *more)

    def evaluate(self, *more: str) -> Said:
        """Run `skillopt eval` on val."""
        return self.run("eval", str(self.config), "--json", *more)

    def run(self, *words: str) -> Said:
        """Run a command to its end; nothing that it started may be alive then, and nothing may be left of it."""
        before = set(self.temporary.glob("skillopt-*"))
        with self.started(*words) as command:
            out, err = command.communicate(timeout=PATIENCE)
        assert "Traceback" not in err, err
        assert not self.lasting(), "a process was left behind"
        assert set(self.temporary.glob("skillopt-*")) == before, "a folder was left behind"
        return Said(code=command.returncode, out=out, err=err)

    @contextmanager
    def started(self, *words: str) -> Iterator[subprocess.Popen[str]]:
        """Start a command in a process group of its own, and end it with the block at the latest."""
        with subprocess.Popen(
            [str(self.python), "-m", "skillopt.cli.main", *words],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=self.env,
            cwd=self.project,
            start_new_session=True,
        ) as command:
            try:
                yield command
            finally:
                command.kill()

    def requests(self, scenario: str = "agent-rules") -> int:
        """Return how many requests the server has had under a scenario."""
        return sum(role.requests for role in self.server.stats(scenario).values())

    def alive(self) -> list[int]:
        """Return the processes that know the folder of this test."""
        mine = str(self.folder).encode()
        others = (process for process in Path("/proc").glob("[0-9]*") if int(process.name) != os.getpid())
        return [int(process.name) for process in others if any(mine in trace for trace in _traces(process))]

    def lasting(self) -> list[int]:
        """Return the processes that know the folder and do not end by themselves in a moment."""
        return [process for process in self.alive() if not has_ended(process, _DYING)]

    def results(self, run: str = RUN) -> tuple[bytes, bytes]:
        """Return what must be the same however a run came about."""
        folder = self.workspace / "runs" / run
        return (folder / "best_skill.md").read_bytes(), (folder / "history.json").read_bytes()

    def transcripts(self) -> tuple[Transcript, ...]:
        """Return what the journal keeps of what agents did."""
        with SqliteReader(self.workspace / "journal.db") as reader:
            records = [record for run in reader.runs() for record in reader.phases(run.name)]
            refs = [each for record in records for each in record.outcomes if isinstance(each, Ref)]
            kept = [stored.answer.transcript for stored in reader.fetch(refs).values()]
        return tuple(transcript for transcript in kept if transcript is not None)


def _alone(backend: str, folder: Path) -> Path:
    """Return a program in a folder of its own beside `rg`, where it looks for that first."""
    place = folder / "programs"
    place.mkdir()
    (place / PROGRAMS[backend]).symlink_to(installed(PROGRAMS[backend]).resolve())
    shutil.copy(ripgrep(), place / "rg")
    return place / PROGRAMS[backend]


def _traces(process: Path) -> Iterator[bytes]:
    """Yield what tells which folders a process knows, until it ends or turns out to be another person's."""
    with suppress(OSError):
        for name in ("cmdline", "environ", "mountinfo"):
            yield (process / name).read_bytes()
        yield os.fsencode((process / "cwd").readlink())


def has_ended(process: int, seconds: float) -> bool:
    """Wait so long for the end of a process."""
    try:
        handle = os.pidfd_open(process)
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([handle], [], [], seconds)[0])
    finally:
        os.close(handle)


def goes_on(command: subprocess.Popen[str]) -> bool:
    """Say after a moment whether a command still runs."""
    return not has_ended(command.pid, _LOOK)
