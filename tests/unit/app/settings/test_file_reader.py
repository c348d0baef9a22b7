"""Configuration files: formats, limits and their errors."""

from __future__ import annotations

from pathlib import Path

import pytest

from skillopt.app.settings.file_reader import LARGEST, read_file
from skillopt.app.settings.layers import Node
from skillopt.domain.errors import UsageError


def plain(node: Node) -> object:
    if isinstance(node.value, dict):
        return {key: plain(child) for key, child in node.value.items()}
    return [plain(child) for child in node.value] if isinstance(node.value, tuple) else node.value


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("c.yaml", "train:\n  epochs: 2\n  rates: [1, 0.5]\nskill: null\n"),
        ("c.YML", "{train: {epochs: 2, rates: [1, 0.5]}, skill: ~}"),
        ("c.json", '{"train": {"epochs": 2, "rates": [1, 0.5]}, "skill": null}'),
        ("c.yaml", "\ufefftrain: {epochs: 2, rates: [1, 0.5]}\nskill:\n"),
    ],
)
def test_each_format_says_the_same(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    assert plain(read_file(tmp_path / name, name).node) == {"train": {"epochs": 2, "rates": [1, 0.5]}, "skill": None}


def test_toml(tmp_path: Path) -> None:
    (tmp_path / "c.toml").write_text("[train]\nepochs = 2\nrates = [1, 0.5]\n", encoding="utf-8")
    assert plain(read_file(tmp_path / "c.toml", "c.toml").node) == {"train": {"epochs": 2, "rates": [1, 0.5]}}


@pytest.mark.parametrize("text", ["", "# nothing\n", "null", "---\n"])
def test_an_empty_file_gives_nothing(tmp_path: Path, text: str) -> None:
    (tmp_path / "c.yaml").write_text(text, encoding="utf-8")
    assert plain(read_file(tmp_path / "c.yaml", "c.yaml").node) == {}


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("c.yaml", b"- a\n", "not a mapping"),
        ("c.json", b"[1]", "not a mapping"),
        ("c.json", b'{"a": 1,}', r"c\.json:1: cannot be read as JSON"),
        ("c.json", b'{"a": NaN}', "not finite"),
        ("c.json", b'{"a": ' + b"9" * 5000 + b"}", "too long"),
        ("c.json", b'{"a": ' + b"[" * 5000, "cannot be read as JSON|too deep"),
        ("c.json", b'{"a": ' + b"[" * 25 + b"]" * 25 + b"}", "20 deep"),
        ("c.toml", b"a = \n", r"at line 1, column 5"),
        ("c.toml", b"a = 1\na = 2\n", "line 2"),
        ("c.toml", b"a = 2024-01-02\n", "quotes"),
        ("c.toml", b"a = " + b"[" * 5000, "TOML"),
        ("c.toml", b"a = " + b"9" * 5000, "TOML"),
        ("c.yaml", b"a: \xff\n", "not UTF-8"),
        ("c.yaml", b"#" * (LARGEST + 1), "larger than 1,000,000 bytes"),
        ("c.ini", b"", "Unknown kind of configuration file"),
        ("c", b"", "Unknown kind of configuration file"),
    ],
)
def test_what_cannot_be_read_is_said(tmp_path: Path, name: str, content: bytes, said: str) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(UsageError, match=said):
        read_file(tmp_path / name, name)


def test_a_key_given_twice_in_json_is_reported(tmp_path: Path) -> None:
    (tmp_path / "c.json").write_text('{"a": {"b": 1, "b": 2}}', encoding="utf-8")
    problems = read_file(tmp_path / "c.json", "c.json").problems
    assert [str(problem) for problem in problems] == ["c.json: b: given twice in one object"]


@pytest.mark.parametrize("name", ["missing.yaml", "folder.yaml"])
def test_no_file_is_said(tmp_path: Path, name: str) -> None:
    (tmp_path / "folder.yaml").mkdir()
    with pytest.raises(UsageError, match="no such file"):
        read_file(tmp_path / name, name)
