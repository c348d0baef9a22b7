from __future__ import annotations

import errno
import sqlite3
import stat
from contextlib import closing
from pathlib import Path

import pytest

from skillopt.domain.errors import StoreError
from skillopt.store.connection import open_to_read, open_to_write, trouble, worded


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_new_workspace_is_private_and_hidden_from_git(tmp_path: Path) -> None:
    path = tmp_path / "project" / ".skillopt" / "journal.sqlite3"
    with closing(open_to_write(path)) as connection:
        connection.execute("BEGIN IMMEDIATE")
        connection.execute("INSERT INTO runs VALUES (1, 'mine', x'')")
        connection.execute("COMMIT")
        assert {each.name: mode(each) for each in path.parent.iterdir()} == {
            ".gitignore": 0o600,
            "journal.sqlite3": 0o600,
            "journal.sqlite3-wal": 0o600,
            "journal.sqlite3-shm": 0o600,
        }
    assert mode(path.parent) == 0o700
    assert (path.parent / ".gitignore").read_bytes() == b"*\n"


def test_a_folder_in_use_gets_no_gitignore(tmp_path: Path) -> None:
    (tmp_path / "SKILL.md").write_text("Be brief.")
    open_to_write(tmp_path / "journal.sqlite3").close()
    assert not (tmp_path / ".gitignore").exists()


def test_the_log_is_written_ahead_and_synced(tmp_path: Path) -> None:
    with closing(open_to_write(tmp_path / "journal.sqlite3")) as connection:
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        assert connection.execute("PRAGMA synchronous").fetchone() == (2,)


def test_a_reader_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "a folder with ? # and %20" / "journal.sqlite3"
    open_to_write(path).close()
    with closing(open_to_read(path)) as connection:
        assert connection.execute("SELECT count(*) FROM runs").fetchone() == (0,)
        with pytest.raises(sqlite3.OperationalError, match="readonly"):
            connection.execute("INSERT INTO runs VALUES (1, 'mine', x'')")


def test_there_is_nothing_to_read_before_the_first_run(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=r"There is no journal at .*journal.sqlite3"):
        open_to_read(tmp_path / "journal.sqlite3")
    assert list(tmp_path.iterdir()) == []


def test_another_file_is_not_taken_for_a_journal(tmp_path: Path) -> None:
    path = tmp_path / "journal.sqlite3"
    path.write_bytes(b"# Notes\n" * 200)
    for open_it in (open_to_write, open_to_read):
        with pytest.raises(StoreError, match=r"file is not a database.*is damaged"), worded(path, "be opened"):
            open_it(path)
    assert path.read_bytes() == b"# Notes\n" * 200


def test_a_folder_is_not_taken_for_a_journal(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="could not be opened"), worded(tmp_path, "be opened"):
        open_to_write(tmp_path)


@pytest.mark.parametrize(
    ("error", "advice"),
    [
        (OSError(errno.ENOSPC, "no space"), "free some space"),
        (OSError(errno.EDQUOT, "quota"), "free some space"),
        (OSError(errno.EMFILE, "too many"), "ulimit -n"),
        (OSError(errno.EACCES, "denied"), "you may write"),
        (OSError(errno.EROFS, "read-only"), "you may write"),
        (OSError(errno.EIO, "I/O error"), "Check the disk"),
        (OSError("no number"), "Check the disk"),
        (sqlite3.ProgrammingError("no name"), "Check the disk"),
    ],
)
def test_trouble_says_what_to_do(error: OSError | sqlite3.Error, advice: str) -> None:
    message = str(trouble(Path("x/journal.sqlite3"), "be written", error))
    assert message.startswith("The journal x/journal.sqlite3 could not be written: ")
    assert advice in message


def test_a_locked_database_is_recognised(tmp_path: Path) -> None:
    path = tmp_path / "journal.sqlite3"
    with closing(open_to_write(path)) as owner, closing(sqlite3.connect(path, timeout=0)) as other:
        owner.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreError, match="Another program holds the database"), worded(path, "be written"):
            other.execute("BEGIN IMMEDIATE")
