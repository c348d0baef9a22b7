from __future__ import annotations

from pathlib import Path

import pytest

from skillopt.environments.files.home import Home


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("a.txt", None),
        ("deep/b.txt", None),
        ("", "does not exist"),
        ("gone", "does not exist"),
        ("../secret", "outside"),
        ("deep/../../secret", "outside"),
        ("/etc/passwd", "outside"),
        ("C:\\x", "outside"),
        ("out", "outside"),
        ("a\0b", "cannot be used"),
    ],
)
def test_a_name_stays_inside_whatever_links_say(tmp_path: Path, name: str, said: str | None) -> None:
    home = tmp_path / "home"
    (home / "deep").mkdir(parents=True)
    (home / "a.txt").touch()
    (home / "deep" / "b.txt").touch()
    (tmp_path / "secret").touch()
    (home / "out").symlink_to(tmp_path / "secret")
    problem = Home(home).problem(name)
    assert problem is None if said is None else problem is not None and said in problem
    assert Home(home, (tmp_path,)).problem(str(tmp_path / "secret")) is None
