"""Lines of JSON that a program wrote, on its output or into its home.
Owns reading them whatever they hold, and reading only plain files of the home; refuses to know what they mean.
A line that is cut, garbled or of another shape is passed over: programs are killed, and their next version differs."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import TypeVar

import msgspec

LONGEST_FILE = 64 << 20
T = TypeVar("T")


def read_lines(data: bytes, decoder: msgspec.json.Decoder[T]) -> Iterator[T]:
    """Yield what each line holds, where it can be read."""
    for line in data.split(b"\n"):
        value = decoded(line, decoder) if line.startswith(b"{") else None
        if value is not None:
            yield value


def decoded(data: bytes | msgspec.Raw, decoder: msgspec.json.Decoder[T]) -> T | None:
    """Return what this JSON holds, or None where it is no such thing."""
    try:
        return decoder.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def left_file(home: Path, path: Path) -> bytes:
    """Return a file that a program left in its home, or nothing.

    Whatever ran there may have put a link or a pipe in its place: only a plain file below the home is read.
    """
    try:
        if not path.resolve().is_relative_to(home.resolve()):
            return b""
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except (OSError, ValueError, RuntimeError):  # a link that leads to itself is a RuntimeError
        return b""
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            return b""
        with os.fdopen(handle, "rb", closefd=False) as file:
            return file.read(LONGEST_FILE)
    finally:
        os.close(handle)
