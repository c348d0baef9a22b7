"""One process per run: a lock on a file that also says who holds it.
The system lets go of it when its owner dies, so a dead owner's lock is simply free. Refuses to know what a run is."""

from __future__ import annotations

import contextlib
import fcntl
import os
from datetime import UTC, datetime
from pathlib import Path

from skillopt.kernel.journal import held_run
from skillopt.store.files import make_folder


class RunLock:
    """Ownership of one run, held from `acquire` until `release` or the end of the process."""

    def __init__(self, path: Path, handle: int) -> None:
        self._path = path
        self._handle = handle

    @classmethod
    def acquire(cls, folder: Path, run: str, *, started: float) -> RunLock:
        """Take the lock at once, or raise a StoreError that names its owner. `started` is the time, for people."""
        make_folder(folder)
        path = lock_path(folder, run)
        handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            os.ftruncate(handle, 0)
            os.pwrite(handle, f"{os.getpid()} {started:.0f}\n".encode(), 0)
        except BlockingIOError:
            os.close(handle)
            raise held_run(run, _described(path)) from None
        except BaseException:
            os.close(handle)
            raise
        return cls(path, handle)

    def release(self) -> None:
        """Let go. The file stays: deleting a lock that another process is opening would make two owners."""
        with contextlib.suppress(OSError):
            os.ftruncate(self._handle, 0)
        os.close(self._handle)


def locks_of(journal: Path) -> Path:
    """Return the folder of the locks beside a journal."""
    return journal.parent / "locks"


def lock_path(folder: Path, run: str) -> Path:
    """Return where the lock of a run is."""
    return folder / f"{run}.lock"


def is_held(folder: Path, run: str) -> bool:
    """Return whether a living process says that it holds the run; only looks, so it never gets in an owner's way."""
    owner = _owner(lock_path(folder, run))
    if owner is None:
        return False
    try:
        os.kill(owner[0], 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        return True
    return True


def _owner(path: Path) -> tuple[int, float] | None:
    """Return process number and start time, or None when the file is missing, empty or torn."""
    try:
        number, started = path.read_text(encoding="ascii").split()
        owner = int(number), float(started)
    except (OSError, ValueError):
        return None
    return owner if owner[0] > 0 else None


def _described(path: Path) -> str:
    owner = _owner(path)
    if owner is None:
        return "another process"
    try:
        since = datetime.fromtimestamp(owner[1], tz=UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
    except (OverflowError, ValueError, OSError):
        return f"process {owner[0]}"
    return f"process {owner[0]} since {since}"
