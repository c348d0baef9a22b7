"""Whole configurations: layers, origins, extends, flags, secrets, and one report of all that is wrong."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from skillopt.app.settings.load import Loaded, load
from skillopt.domain.errors import UsageError

SECRET = "sk-proj-9f8e7d6c5b4a39281706"


class Train(msgspec.Struct, frozen=True, kw_only=True):
    epochs: int = 4
    batch_size: int = 40
    seeds: tuple[int, ...] = (42,)


class Model(msgspec.Struct, frozen=True, kw_only=True):
    backend: Literal["openai", "anthropic"]
    model: str
    api_key: str = "none"
    headers: dict[str, str] = {}


class Dataset(msgspec.Struct, frozen=True, kw_only=True, tag="dataset", tag_field="kind"):
    path: str = "tasks/"


class Program(msgspec.Struct, frozen=True, kw_only=True, tag="command", tag_field="kind"):
    run: str


class Sample(msgspec.Struct, frozen=True, kw_only=True):
    skill: str | None
    environment: Dataset | Program = Dataset()
    models: dict[str, Model] = {}
    train: Train = Train()
    patience: int | None = None
    plain: bool = False


VALID = """\
skill: SKILL.md
environment: {kind: dataset, path: tasks/}
models:
  target:
    backend: openai
    model: "gpt-4.1"
    api_key: ${MY_KEY}
train:
  epochs: 2
  seeds: [1, 2]
"""


def put(folder: Path, text: str, name: str = "skillopt.yaml") -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def read(path: Path, sets: Sequence[str] = (), environ: Mapping[str, str] | None = None) -> Loaded[Sample]:
    return load(path, Sample, sets=sets, environ={} if environ is None else environ)


def refusal(path: Path, sets: Sequence[str] = (), environ: Mapping[str, str] | None = None) -> str:
    with pytest.raises(UsageError) as caught:
        read(path, sets, environ)
    return str(caught.value)


def test_a_file_becomes_typed_settings_with_origins(tmp_path: Path) -> None:
    loaded = read(put(tmp_path, VALID))
    assert loaded.config.train == Train(epochs=2, seeds=(1, 2))
    assert loaded.config.models["target"].api_key == "${MY_KEY}"
    assert loaded.root == tmp_path.resolve()
    assert {key: str(origin) for key, origin in loaded.origins.items()} == {
        "skill": "skillopt.yaml:1",
        "environment.kind": "skillopt.yaml:2",
        "environment.path": "skillopt.yaml:2",
        "models.target.backend": "skillopt.yaml:5",
        "models.target.model": "skillopt.yaml:6",
        "models.target.api_key": "skillopt.yaml:7",
        "models.target.headers": "default",
        "train.epochs": "skillopt.yaml:9",
        "train.batch_size": "default",
        "train.seeds": "skillopt.yaml:10",
        "patience": "default",
        "plain": "default",
    }


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("c.json", json.dumps({"skill": None, "train": {"epochs": 2}})),
        ("c.yml", "{skill: null, train: {epochs: 2}}"),
        ("c.toml", 'skill = "SKILL.md"\n[train]\nepochs = 2\n'),
    ],
)
def test_every_format_gives_settings_and_origins(tmp_path: Path, name: str, text: str) -> None:
    loaded = read(put(tmp_path, text, name))
    assert loaded.config.train.epochs == 2
    assert str(loaded.origins["train.epochs"]).startswith(name)


def test_later_layers_win_and_say_so(tmp_path: Path) -> None:
    path = put(tmp_path, "skill: a\ntrain: {epochs: 1, batch_size: 1, seeds: [1]}\n")
    environ = {"SKILLOPT_TRAIN__BATCH_SIZE": "2", "SKILLOPT_TRAIN__SEEDS": "[2, 3]", "SKILLOPT_DEBUG": "1"}
    loaded = read(path, ["train.seeds=[4]", "patience=3"], environ)
    assert loaded.config.train == Train(epochs=1, batch_size=2, seeds=(4,))
    layers = {key: (origin.layer, origin.where) for key, origin in loaded.origins.items() if key.startswith("train")}
    assert layers == {
        "train.epochs": ("file", "skillopt.yaml:2"),
        "train.batch_size": ("environment", "SKILLOPT_TRAIN__BATCH_SIZE"),
        "train.seeds": ("flag", "--set train.seeds"),
    }


@pytest.mark.parametrize(
    ("flag", "field", "value"),
    [
        ("patience=3", "patience", 3),
        ("patience=", "patience", None),
        ("patience=null", "patience", None),
        ("plain=true", "plain", True),
        ("skill=a=b", "skill", "a=b"),
        ("skill='3'", "skill", "3"),
        ("train={epochs: 9}", "train", Train(epochs=9)),
        ("environment={path: elsewhere/}", "environment", Dataset(path="elsewhere/")),
        ('models."a.b"={backend: openai, model: m}', "models", {"a.b": Model(backend="openai", model="m")}),
    ],
)
def test_flags(tmp_path: Path, flag: str, field: str, value: object) -> None:
    path = put(tmp_path, "skill: s\nenvironment: {kind: dataset}\n")
    assert getattr(read(path, [flag]).config, field) == value


@pytest.mark.parametrize(
    ("flag", "said"),
    [
        ("patience", "--set text 'patience': expected key=value"),
        ("=3", "expected key=value"),
        (".a=3", "expected key=value"),
        ("a..b=3", "expected key=value"),
        ("a.=3", "expected key=value"),
        ("a b=3", "expected key=value"),
        ("trian.epochs=3", "--set trian.epochs: Unknown key 'trian'. Did you mean 'train'?"),
        ("train.epochs=many", "--set train.epochs: expected a whole number, got text 'many'"),
        ("plain=yes", "--set plain: expected true or false, got text 'yes'"),
        ("skill=[a", "--set skill: cannot be read as YAML"),
        ("skill=a: b", "--set skill: the value is not a single YAML value"),
        ("skill=*a", "anchors and aliases are not allowed"),
        ("extends=base.yaml", "--set extends: is read from files only"),
        ("train={epochs: 1, epochs: 2}", "--set train: train.epochs: given twice"),
    ],
)
def test_flags_that_are_refused(tmp_path: Path, flag: str, said: str) -> None:
    assert said in refusal(put(tmp_path, "skill: s\n"), [flag])


@pytest.mark.parametrize(
    ("variable", "text", "said"),
    [
        ("SKILLOPT_TRIAN", "1", "SKILLOPT_TRIAN: Unknown key 'trian'. Did you mean 'train'?"),
        ("SKILLOPT_TRAIN__EPOCHS", "x", "SKILLOPT_TRAIN__EPOCHS: train.epochs: expected a whole number, got text 'x'"),
        ("SKILLOPT_TRAIN__", "1", "SKILLOPT_TRAIN__: train: Unknown key ''"),
        ("SKILLOPT_", "1", "SKILLOPT_: Unknown key ''"),
        ("SKILLOPT_SKILL", "[", "SKILLOPT_SKILL: cannot be read as YAML"),
        ("SKILLOPT_EXTENDS", "b.yaml", "SKILLOPT_EXTENDS: extends: is read from files only"),
    ],
)
def test_variables_that_are_refused(tmp_path: Path, variable: str, text: str, said: str) -> None:
    assert said in refusal(put(tmp_path, "skill: s\n"), environ={variable: text})


def test_extends_puts_the_general_under_the_special(tmp_path: Path) -> None:
    put(tmp_path, "skill: base\ntrain: {epochs: 1, batch_size: 1}\n", "shared/base.yaml")
    put(tmp_path, '{"extends": "base.yaml", "train": {"batch_size": 2}}', "shared/middle.json")
    path = put(tmp_path, "extends: shared/middle.json\ntrain:\n  seeds: [7]\n")
    loaded = read(path)
    assert loaded.config.skill == "base"
    assert loaded.config.train == Train(epochs=1, batch_size=2, seeds=(7,))
    origins = {key: str(origin) for key, origin in loaded.origins.items() if origin.layer == "file"}
    assert origins == {
        "skill": "shared/base.yaml:1",
        "train.epochs": "shared/base.yaml:2",
        "train.batch_size": "shared/middle.json",
        "train.seeds": "skillopt.yaml:3",
    }


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("extends: skillopt.yaml\n", "circle: skillopt.yaml → skillopt.yaml"),
        ("extends: other.yaml\n", "circle: skillopt.yaml → other.yaml → skillopt.yaml"),
        ("extends: missing.yaml\n", "missing.yaml: there is no such file"),
        ("extends: ../outside.yaml\n", "outside the configuration's folder"),
        ("extends: /etc/hosts\n", "outside the configuration's folder"),
        ("extends: link.yaml\n", "outside the configuration's folder"),
        ("extends: [a.yaml]\n", "skillopt.yaml:1: extends: expected the path of a file, got a list"),
        ("extends: ''\n", "expected the path of a file"),
        ('extends: "a\\0b.yaml"\n', "extends: "),
        ("extend: base.yaml\n", "Did you mean 'extends'?"),
    ],
)
def test_extends_that_is_refused(tmp_path: Path, text: str, said: str) -> None:
    folder = tmp_path / "project"
    outside = put(tmp_path, "skill: s\n", "outside.yaml")
    put(folder, "extends: skillopt.yaml\n", "other.yaml")
    (folder / "link.yaml").symlink_to(outside)
    assert said in refusal(put(folder, text))


def test_a_long_chain_ends(tmp_path: Path) -> None:
    for link in range(30):
        put(tmp_path, f"extends: c{link + 1}.yaml\n", f"c{link}.yaml")
    assert "circle" in refusal(tmp_path / "c0.yaml")


@pytest.mark.parametrize(
    "text",
    [
        f"skill: s\nmodels:\n  target:\n    backend: openai\n    model: m\n    api_key: {SECRET}\n",
        f"skill: s\nmodels:\n  target:\n    backend: openai\n    model: m\n    apiKey: {SECRET}\n",
        f"skill: s\nmodels:\n  target:\n    backend: openai\n    headers:\n      Authorization: Bearer {SECRET}\n",
        f"skill: s\nmodels:\n  target:\n    backend: openai\n    model: m\n    api_key: [{SECRET}]\n",
        f"skill: s\nmodels:\n  target:\n    backend: openai\n    model: m\n    api_key: {{x: {SECRET}}}\n",
    ],
)
def test_a_literal_secret_names_its_line_and_is_never_shown(tmp_path: Path, text: str) -> None:
    said = refusal(put(tmp_path, text))
    assert "skillopt.yaml:6: models.target." in said
    assert "a secret is written out here" in said
    assert SECRET not in said


@pytest.mark.parametrize(
    "text",
    [
        f"skill: s\nmodels: {{target: {{backend: {SECRET}, model: m}}}}\n",
        f"skill: s\nplain: {SECRET}\n",
        f"skill: s\n{SECRET}-{SECRET}: x\n",
        f"skill: s\nmodels: {{target: {{api_key:{SECRET}}}}}\n",
        f"skill: s\nmodels: {{target: {{headers: {{a_very_long_header_key:{SECRET}}}}}}}\n",
        f"skill: s\nmodels: {{target: api_key={SECRET}}}\n",
        f"skill: s\napi_key: 'a\n{SECRET}\n",
    ],
)
def test_a_secret_in_the_wrong_place_is_not_shown_either(tmp_path: Path, text: str) -> None:
    assert SECRET not in refusal(put(tmp_path, text))


def test_a_literal_secret_under_a_later_layer_is_still_found(tmp_path: Path) -> None:
    put(tmp_path, f"skill: s\nmodels: {{t: {{backend: openai, model: m, api_key: {SECRET}}}}}\n", "base.yaml")
    said = refusal(put(tmp_path, "extends: base.yaml\n"), ["models.t.api_key=none"])
    assert "base.yaml:2: models.t.api_key" in said
    assert SECRET not in said


@pytest.mark.parametrize(
    ("sets", "environ", "place"),
    [
        ([f"models.t.api_key={SECRET}"], {}, "--set models.t.api_key: a secret"),
        ([], {"SKILLOPT_MODELS__T__API_KEY": SECRET}, "SKILLOPT_MODELS__T__API_KEY: models.t.api_key: a secret"),
        ([f"models.t.api_key={SECRET}: x"], {}, "--set models.t.api_key"),
        ([f"models.t.api_key:{SECRET}"], {}, "--set text of"),
    ],
)
def test_secrets_in_flags_and_variables(
    tmp_path: Path, sets: Sequence[str], environ: Mapping[str, str], place: str
) -> None:
    said = refusal(put(tmp_path, "skill: s\nmodels: {t: {backend: openai, model: m}}\n"), sets, environ)
    assert place in said
    assert SECRET not in said


def test_everything_wrong_is_reported_in_one_error_with_its_lines(tmp_path: Path) -> None:
    text = "trian: {}\ntrain:\n  epoch: 3\n  batch_size: big\n  batch_size: 1\nenvironment: {kind: datset}\nplain: on\n"
    said = refusal(put(tmp_path, text), ["patience=x"]).splitlines()
    assert said == [
        "skillopt.yaml cannot be used; it has 8 problems:",
        "  skillopt.yaml:5: train.batch_size: given twice; the first is at skillopt.yaml:4",
        "  skillopt.yaml:1: Unknown key 'trian'. Did you mean 'train'? "
        "Valid: environment, extends, models, patience, plain, skill, train.",
        "  skillopt.yaml:3: train: Unknown key 'epoch'. Did you mean 'epochs'? Valid: batch_size, epochs, seeds.",
        "  skillopt.yaml:4: train.batch_size: expected a whole number, got text 'big'",
        "  skillopt.yaml:6: environment.kind: Unknown value 'datset'. Did you mean 'dataset'? Valid: command, dataset.",
        "  skillopt.yaml:7: plain: expected true or false, got text 'on'",
        "  --set patience: expected a whole number, got text 'x'",
        "  skillopt.yaml:1: skill: missing; expected text or null `skillopt config schema` lists all settings.",
    ]


def test_many_problems_are_cut_short(tmp_path: Path) -> None:
    said = refusal(put(tmp_path, "".join(f"key{number}: 1\n" for number in range(50))))
    assert "51 problems" in said
    assert "… and 31 more" in said


def test_an_empty_file_is_only_missing_what_is_required(tmp_path: Path) -> None:
    assert "skill: missing; expected text or null" in refusal(put(tmp_path, ""))


_PIECES = st.sampled_from(
    (
        *(
            "",
            " ",
            "\n",
            "  ",
            ":",
            "- ",
            "[",
            "]",
            "{",
            "}",
            "&a ",
            "*a",
            "!t ",
            "'",
            '"',
            "#",
            "yes",
            "null",
            "1e9",
            "é",
        ),
        *(
            "extends: x.yaml\n",
            "train:\n",
            "\t",
            "\x00",
            "\\",
            "|",
            ">",
            "%",
            "@",
            "~",
            "-1",
            "${",
            "kind: command",
            "\r",
        ),
    )
)
_MUTATION = st.tuples(st.integers(0, len(VALID)), st.integers(0, 6), _PIECES)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=200)
@given(mutations=st.lists(_MUTATION, min_size=1, max_size=4), suffix=st.sampled_from(["yaml", "json", "toml"]))
def test_a_damaged_file_is_read_or_refused_and_nothing_else(
    tmp_path: Path, mutations: list[tuple[int, int, str]], suffix: str
) -> None:
    text = VALID if suffix != "json" else json.dumps({"skill": "s", "train": {"epochs": 2}, "models": {}})
    for at, length, piece in mutations:
        text = text[:at] + piece + text[at + length :]
    try:
        read(put(tmp_path, text, f"c.{suffix}"))
    except UsageError as error:
        assert error.hint


_KEYS = st.sampled_from(["skill", "train", "train.epochs", "plain", "models.t.api_key", '"', "environment.kind", "ü"])
_VALUES = st.text(alphabet="train=[]{}\"'*&:!,- 1\x00\ud800", max_size=12)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=200)
@given(flags=st.lists(st.tuples(_KEYS, _VALUES), max_size=2))
def test_any_flag_is_read_or_refused_and_nothing_else(tmp_path: Path, flags: list[tuple[str, str]]) -> None:
    path = put(tmp_path, VALID)
    try:
        read(path, [f"{key}={value}" for key, value in flags])
    except UsageError as error:
        assert error.hint
