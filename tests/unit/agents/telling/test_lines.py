from __future__ import annotations

import os
from pathlib import Path

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from skillopt.agents.telling.lines import decoded, left_file, read_lines


class Thing(msgspec.Struct, frozen=True):
    n: int = 0


THINGS = msgspec.json.Decoder(Thing)


def test_lines_that_cannot_be_read_are_passed_over() -> None:
    data = b'{"n": 1}\nwords\n{"n": "x"}\n[]\n{"n": 2}\r\n{"n": 3'
    assert [thing.n for thing in read_lines(data, THINGS)] == [1, 2]


@given(st.binary())
def test_no_bytes_are_too_odd(data: bytes) -> None:
    assert all(isinstance(thing, Thing) for thing in read_lines(b"{" + data, THINGS))


def test_what_is_nested_without_end_is_none() -> None:
    assert decoded(b'{"n": ' + b"[" * 100_000, THINGS) is None


def test_only_plain_files_of_the_home_are_read(tmp_path: Path) -> None:
    home, outside = tmp_path / "home", tmp_path / "outside"
    home.mkdir()
    outside.mkdir()
    (outside / "secret").write_text("secret")
    (home / "plain").write_text("plain")
    (home / "link").symlink_to(outside / "secret")
    (home / "folder").symlink_to(outside)
    (home / "loop").symlink_to(home / "loop")
    os.mkfifo(home / "pipe")
    assert left_file(home, home / "plain") == b"plain"
    for name in ("link", "folder/secret", "loop", "pipe", "missing", ".", "../outside/secret"):
        assert left_file(home, home / name) == b""
