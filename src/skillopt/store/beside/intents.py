"""Requests about to be sent, noted in a file before the database has them: one short write, which survives a kill.
Owns the file and its frames; refuses to know what the columns of a row mean."""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any
from zlib import crc32

import msgspec

from skillopt.domain.errors import StoreError
from skillopt.store.codec import Columns, Row

_HEAD = struct.Struct("<II")
_ENCODER = msgspec.msgpack.Encoder()


class Session(msgspec.Struct, frozen=True, array_like=True):
    """Whose notes they are: a session of a run; the time tells apart runs that had the same number."""

    run: int
    number: int
    started: float


class Noted(msgspec.Struct, frozen=True):
    """What a file holds: rows in the order they were noted, of one session; nothing when there is no file."""

    session: Session | None = None
    rows: tuple[Columns, ...] = ()


_SESSION = msgspec.msgpack.Decoder(Session)
_ROW = msgspec.msgpack.Decoder(tuple[Any, ...])


class IntentNotes:
    """The notes of one session, being written by the owner of its run."""

    def __init__(self, path: Path, session: Session) -> None:
        self._path = path
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND, 0o600)
        self._whole = True
        self.took(msgspec.structs.astuple(session))

    def took(self, row: Row) -> bool:
        """Note a row and say so; False means that it may be torn, and that this file takes nothing more."""
        body = _ENCODER.encode(row)
        frame = _HEAD.pack(len(body), crc32(body)) + body
        if self._whole:
            self._whole = False
            with suppress(OSError):  # full, or broken: the database will say which
                self._whole = os.write(self._file, frame) == len(frame)
        return self._whole

    def close(self, *, needed: bool) -> None:
        """Let go of the file; it stays for whoever opens the run next if the database may lack some of it."""
        os.close(self._file)
        if not needed:
            self._path.unlink(missing_ok=True)


def notes_path(folder: Path, run: str) -> Path:
    """Return where the notes of a run are."""
    return folder / f"{run}.intents"


def read_notes(folder: Path, run: str) -> Noted:
    """Return what the owner of a run noted, up to a frame that a kill or the power tore."""
    try:
        data = notes_path(folder, run).read_bytes()
    except FileNotFoundError:
        return Noted()
    bodies = _bodies(data)
    first = next(bodies, None)
    if first is None:
        return Noted()
    try:
        return Noted(_SESSION.decode(first), tuple(_ROW.decode(body) for body in bodies))
    except msgspec.DecodeError as error:
        raise StoreError(
            f"The notes of run {run!r} are in a form that this version cannot read: {error}.",
            hint="Start the run again with --fresh, or use the version of skillopt that made it.",
        ) from error


def _bodies(data: bytes) -> Iterator[bytes]:
    start = 0
    while len(data) - start > _HEAD.size:
        size, check = _HEAD.unpack_from(data, start)
        start += _HEAD.size
        body = data[start : start + size]
        if not size or crc32(body) != check:
            return
        yield body
        start += size
