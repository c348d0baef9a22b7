from __future__ import annotations

import os
from pathlib import Path

import pytest

from skillopt.agents.claude_code.diary import diary


@pytest.fixture
def projects(tmp_path: Path) -> Path:
    folder = tmp_path / "home" / ".claude" / "projects" / "-job"
    folder.mkdir(parents=True)
    return folder


def test_the_transcript_of_the_session_is_read(tmp_path: Path, projects: Path) -> None:
    (projects / "one.jsonl").write_bytes(b"1")
    (projects / "two.jsonl").write_bytes(b"2")
    assert diary(tmp_path / "home", "two") == b"2"
    assert diary(tmp_path / "home", "") == b""  # which of them is not known


def test_the_only_transcript_needs_no_name(tmp_path: Path, projects: Path) -> None:
    (projects / "one.jsonl").write_bytes(b"1")
    assert diary(tmp_path / "home", "") == diary(tmp_path / "home", "../*") == b"1"


def test_no_home_is_no_transcript(tmp_path: Path) -> None:
    assert diary(tmp_path / "nowhere", "one") == b""


def test_an_agent_cannot_have_another_file_read(tmp_path: Path, projects: Path) -> None:
    secret = tmp_path / "one.jsonl"
    secret.write_bytes(b"secret")
    (projects / "one.jsonl").symlink_to(secret)
    assert diary(tmp_path / "home", "one") == b""
    (projects / "one.jsonl").unlink()
    projects.rmdir()
    projects.symlink_to(tmp_path, target_is_directory=True)
    assert diary(tmp_path / "home", "one") == b""
    projects.unlink()
    projects.parent.rmdir()
    outside = tmp_path / "outside" / "-job"
    outside.mkdir(parents=True)
    (outside / "one.jsonl").write_bytes(b"secret")
    projects.parent.symlink_to(outside.parent, target_is_directory=True)
    assert diary(tmp_path / "home", "one") == b""


def test_a_pipe_is_not_waited_for(tmp_path: Path, projects: Path) -> None:
    os.mkfifo(projects / "one.jsonl")
    assert diary(tmp_path / "home", "one") == b""
