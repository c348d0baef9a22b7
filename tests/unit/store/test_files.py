from __future__ import annotations

import stat
from pathlib import Path

import pytest

from skillopt.store.files import holds, make_folder, network_file_system, write_atomic

MOUNTS = r"""
/dev/vda / ext4 rw,relatime 0 0
proc /proc proc rw 0 0
server:/export /home nfs4 rw 0 0
/dev/vdb /home/ann/local ext4 rw 0 0
//nas/share /mnt/my\040files cifs rw 0 0
C:\134 /mnt/c 9p rw 0 0
user@host:/ /mnt/far fuse.sshfs rw 0 0
/dev/vdc /data xfs rw 0 0
server:/data /data nfs rw 0 0
"""


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_file_is_replaced_whole_and_private(tmp_path: Path) -> None:
    path = tmp_path / "best_skill.md"
    write_atomic(path, b"old")
    path.chmod(0o644)
    write_atomic(path, b"new")
    assert path.read_bytes() == b"new"
    assert mode(path) == 0o600
    assert list(tmp_path.iterdir()) == [path]


def test_a_file_that_cannot_be_written_leaves_nothing_behind(tmp_path: Path) -> None:
    taken = tmp_path / "history.json"
    taken.mkdir()
    with pytest.raises(OSError, match="history"):
        write_atomic(taken, b"new")
    assert list(tmp_path.iterdir()) == [taken]
    with pytest.raises(FileNotFoundError):
        write_atomic(tmp_path / "nowhere" / "history.json", b"new")


def test_a_long_name_fits(tmp_path: Path) -> None:
    path = tmp_path / ("x" * 255)
    write_atomic(path, b"new")
    assert path.read_bytes() == b"new"


def test_new_folders_are_private_and_old_ones_are_left_alone(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    make_folder(tmp_path / "a" / "b")
    make_folder(tmp_path / "a" / "b")
    assert mode(tmp_path) == 0o755
    assert mode(tmp_path / "a") == mode(tmp_path / "a" / "b") == 0o700


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/work/.skillopt", None),
        ("/home/ann/.skillopt", "nfs4"),
        ("/home", "nfs4"),
        ("/homestead", None),
        ("/home/ann/local/.skillopt", None),
        ("/home/ann/localhost", "nfs4"),
        ("/mnt/my files/x", "cifs"),
        ("/mnt/c/Users/ann", "9p"),
        ("/mnt/far/x", "fuse.sshfs"),
        ("/data/x", "nfs"),
        ("/", None),
    ],
)
def test_network_file_systems_are_recognised(path: str, kind: str | None) -> None:
    assert network_file_system(MOUNTS, path) == kind


def test_torn_mounts_say_nothing() -> None:
    assert network_file_system("", "/home") is None
    assert network_file_system("server:/x /home\n\nnonsense", "/home") is None


def test_a_file_holds_its_bytes_and_a_link_holds_none(tmp_path: Path) -> None:
    file, link = tmp_path / "file", tmp_path / "link"
    file.write_bytes(b"one")
    link.symlink_to(file)
    assert holds(file, b"one")
    assert not holds(file, b"two")
    assert not holds(file, b"on")
    assert not holds(link, b"one")
    assert not holds(tmp_path / "none", b"")
    assert not holds(tmp_path, b"")
