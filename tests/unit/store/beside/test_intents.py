from __future__ import annotations

import resource
import signal
import struct
from collections.abc import Iterator
from pathlib import Path
from zlib import crc32

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from skillopt.domain.errors import StoreError
from skillopt.store.beside.intents import IntentNotes, Noted, Session, notes_path, read_notes

SESSION = Session(1, 2, 1_700_000_000.25)
ROWS = tuple((n, b"key", "target", False, 1, 4_000, 0, 4_096, 12_000, 0.5 + n) for n in range(1, 6))


def note(folder: Path) -> IntentNotes:
    notes = IntentNotes(notes_path(folder, "mine"), SESSION)
    assert [notes.took(row) for row in ROWS] == [True] * len(ROWS)
    return notes


def test_what_was_noted_is_read_by_anyone_at_once(tmp_path: Path) -> None:
    assert read_notes(tmp_path, "mine") == Noted()
    notes = note(tmp_path)
    assert read_notes(tmp_path, "mine") == Noted(SESSION, ROWS)
    assert read_notes(tmp_path, "another") == Noted()
    assert notes_path(tmp_path, "mine").stat().st_mode & 0o777 == 0o600
    notes.close(needed=True)
    assert read_notes(tmp_path, "mine") == Noted(SESSION, ROWS)


def test_notes_go_when_the_database_has_them_and_a_new_session_begins_anew(tmp_path: Path) -> None:
    note(tmp_path).close(needed=True)
    again = IntentNotes(notes_path(tmp_path, "mine"), Session(1, 3, 2.0))
    assert read_notes(tmp_path, "mine") == Noted(Session(1, 3, 2.0))
    again.close(needed=False)
    assert list(tmp_path.iterdir()) == []


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(cut=st.integers(0, 400), tail=st.binary(max_size=40))
def test_of_a_torn_file_the_whole_frames_before_the_tear_are_read(tmp_path: Path, cut: int, tail: bytes) -> None:
    note(tmp_path).close(needed=True)
    path = notes_path(tmp_path, "mine")
    whole = path.read_bytes()
    path.write_bytes(whole[:cut] + tail)
    found = read_notes(tmp_path, "mine")
    assert found.rows == ROWS[: len(found.rows)]
    assert found.session in (None, SESSION)
    path.write_bytes(whole + b"\0" * 64)
    assert read_notes(tmp_path, "mine") == Noted(SESSION, ROWS)


def test_notes_in_another_form_are_refused_and_not_guessed_at(tmp_path: Path) -> None:
    notes = IntentNotes(notes_path(tmp_path, "mine"), SESSION)
    notes.close(needed=True)
    path = notes_path(tmp_path, "mine")
    body = b"\xc3"
    path.write_bytes(struct.pack("<II", len(body), crc32(body)) + body + path.read_bytes())
    with pytest.raises(StoreError, match="'mine' are in a form that this version cannot read"):
        read_notes(tmp_path, "mine")


@pytest.fixture
def no_room() -> Iterator[None]:
    """Let no file grow beyond 200 bytes, as on a full disk."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (200, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)


@pytest.mark.usefixtures("no_room")
def test_where_there_is_no_room_nothing_is_taken_any_more(tmp_path: Path) -> None:
    notes = IntentNotes(notes_path(tmp_path, "mine"), SESSION)
    taken = [notes.took(row) for row in ROWS]
    held = taken.index(False)
    assert held > 0
    assert not any(taken[held:])
    assert read_notes(tmp_path, "mine") == Noted(SESSION, ROWS[:held])
    notes.close(needed=True)
