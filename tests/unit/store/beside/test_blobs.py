from __future__ import annotations

import hashlib
import stat
from pathlib import Path

import pytest

from skillopt.domain.errors import StoreError
from skillopt.store.beside.blobs import Blobs, blobs_of

BODY = b"a large body " * 5_000
DIGEST = hashlib.sha256(BODY).digest()


def file_of(folder: Path) -> Path:
    return folder / DIGEST.hex()[:2] / DIGEST.hex()


def test_a_body_is_kept_under_its_digest(tmp_path: Path) -> None:
    blobs = blobs_of(tmp_path / "journal.sqlite3")
    blobs.write(BODY)
    blobs.write(BODY)
    path = file_of(tmp_path / "blobs")
    assert [each for each in tmp_path.rglob("*") if each.is_file()] == [path]
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert blobs.read(DIGEST) == BODY


def test_a_torn_body_is_written_again(tmp_path: Path) -> None:
    blobs = Blobs(tmp_path)
    blobs.write(BODY)
    file_of(tmp_path).write_bytes(BODY[:100])
    blobs.write(BODY)
    assert blobs.read(DIGEST) == BODY


def test_a_damaged_body_is_never_returned(tmp_path: Path) -> None:
    blobs = Blobs(tmp_path)
    blobs.write(BODY)
    file_of(tmp_path).write_bytes(BODY[:-1] + b"!")
    with pytest.raises(StoreError, match="damaged"):
        blobs.read(DIGEST)


def test_a_missing_body_is_named(tmp_path: Path) -> None:
    blobs = Blobs(tmp_path)
    blobs.write(BODY)
    blobs.remove(DIGEST)
    blobs.remove(DIGEST)
    with pytest.raises(StoreError, match=DIGEST.hex()):
        blobs.read(DIGEST)
