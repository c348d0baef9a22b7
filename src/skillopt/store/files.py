"""How files get onto a disk whole: temp file, fsync, rename, fsync of the folder; and which disks cannot be trusted.
Owns the modes 0600 and 0700; refuses to know what is in a file."""

from __future__ import annotations

import contextlib
import os
import stat
import tempfile
from pathlib import Path

FOLDER_MODE = 0o700
_NETWORK = frozenset(
    {
        *("nfs", "nfs4", "cifs", "smb2", "smb3", "smbfs", "ncpfs", "afs", "coda", "9p"),
        *("beegfs", "ceph", "glusterfs", "gpfs", "lustre"),
        *("fuse.ceph", "fuse.gcsfuse", "fuse.glusterfs", "fuse.rclone", "fuse.s3fs", "fuse.sshfs"),
    }
)


def write_atomic(path: Path, data: bytes, *, mode: int | None = None) -> None:
    """Write a file so that anyone who reads it, even after a loss of power, finds the old bytes or the new ones."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name[:64]}.", suffix=".tmp")
    temporary = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            if mode is not None:
                os.fchmod(file.fileno(), mode)
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise
    sync_folder(path.parent)


def holds(path: Path, data: bytes) -> bool:
    """Say whether a plain file has exactly these bytes, so that it need not be written again."""
    try:
        found = path.lstat()
        return stat.S_ISREG(found.st_mode) and found.st_size == len(data) and path.read_bytes() == data
    except OSError:
        return False


def sync_folder(folder: Path) -> None:
    """Make the names in a folder durable."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def make_folder(folder: Path) -> None:
    """Make a folder that only its owner can open, with its parents; one that exists is left as it is."""
    if folder.is_dir():
        return
    make_folder(folder.parent)
    folder.mkdir(mode=FOLDER_MODE, exist_ok=True)
    sync_folder(folder.parent)


def network_file_system(mounts: str, path: str) -> str | None:
    """Return the kind of network file system that holds an absolute path, by the text of /proc/mounts, or None."""
    kind, longest = "", -1
    for line in mounts.splitlines():
        fields = line.split(" ")
        if len(fields) < 3:
            continue
        point = _unescaped(fields[1]).rstrip("/")
        # a later line hides an earlier one at the same place
        if (path == point or path.startswith(f"{point}/")) and len(point) >= longest:
            kind, longest = fields[2], len(point)
    return kind if kind in _NETWORK else None


def _unescaped(point: str) -> str:
    for escape, character in (("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")):
        point = point.replace(escape, character)
    return point
