"""The folder that a benchmark works in: a config, a skill of usual length, tasks of the hidden-rules world, a stub.
Owns their files and the stub's process; refuses to know what is measured."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import msgspec

from benchmarks.stub import RoleStats
from skillopt.app.project.prepare import Prepared, prepare
from skillopt.testing.worlds import WorldTasks, hidden_rules_world

_STATS = msgspec.json.Decoder(dict[str, RoleStats])
# the best skills of the paper are about 920 tokens long: so is this one, and none of it helps
_HABITS = (
    "Read the whole case before answering, and note which office it belongs to.",
    "Where two notes differ, trust the later one and say which of them was used.",
    "Keep the wording of names exactly as the case has it, capitals included.",
    "Leave out greetings, thanks and remarks about the work itself.",
    "Say plainly when something is missing; never fill a gap with a guess.",
)
_SECTIONS = ("Reading", "Weighing", "Writing", "Checking", "Handing over", "Filing", "Exceptions", "Closing", "Review")
SKILL = "# Settling cases\n\nPut the answer between answer tags.\n" + "".join(
    f"\n## {section}\n\n" + "".join(f"- {habit}\n" for habit in _HABITS) for section in _SECTIONS
)


class Stub:
    """A stub that is running."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.base_url = f"http://127.0.0.1:{port}/v1"

    def stats(self) -> dict[str, RoleStats]:
        """Return what each role was asked so far."""
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/stats") as reply:
            return _STATS.decode(reply.read())


@contextmanager
def stub(*, latency: float = 0.0, optimizer_latency: float = 0.0) -> Iterator[Stub]:
    """Run a stub in a process of its own while the block runs."""
    latencies = ("--latency", str(latency), "--optimizer-latency", str(optimizer_latency))
    command = [sys.executable, "-m", "benchmarks.stub", *latencies]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield Stub(int(process.stdout.readline() if process.stdout is not None else ""))
        finally:
            process.terminate()


@contextmanager
def folder() -> Iterator[Path]:
    """Make a folder that is removed at the end, on the disk that temporary files are on."""
    path = Path(tempfile.mkdtemp(prefix="skillopt-bench-"))
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)


def write_project(
    path: Path, base_url: str, *, train: int = 1, val: int, test: int = 0, more: Mapping[str, object] | None = None
) -> Path:
    """Write a project of the hidden-rules world whose models are a stub; `more` are further sections."""
    return write_world(path, base_url, hidden_rules_world(seed=1, train=train, val=val, test=test), more=more)


def write_world(
    path: Path, base_url: str, world: WorldTasks, *, skill: str = SKILL, more: Mapping[str, object] | None = None
) -> Path:
    """Write a project with the tasks of a world, whose models are at this address, and return its config."""
    tasks = path / "tasks"
    tasks.mkdir()
    (tasks / "train.jsonl").write_text(world.jsonl("train"))
    (tasks / "val.jsonl").write_text(world.jsonl("val"))
    if world.test:
        (tasks / "test.jsonl").write_text(world.jsonl("test"))
    (path / "SKILL.md").write_text(skill)
    model = {"backend": "openai", "base_url": base_url, "api_key": "none"}
    config = {
        "skill": "SKILL.md",
        "environment": {"kind": "dataset", "path": "tasks"},
        "models": {"target": {**model, "model": "stub-target"}, "optimizer": {**model, "model": "stub-opt"}},
        **(more or {}),
    }
    # JSON is YAML, too
    file = path / "skillopt.yaml"
    file.write_bytes(msgspec.json.encode(config))
    return file


def prepared(config: Path, *, workspace: str, concurrency: int, sets: Sequence[str] = ()) -> Prepared:
    """Read a project as the command line does, for a workspace of its own; `sets` change settings."""
    sets = (f"limits.concurrency={concurrency}", *sets)
    return prepare(config, sets=sets, environ=os.environ, workspace=config.parent / workspace)


def request_body(ready: Prepared) -> bytes:
    """Return the body of the request for the first val task, as a client that knows no shortcut writes it."""
    messages = ready.environment.messages(ready.plan.val[0], ready.plan.seed_skill.rendered)
    return msgspec.json.encode({"model": "stub-target", "messages": messages, "max_tokens": 4096})
