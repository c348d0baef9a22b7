"""Bodies too large for a row: files named by the SHA-256 of what they hold, under `blobs/ab/…`.
Owns their folder and checks them when they are read; refuses to know what they mean."""

from __future__ import annotations

import hashlib
from pathlib import Path

from skillopt.domain.errors import StoreError
from skillopt.store.files import make_folder, sync_folder, write_atomic


class Blobs:
    """The bodies beside one journal."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def write(self, body: bytes) -> None:
        """Put a body on the disk for good, before the commit that names it."""
        path = self._path(hashlib.sha256(body).digest())
        make_folder(path.parent)
        if path.is_file() and path.stat().st_size == len(body):
            # whoever wrote it may have been killed before its name was durable
            sync_folder(path.parent)
        else:
            write_atomic(path, body)

    def read(self, digest: bytes) -> bytes:
        """Return a body; one that is gone or damaged is a StoreError."""
        path = self._path(digest)
        try:
            body = path.read_bytes()
        except FileNotFoundError:
            raise StoreError(
                f"The journal names {path}, and that file is gone.",
                hint="Restore it from a copy, or start the run again with --fresh.",
            ) from None
        if hashlib.sha256(body).digest() != digest:
            raise StoreError(
                f"The file {path} is damaged: it does not hold what its name says.",
                hint="Restore it from a copy, or start the run again with --fresh.",
            )
        return body

    def remove(self, digest: bytes) -> None:
        """Delete a body that no row names any more."""
        self._path(digest).unlink(missing_ok=True)

    def _path(self, digest: bytes) -> Path:
        name = digest.hex()
        return self._folder / name[:2] / name


def blobs_of(journal: Path) -> Blobs:
    """Return the large bodies beside a journal."""
    return Blobs(journal.parent / "blobs")
