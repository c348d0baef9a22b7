"""Opens the database, for the one writer or for readers, and puts its troubles into words.
Owns pragmas and the workspace folder; refuses to know what the rows mean."""

from __future__ import annotations

import errno
import fcntl
import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from skillopt.domain.errors import StoreError
from skillopt.store.files import make_folder, network_file_system, write_atomic
from skillopt.store.migrations import migrate, refuse_other_versions

# SQLite moves the log into the database by itself at this size; below it, the writer does when nothing else waits
_LARGE_LOG_PAGES = 32_768
# of a new database: an intent of a few bytes is logged, and later synced, as whole pages
_PAGE_BYTES = 2048
_BUSY_SECONDS = 60
_CACHE_KIB = 16_384
_MOUNTS = Path("/proc/mounts")


def open_to_write(path: Path) -> sqlite3.Connection:
    """Open the database, made or brought up to date, for the thread that calls this."""
    _prepare_folder(path.parent)
    os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
    connection = sqlite3.connect(path, isolation_level=None, timeout=_BUSY_SECONDS, cached_statements=256)
    try:
        with _alone(path.parent):
            connection.execute(f"PRAGMA page_size = {_PAGE_BYTES}")
            _keep_log(connection, path)
            connection.execute(f"PRAGMA wal_autocheckpoint = {_LARGE_LOG_PAGES}")
            connection.execute(f"PRAGMA cache_size = -{_CACHE_KIB}")
            connection.execute("PRAGMA synchronous = FULL")
            connection.execute("BEGIN IMMEDIATE")
            migrate(connection, path)
            connection.execute("COMMIT")
    except BaseException:
        connection.close()
        raise
    return connection


def open_to_read(path: Path) -> sqlite3.Connection:
    """Open the database for look-ups only; it works beside a writer in any process."""
    if not path.is_file():
        raise StoreError(
            f"There is no journal at {path}.", hint="Start a run first, or name its folder with --workspace."
        )
    connection = sqlite3.connect(
        f"{path.absolute().as_uri()}?mode=ro",
        uri=True,
        isolation_level=None,
        timeout=_BUSY_SECONDS,
        check_same_thread=False,
    )
    try:
        refuse_other_versions(connection, path)
    except BaseException:
        connection.close()
        raise
    return connection


@contextmanager
def worded(path: Path, doing: str) -> Iterator[None]:
    """Turn what SQLite and the system complain about into a StoreError that says what to do."""
    try:
        yield
    except (sqlite3.Error, OSError) as error:
        raise trouble(path, doing, error) from error


def trouble(path: Path, doing: str, error: sqlite3.Error | OSError) -> StoreError:
    """Return the StoreError for one complaint."""
    return StoreError(f"The journal {path} could not {doing}: {error}.", hint=_advice(error))


def _advice(error: sqlite3.Error | OSError) -> str:
    if isinstance(error, OSError):
        name = "" if error.errno is None else errno.errorcode.get(error.errno, "")
    else:
        # errors of the module itself, not of the library, have no such attribute
        name = getattr(error, "sqlite_errorname", "")
    if name.startswith("SQLITE_FULL") or name in {"ENOSPC", "EDQUOT", "EFBIG"}:
        return "The disk is full: free some space, then run the same command again. What was committed is kept."
    if name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
        return "Another program holds the database: close it, then run the same command again."
    if name.startswith(("SQLITE_CORRUPT", "SQLITE_NOTADB")):
        return "The file is damaged: restore it from a copy, or move it away and start again."
    if name in {"EMFILE", "ENFILE"}:
        return "Too many files are open: raise `ulimit -n` or lower limits.concurrency."
    if name.startswith(("SQLITE_READONLY", "SQLITE_CANTOPEN", "SQLITE_PERM")) or name in {"EACCES", "EPERM", "EROFS"}:
        return "Check that you may write to this folder, or use another one with --workspace."
    return "Check the disk, then run the same command again. What was committed is kept."


def _keep_log(connection: sqlite3.Connection, path: Path) -> None:
    (mode,) = connection.execute("PRAGMA journal_mode = WAL").fetchone()
    if mode != "wal":
        raise StoreError(
            f"The journal {path} cannot keep a write-ahead log on this file system.",
            hint="Put the workspace on a local disk with --workspace.",
        )


def _prepare_folder(folder: Path) -> None:
    """Make the workspace; a new one is hidden from git, while a folder in use is left as its owner has it."""
    make_folder(folder)
    if _MOUNTS.is_file():
        kind = network_file_system(_MOUNTS.read_text(encoding="utf-8", errors="replace"), str(folder.resolve()))
        if kind is not None:
            raise StoreError(
                f"The workspace {folder} is on a network file system ({kind}), where a journal can be damaged.",
                hint="Put the workspace on a local disk with --workspace.",
            )
    if not any(folder.iterdir()):
        write_atomic(folder / ".gitignore", b"*\n")


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Let one process at a time set up the database: changing the log's mode has no waiting of its own."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)
