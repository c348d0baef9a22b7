"""A grader's program, read once: the bytes that are trusted, that count in every key and that run are the same.
Owns which files belong to it and where its interpreter is; refuses links that lead out, and the tasks themselves."""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import msgspec

from skillopt.domain.errors import UsageError
from skillopt.environments.command.settings import CommandSettings
from skillopt.environments.files.home import Home
from skillopt.kernel.sandbox import interpreter

ANSWER, TASK = "answer.txt", "task.json"
LEFT, LEFT_LIST = "left", "left.json"
_PATH = "/usr/local/bin:/usr/bin:/bin"
_VISIBLE = ("/usr/", "/bin/", "/sbin/")
_MOST_FILES = 1000
_MOST_BYTES = 16 << 20


class Program(msgspec.Struct, frozen=True, kw_only=True):
    """What runs for each answer, with everything it brings along; `digest` names all of it."""

    run: tuple[str, ...]
    argv: tuple[str, ...]
    readable: tuple[Path, ...]
    files: tuple[tuple[str, bytes], ...]
    verdict: Literal["json", "exit"]
    seconds: float
    memory_mb: int
    digest: str


def read_program(settings: CommandSettings, folder: Path, tasks: Path) -> Program:
    """Return the program of a config that stands in `folder`; the tasks may not be among its files."""
    program, readable = _found(settings.run[0])
    files = tuple(_files(settings, folder.resolve(), tasks.resolve()))
    contents = [(name, hashlib.sha256(data).hexdigest()) for name, data in files]
    digest = hashlib.sha256(msgspec.json.encode((settings.run, settings.verdict, contents))).hexdigest()
    return Program(
        run=settings.run,
        argv=(program, *settings.run[1:]),
        readable=readable,
        files=files,
        verdict=settings.verdict,
        seconds=settings.seconds,
        memory_mb=settings.memory_mb,
        digest=digest,
    )


def _found(word: str) -> tuple[str, tuple[Path, ...]]:
    """Return where a program is, and what must be readable for it besides the system."""
    if word == "python":
        return str(interpreter()), (interpreter().parent.parent,)
    place = word if word.startswith("/") else None if "/" in word else shutil.which(word, path=_PATH)
    if place is None or not place.startswith(_VISIBLE) or not os.access(place, os.X_OK):
        raise UsageError(
            f"environment.command.run starts with {word!r}, which is no program of this system.",
            hint="Name one from /usr/bin, or python; a script of yours goes after it: [python, grade.py].",
        )
    return place, ()


def _files(settings: CommandSettings, folder: Path, tasks: Path) -> Iterator[tuple[str, bytes]]:
    """Yield the files by name, in order; few and small enough to be put into a folder for every answer."""
    seen: set[str] = {ANSWER, TASK, LEFT_LIST}
    size = 0
    for path in (found for name in settings.files for found in _named(name, Home(folder))):
        name = path.relative_to(folder).as_posix()
        if not path.resolve().is_relative_to(folder):
            raise _refused(f"file {name!r} is a link that leads out of the config's folder")
        if path.resolve() == tasks or path.resolve().is_relative_to(tasks):
            raise _refused(f"file {name!r} belongs to the tasks, and an answer must never be graded beside other tasks")
        if name in seen or name.split("/")[0] == LEFT:
            raise _refused(f"file {name!r} is named twice, or has a name that skillopt writes itself")
        seen.add(name)
        size += path.stat().st_size
        if len(seen) > _MOST_FILES or size > _MOST_BYTES:
            raise _refused(f"there are more than {_MOST_FILES} files or {_MOST_BYTES >> 20} MiB")
        yield name, path.read_bytes()


def _named(name: str, home: Home) -> list[Path]:
    """Return the file of this name, or those of the folder that are not hidden."""
    problem = home.problem(name)
    if problem is not None:
        raise _refused(problem.replace("the task folder; list its folder in environment.allow_paths", "it"))
    path = home.folder / name
    if not path.is_dir():
        return [path]
    inside = sorted(found for found in path.rglob("*") if found.is_file())
    return [found for found in inside if not any(map(_hidden, found.relative_to(path).parts))]


def _hidden(part: str) -> bool:
    return part.startswith(".") or part == "__pycache__"


def _refused(problem: str) -> UsageError:
    return UsageError(
        f"environment.command.files: {problem}.", hint="Name files and folders below the folder of the config."
    )
