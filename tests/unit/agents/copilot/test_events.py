from __future__ import annotations

import os
from pathlib import Path

from skillopt.agents.copilot.adapter import Copilot
from skillopt.agents.copilot.events import events
from tests.unit.agents.endings import ended, lines

FOLDER = ".copilot/session-state"
SESSION = f"{FOLDER}/a-session/events.jsonl"


def event(id: str, at: str, **fields: object) -> dict[str, object]:
    return {"type": "assistant.turn_start", "id": id, "timestamp": at, **fields}


def kept(home: Path, session: str, *told: dict[str, object]) -> None:
    place = home / FOLDER / session / "events.jsonl"
    place.parent.mkdir(parents=True)
    place.write_bytes(lines(*told))


def test_output_and_transcript_are_one_account_in_the_order_of_time(tmp_path: Path) -> None:
    kept(tmp_path, "s", event("b", "2"), event("c", "3"))
    both = events(lines(event("a", "1"), event("b", "2"), event("d", "4")), tmp_path)
    assert [each.id for each in both] == ["a", "b", "c", "d"]


def test_of_several_transcripts_only_the_one_that_the_output_names_is_read(tmp_path: Path) -> None:
    kept(tmp_path, "one", event("a", "1"))
    kept(tmp_path, "two", event("b", "2"))
    assert [each.id for each in events(b"", tmp_path)] == []
    both = events(lines({"type": "result", "id": "r", "timestamp": "9", "sessionId": "two"}), tmp_path)
    assert [each.id for each in both] == ["b", "r"]


def test_what_lies_where_the_transcript_should_be_is_not_followed(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_bytes(lines(event("a", "1", type="session.error", data={"message": "Oh."})))
    home = tmp_path / "home"
    place = home / SESSION
    place.parent.mkdir(parents=True)
    place.symlink_to(secret)
    assert Copilot().heard(ended(home)).actions == ()
    place.unlink()
    os.mkfifo(place)
    assert Copilot().heard(ended(home)).actions == ()
