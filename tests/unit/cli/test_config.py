"""`skillopt config`: what a configuration means, where it came from, whether it can be used."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from skillopt.cli.main import main

CONFIG = """\
skill: null
environment: {kind: dataset, path: tasks/}
models:
  target: {backend: openai, base_url: "http://127.0.0.1:9000/v1", model: small}
  optimizer: {backend: openai, base_url: "http://127.0.0.1:9000/v1", model: big, api_key: "${BIG_KEY}"}
"""


@pytest.fixture
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    path = tmp_path / "skillopt.yaml"
    path.write_text(CONFIG, encoding="utf-8")
    monkeypatch.setenv("BIG_KEY", "sk-never-shown-anywhere")
    return str(path)


def test_show_prints_every_setting(config: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["config", "show", config, "--set", "train.epochs=2"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert {"skill: null", 'models.target.model: "small"', "train.epochs: 2"} <= set(lines)
    assert 'models.optimizer.api_key: "${BIG_KEY}"' in lines
    assert not any("#" in line or "never-shown" in line for line in lines)


def test_show_says_where_each_value_came_from(
    config: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SKILLOPT_TRAIN__SEED", "7")
    assert main(["config", "show", config, "--origin", "--set", "train.epochs=2"]) == 0
    rows = [line.split("#") for line in capsys.readouterr().out.splitlines()]
    origins = {setting.split(":")[0]: origin.strip() for setting, origin in rows}
    assert origins["skill"] == "skillopt.yaml:1"
    assert origins["models.optimizer.model"] == "skillopt.yaml:5"
    assert origins["train.seed"] == "SKILLOPT_TRAIN__SEED"
    assert origins["train.epochs"] == "--set train.epochs"
    assert origins["train.batch_size"] == "default"


@pytest.mark.parametrize("extra", [[], ["--origin"]])
def test_show_as_json_is_one_line(config: str, extra: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["config", "show", config, "--json", *extra]) == 0
    out = capsys.readouterr().out
    assert out.count("\n") == 1
    answer = json.loads(out)
    assert answer["config"]["models"]["target"]["model"] == "small"
    assert ("origins" in answer) is bool(extra)
    if extra:
        assert answer["origins"]["skill"] == {"layer": "file", "where": "skillopt.yaml:1"}


def test_check_says_yes(config: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["config", "check", config]) == 0
    assert capsys.readouterr().out.startswith("skillopt.yaml is valid: 10 settings given, ")
    assert main(["config", "check", config, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["given"] == 10


@pytest.mark.parametrize(
    ("flag", "said"),
    [
        ("train.epohcs=2", "Did you mean 'epochs'?"),
        ("models.target.backend=opnai", "Did you mean 'openai'?"),
        ("models.target.api_key=sk-123456", "a secret is written out here"),
    ],
)
def test_check_says_what_is_wrong(config: str, flag: str, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["config", "check", config, "--json", "--set", flag]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert said in captured.err
    assert "123456" not in captured.err


def test_the_schema_is_json_for_people_and_for_programs(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["config", "schema"]) == 0
    readable = capsys.readouterr().out
    assert main(["config", "schema", "--json"]) == 0
    line = capsys.readouterr().out
    assert line.count("\n") == 1
    assert json.loads(readable) == json.loads(line)
    assert "extends" in json.loads(line)["$defs"]["Config"]["properties"]


@pytest.mark.parametrize("name", ["show", "check", "schema"])
def test_every_command_shows_an_example(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["config", name, "--help"]) == 0
    assert f"Example: skillopt config {name}" in capsys.readouterr().out
