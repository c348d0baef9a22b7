"""Tools that exist for one task only: programs that say to a pipe that they were called, and do nothing else.
Owns their text, the folder they lie in and the log of their calls; refuses to put a name into any text, and to know
what the calls are worth."""

from __future__ import annotations

import asyncio
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import msgspec

from skillopt.domain.agency.shims import LONGEST_NAME, NAMING, refusal
from skillopt.domain.errors import UsageError

BIN, LOG = "bin", "calls"
MOST_CALLS = 1000
_PIECE, _LAST_PIECES = 1 << 16, 32
_ENOUGH_OF_A_LINE = LONGEST_NAME + 8  # longer than any name, so that what is cut there is none


class Form(msgspec.Struct, frozen=True, kw_only=True):
    """How a tool is written for a system: the same bytes for every tool, which learns its name when it is called."""

    script: bytes
    ending: str
    pipe: bool


POSIX = Form(
    script=rb"""#!/bin/sh
# A tool of this task. It says that it was called, and does nothing else.
trap '' PIPE
case $0 in */*) here=${0%/*} ;; *) here=. ;; esac
[ -p "$here/../calls" ] && printf '\n%s\n' "${0##*/}" 2>/dev/null >"$here/../calls"
printf '%s\n' 'OK. This command has been carried out and has nothing more to say.'
""",
    ending="",
    pipe=True,
)
# Without named pipes the log is a file; `echo(` also takes names that echo would obey, such as `on`.
WINDOWS = Form(
    script=b"@echo off\r\n"
    b"rem A tool of this task. It says that it was called, and does nothing else.\r\n"
    b'>>"%~dp0..\\calls" echo(%~n0\r\n'
    b"echo OK. This command has been carried out and has nothing more to say.\r\n",
    ending=".cmd",
    pipe=False,
)
HERE = WINDOWS if os.name == "nt" else POSIX


class CallLog:
    """The calls of these tools, in order, out of whatever was written: a line that is no name of theirs is nothing.

    When there are very many, only the first call of each tool still counts.
    """

    def __init__(self, names: Sequence[str]) -> None:
        self._names = {name.encode(): name for name in names}
        self._line = bytearray()
        self._calls: list[str] = []
        self._called: set[str] = set()

    @property
    def calls(self) -> tuple[str, ...]:
        """What was called so far."""
        return tuple(self._calls)

    def take(self, data: bytes) -> None:
        """Read on, wherever the bytes were cut."""
        *whole, rest = data.split(b"\n")
        for piece in whole:
            self._add(piece)
            self._count(self._names.get(bytes(self._line).removesuffix(b"\r")))
            self._line.clear()
        self._add(rest)

    def _add(self, piece: bytes) -> None:
        self._line += piece[: _ENOUGH_OF_A_LINE - len(self._line)]

    def _count(self, name: str | None) -> None:
        if name is not None and (len(self._calls) < MOST_CALLS or name not in self._called):
            self._calls.append(name)
            self._called.add(name)


class Shims(msgspec.Struct, frozen=True, kw_only=True):
    """The tools of one run: the folder that holds `bin` and the log's near end, if there are any, and the log."""

    folder: Path | None
    log: CallLog


def check_absent(tools: Mapping[str, str], search: str) -> None:
    """Refuse a tool whose name a program on PATH has: that one would be called. Each tool is given with its task."""
    for tool, task in tools.items():
        found = shutil.which(tool, path=search)
        if found is not None:
            raise UsageError(
                f"Task {task!r} wants a tool named {tool!r} to be called, and this machine has a program {found}.",
                hint=NAMING,
            )


@contextmanager
def provided(names: Sequence[str], form: Form = HERE) -> Iterator[Shims]:
    """Have these tools for as long as the block lasts, inside a running loop, which reads their log meanwhile."""
    problem = refusal(names)
    if problem is not None:
        raise UsageError(f"A task wants {problem}.", hint=NAMING)
    log = CallLog(names)
    if not names:
        yield Shims(folder=None, log=log)
        return
    with tempfile.TemporaryDirectory(prefix="skillopt-tools-", ignore_cleanup_errors=True) as made:
        folder = Path(made).resolve()
        (folder / BIN).mkdir()
        for name in names:  # each is checked, so it leads nowhere else
            tool = folder / BIN / f"{name}{form.ending}"
            tool.write_bytes(form.script)
            tool.chmod(0o555)
        with (_piped if form.pipe else _filed)(folder / LOG, log.take):
            yield Shims(folder=folder, log=log)


@contextmanager
def _piped(place: Path, take: Callable[[bytes], None]) -> Iterator[None]:
    """Read a named pipe as long as the block lasts, so that no writer waits: it can be written, and read by us only."""
    os.mkfifo(place, 0o600)
    reader = os.open(place, os.O_RDONLY | os.O_NONBLOCK)
    writer = os.open(place, os.O_WRONLY | os.O_NONBLOCK)  # held, so that the pipe has no end before we close it
    place.chmod(0o200)

    def read(pieces: int) -> None:
        """Take what is there."""
        with suppress(BlockingIOError):  # it is empty
            for _ in range(pieces):
                take(os.read(reader, _PIECE))

    loop = asyncio.get_running_loop()
    loop.add_reader(reader, read, 1)
    try:
        yield
    finally:
        loop.remove_reader(reader)
        place.unlink(missing_ok=True)  # first, so that nobody opens it who would wait for a reader
        read(_LAST_PIECES)
        os.close(writer)
        os.close(reader)


@contextmanager
def _filed(place: Path, take: Callable[[bytes], None]) -> Iterator[None]:
    """Read a file when the block is over."""
    place.touch()
    yield
    with place.open("rb") as log:
        take(log.read(_PIECE * _LAST_PIECES))
