from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from skillopt.domain.errors import StoreError
from skillopt.store.beside.lock import RunLock, is_held, lock_path, locks_of

HOLD = """
import sys
from pathlib import Path
from skillopt.store.beside.lock import RunLock
lock = RunLock.acquire(Path(sys.argv[1]), "mine", started=1_800_000_000.0)
print("held", flush=True)
sys.stdin.read()
"""


def hold_elsewhere(folder: Path) -> subprocess.Popen[str]:
    child = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(folder)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={"PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert child.stdout is not None
    assert child.stdout.readline() == "held\n"
    return child


def test_the_second_owner_is_told_who_the_first_is(tmp_path: Path) -> None:
    lock = RunLock.acquire(tmp_path, "mine", started=1_800_000_000.0)
    with pytest.raises(StoreError, match=rf"'mine' is open in process {os.getpid()} since 2027-01-15"):
        RunLock.acquire(tmp_path, "mine", started=1.0)
    RunLock.acquire(tmp_path, "other", started=1.0).release()
    assert is_held(tmp_path, "mine")
    lock.release()
    assert not is_held(tmp_path, "mine")
    RunLock.acquire(tmp_path, "mine", started=1.0).release()


def test_a_dead_owner_holds_nothing(tmp_path: Path) -> None:
    with hold_elsewhere(tmp_path) as child:
        assert is_held(tmp_path, "mine")
        with pytest.raises(StoreError, match=rf"process {child.pid} since"):
            RunLock.acquire(tmp_path, "mine", started=1.0)
        child.kill()
    assert not is_held(tmp_path, "mine")
    assert re.match(rf"{child.pid} 1800000000\n", lock_path(tmp_path, "mine").read_text())
    RunLock.acquire(tmp_path, "mine", started=1.0).release()


@pytest.mark.parametrize("torn", [b"", b"12", b"\xff\x00 \n", b"-1 5", b"0 5", b"9" * 400 + b" 1", b"1 2 3"])
def test_a_torn_lock_file_is_no_obstacle(tmp_path: Path, torn: bytes) -> None:
    lock_path(tmp_path, "mine").write_bytes(torn)
    assert not is_held(tmp_path, "mine")
    lock = RunLock.acquire(tmp_path, "mine", started=1.0)
    assert lock_path(tmp_path, "mine").read_text() == f"{os.getpid()} 1\n"
    lock_path(tmp_path, "mine").write_bytes(torn)
    with pytest.raises(StoreError, match="'mine' is open in"):
        RunLock.acquire(tmp_path, "mine", started=1.0)
    lock.release()


@pytest.mark.parametrize("started", ["nan", "inf", "1e300", "-1e300"])
def test_an_impossible_start_time_is_left_out(tmp_path: Path, started: str) -> None:
    lock = RunLock.acquire(tmp_path, "mine", started=1.0)
    lock_path(tmp_path, "mine").write_text(f"77 {started}\n")
    with pytest.raises(StoreError, match=r"is open in process 77, and"):
        RunLock.acquire(tmp_path, "mine", started=1.0)
    lock.release()


def test_a_lock_that_nobody_took_is_not_held(tmp_path: Path) -> None:
    assert not is_held(locks_of(tmp_path / "journal.sqlite3"), "mine")
    assert list(tmp_path.iterdir()) == []
