"""Every snippet of our pages runs or parses. The snippets of one page are one story, told in one folder."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import msgspec
import pytest

from skillopt.app.config import Config
from skillopt.app.settings.load import load
from skillopt.domain.tasks import Task
from skillopt.environments.checks import problem
from skillopt.testing.server import serve_in_thread
from tests.architecture.source_tree import PACKAGE, ROOT
from tests.docs.markdown import Snippet, name_of, pages, snippets

EXAMPLE = PACKAGE / "testing" / "example"
SECONDS = 120
# what a reader of the page has already; all other stories start in an empty folder
THEIRS = {
    "README.md": ("SKILL.md", "tasks"),
    "docs/how-to/own-tasks.md": ("SKILL.md",),
    "docs/how-to/resume-and-caps.md": ("SKILL.md", "tasks", "skillopt.yaml"),
}
# pages whose configs name real models; the scripted server answers in their place
ASK_A_SERVER = ("README.md", "docs/how-to/own-tasks.md")
STORIES = [page for page in pages() if snippets(page)]


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with serve_in_thread() as running:
        yield running.url("rules")


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with `skillopt` and `python` that run this tree."""
    folder = tmp_path_factory.mktemp("bin")
    for name, arguments in {"skillopt": "-m skillopt.cli.main", "python": ""}.items():
        program = folder / name
        program.write_text(f'#!/bin/sh\nexec "{sys.executable}" {arguments} "$@"\n', encoding="utf-8")
        program.chmod(0o755)
    return folder


@dataclass
class Story:
    """The folder of one page, and what its last snippet said."""

    folder: Path
    environ: dict[str, str]
    said: str = ""
    written: set[str] = field(default_factory=set)

    def tell(self, snippet: Snippet) -> None:
        match snippet.language:
            case "sh":
                self.run(snippet, ["sh", "-eu", "-c", snippet.text])
            case "python" if snippet.file is None:
                self.run(snippet, ["python", "-c", snippet.text])
            case "python":
                self.write(snippet)
                compile(snippet.text, snippet.at, "exec")
            case "yaml":
                self.load(snippet)
            case "json":
                check_json(snippet)
            case "text":
                self.compare(snippet)

    def run(self, snippet: Snippet, command: list[str]) -> None:
        done = subprocess.run(
            command,
            cwd=self.folder,
            env=self.environ,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=SECONDS,
            check=False,
        )
        self.said = done.stdout
        assert done.returncode == 0, f"{snippet.at} ended with {done.returncode}:\n{done.stdout}"
        self.written -= {name for name in self.written if name in snippet.text}

    def write(self, snippet: Snippet) -> Path:
        assert snippet.file is not None
        path = self.folder / snippet.file
        path.write_text(snippet.text, encoding="utf-8")
        self.written.add(snippet.file)
        return path

    def load(self, snippet: Snippet) -> None:
        """A config that is named is the reader's from now on; a part of one has to fit into a whole one."""
        if snippet.file is not None:
            load(self.write(snippet), Config, environ={})
            return
        part = self.folder / "part.yaml"
        (self.folder / "whole.yaml").write_bytes((EXAMPLE / "skillopt.yaml").read_bytes())
        part.write_text(f"extends: whole.yaml\n{snippet.text}", encoding="utf-8")
        load(part, Config, environ={})

    def compare(self, snippet: Snippet) -> None:
        """What a page shows as output is in the output; a picture comes before any command."""
        for line in snippet.text.splitlines() if self.said else ():
            assert line.strip() in self.said, f"{snippet.at} shows {line!r}, but this was said:\n{self.said}"


def check_json(snippet: Snippet) -> None:
    """A document, or one a line; what looks like a task has to be one."""
    for line in snippet.text.splitlines():
        row = json.loads(line)
        if "input" in row:
            task = msgspec.convert(row, Task)
            assert [problem(check) for check in task.checks] == [None] * len(task.checks), snippet.at


def story_of(page: str, folder: Path, programs: Path, server: str) -> Story:
    for name in THEIRS.get(page, ()):
        source = EXAMPLE / name
        shutil.copytree(source, folder / name) if source.is_dir() else shutil.copy(source, folder / name)
    environ = {
        "PATH": f"{programs}{os.pathsep}{os.defpath}",
        "PYTHONPATH": str(PACKAGE.parent),
        "PYTHONPYCACHEPREFIX": str(programs / "cache"),
        "HOME": str(folder),
        "LC_ALL": "C.UTF-8",
    }
    if page in ASK_A_SERVER:
        for role in ("TARGET", "OPTIMIZER"):
            environ[f"SKILLOPT_MODELS__{role}__BASE_URL"] = server
            environ[f"SKILLOPT_MODELS__{role}__MODEL"] = f"scripted-{role.lower()}"
    return Story(folder, environ)


@pytest.mark.parametrize("page", STORIES, ids=name_of)
def test_snippets_run_or_parse(page: Path, tmp_path: Path, programs: Path, server: str) -> None:
    story = story_of(name_of(page), tmp_path, programs, server)
    for snippet in snippets(page):
        if snippet.not_run is None:
            story.tell(snippet)
    assert not story.written, "these files are written by the page, and no later command names them"


def test_commands_outside_of_snippets_exist() -> None:
    """`skillopt WORD` in a sentence names a command that is there."""
    from skillopt.cli.main import COMMANDS

    said = {word for page in pages() for word in re.findall(r"`skillopt ([a-z]+)", page.read_text(encoding="utf-8"))}
    assert said <= {*COMMANDS}, "promised, but not there"
    assert said


def test_make_targets_that_pages_name_exist() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    said = {word for page in pages() for word in re.findall(r"(?:`|^)make ([a-z-]+)", page.read_text(encoding="utf-8"))}
    assert said <= targets
