"""Every name a person can misspell, misspelt: always exit 2, the valid names, and the nearest; never a traceback.

The sections are walked from the real Config, so a new setting is tried without a change here.
"""

from __future__ import annotations

import contextlib
import difflib
import io
import json
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple, get_args

import click
import pytest
from msgspec import inspect

from skillopt.app.config import Config, Model
from skillopt.cli.main import COMMANDS, main, program
from skillopt.domain.errors import UsageError
from skillopt.domain.skill import EditOp
from skillopt.domain.tasks import SplitName, Task
from skillopt.environments.answers import MODES
from skillopt.environments.checks import OPERATORS
from skillopt.environments.graders import GRADERS
from skillopt.testing.brains import BRAINS
from skillopt.testing.faults import FaultKind
from skillopt.testing.scenario import KEYS
from tests.unit.app.projects import as_dict, settings, write_project

Path_ = tuple[str, ...]
EMPTY: Mapping[str, object] = MappingProxyType({})


class Section(NamedTuple):
    """A section of the config: where it stands, its fields, and what a file must have there to mean this one."""

    path: Path_
    info: inspect.StructType
    tag: dict[str, str]
    around: dict[str, object]

    @property
    def keys(self) -> tuple[str, ...]:
        own = tuple(field.encode_name for field in self.info.fields)
        return (*own, *self.tag, *(("extends",) if not self.path else ()))


class Choice(NamedTuple):
    """A value with only some names: where it stands, what stands around it, and the names."""

    path: Path_
    around: dict[str, object]
    names: tuple[str, ...]
    listed: bool = False


def bare(info: inspect.Type) -> inspect.Type:
    return bare(info.type) if isinstance(info, inspect.Metadata) else info


def kinds(info: inspect.Type) -> tuple[inspect.Type, ...]:
    info = bare(info)
    return tuple(map(bare, info.types)) if isinstance(info, inspect.UnionType) else (info,)


def sections(info: inspect.Type, path: Path_ = (), around: Mapping[str, object] = EMPTY) -> Iterator[Section]:
    for kind in kinds(info):
        if isinstance(kind, inspect.StructType):
            tag = {} if kind.tag_field is None else {kind.tag_field: str(kind.tag)}
            here = merged(around, nested(path, tag))
            yield Section(path, kind, tag, here)
            for field in kind.fields:
                yield from sections(field.type, (*path, field.encode_name), here)


def choices(every: Sequence[Section]) -> Iterator[Choice]:
    tags: dict[Path_, list[str]] = {}
    for section in every:
        for tag_field, tag in section.tag.items():
            tags.setdefault((*section.path, tag_field), []).append(tag)
        for field in section.info.fields:
            for kind in kinds(field.type):
                listed = isinstance(kind, inspect.VarTupleType)
                one = bare(kind.item_type) if isinstance(kind, inspect.VarTupleType) else kind
                if isinstance(one, inspect.LiteralType):
                    names = tuple(str(value) for value in one.values)
                    yield Choice((*section.path, field.encode_name), section.around, names, listed)
    for path, valid in tags.items():
        yield Choice(path, {}, tuple(valid))


def nested(path: Path_, value: object) -> dict[str, object]:
    for key in reversed(path):
        value = {key: value}
    return as_dict(value)


def merged(under: Mapping[str, object], over: Mapping[str, object]) -> dict[str, object]:
    both = dict(under)
    for key, value in over.items():
        mine = both.get(key)
        both[key] = merged(mine, value) if isinstance(mine, dict) and isinstance(value, dict) else value
    return both


SECTIONS = tuple(sections(inspect.type_info(Config)))
CHOICES = tuple(choices(SECTIONS))
# names that are looked up, and have no type of their own
SCRIPTED = {"backend": "scripted"}
LOOKED_UP = (
    Choice(("environment", "grader"), {}, tuple(GRADERS)),
    Choice(("environment", "answer"), {}, tuple(MODES)),
    *(
        Choice(("models", role, "scenario"), {"models": {role: SCRIPTED}}, tuple(BRAINS))
        for role in ("target", "optimizer", "judge")
    ),
)


def typos(name: str, valid: Sequence[str]) -> list[str]:
    """Return some misspellings of a name that are no names themselves: two letters turned, one left out, one twice."""
    middle = max(1, len(name) // 2)
    found = [
        name[: middle - 1] + name[middle] + name[middle - 1] + name[middle + 1 :] if len(name) > 1 else name * 3,
        name[:middle] + name[middle + 1 :] if len(name) > 3 else f"{name}e",
        name[:middle] + name[middle - 1] + name[middle:],
    ]
    return [typo for typo in dict.fromkeys(found) if typo and typo not in valid]


class Heard(NamedTuple):
    """What a command line said."""

    code: int
    out: str
    err: str


def run(*arguments: str) -> Heard:
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main(arguments)
    return Heard(code, out.getvalue(), err.getvalue())


def check(heard: Heard, typo: str, meant: str, valid: Sequence[str]) -> None:
    """Look at one refusal."""
    where = f"{typo!r} for {meant!r}: {heard}"
    assert heard.code == 2, where
    assert heard.out == "", where
    assert "Traceback" not in heard.err, where
    said = [line for line in heard.err.replace("next: ", "").split("\n") if f"{typo}'" in line or "Valid: " in line]
    text = "\n".join(said)
    assert f"'{typo}'" in text, where
    near = re.search("Did you mean '([^']+)'", text)
    assert near is not None, where
    assert near[1] in valid, where
    assert likeness(near[1], typo) >= likeness(meant, typo), where
    listed = [set(line.split("Valid: ")[1].rstrip(".").split(", ")) for line in said if "Valid: " in line]
    assert any(set(valid) <= names for names in listed), where


def likeness(one: str, other: str) -> float:
    return difflib.SequenceMatcher(None, other, one).ratio()


def told(number: int, of: str) -> None:
    sys.stdout.write(f"{number} misspelt {of}\n")


@pytest.fixture
def base(tmp_path: Path) -> Path:
    return write_project(tmp_path)


def written(base: Path, config: Mapping[str, object]) -> str:
    base.write_text(json.dumps(config), encoding="utf-8")
    return str(base)


def usual_but(path: Path_, around: Mapping[str, object]) -> dict[str, object]:
    """Return the usual settings, but for the model at the path, which may be to be another kind of model."""
    usual = settings()
    if path[:1] == ("models",):
        as_dict(usual["models"]).pop(path[1] if len(path) > 1 else "", None)
    return merged(usual, around)


def test_there_is_something_to_misspell() -> None:
    paths = {section.path for section in SECTIONS}
    assert {(), ("models", "target"), ("environment", "split"), ("models", "target", "price"), ("retry",)} <= paths
    backends = sum(section.path == ("models", "target") for section in SECTIONS)
    assert backends == len(get_args(Model)) > 2, "one for each backend"
    assert {("gate", "rule"), ("test",), ("models", "target", "backend")} <= {choice.path for choice in CHOICES}


def test_keys_in_a_file(base: Path) -> None:
    tried = 0
    for section in SECTIONS:
        for key in section.keys:
            for typo in typos(key, section.keys):
                config = merged(usual_but(section.path, section.around), nested(section.path, {typo: None}))
                check(run("config", "check", written(base, config)), typo, key, section.keys)
                tried += 1
    told(tried, "keys in a file")
    assert tried > 250


@pytest.mark.parametrize("layer", ["flag", "environment"])
def test_keys_in_flags_and_in_the_environment(base: Path, layer: str, monkeypatch: pytest.MonkeyPatch) -> None:
    tried = 0
    for section in SECTIONS:
        config = written(base, usual_but(section.path, section.around))
        for key in section.keys:
            for typo in typos(key, section.keys)[:1]:
                if layer == "flag":
                    heard = run("config", "check", config, "--set", f"{'.'.join((*section.path, typo))}=1")
                else:
                    variable = f"SKILLOPT_{'__'.join((*section.path, typo)).upper()}"
                    monkeypatch.setenv(variable, "1")
                    heard = run("config", "check", config)
                    monkeypatch.delenv(variable)
                check(heard, typo, key, section.keys)
                tried += 1
    told(tried, f"keys in the {layer}")
    assert tried > 80


def test_values_that_have_names(base: Path) -> None:
    tried = 0
    for choice in (*CHOICES, *LOOKED_UP):
        for name in choice.names:
            for typo in typos(name, choice.names):
                given = nested(choice.path, [typo] if choice.listed else typo)
                config = merged(usual_but(choice.path, choice.around), given)
                check(run("config", "check", written(base, config)), typo, name, choice.names)
                tried += 1
    told(tried, "values")
    assert tried > 100


def test_scenarios(base: Path) -> None:
    tried = 0
    places = {"rules,{}=1": tuple(KEYS), "rules,kinds={}": tuple(FaultKind), "rules,at=3:{}": tuple(FaultKind)}
    for pattern, names in places.items():
        for name in map(str, names):
            for typo in typos(name, names):
                models = {"models": {"target": {"backend": "scripted", "scenario": pattern.format(typo)}}}
                check(run("config", "check", written(base, merged(settings(), models))), typo, name, names)
                tried += 1
    told(tried, "parts of scenarios")


def test_placeholders_of_prompts(base: Path) -> None:
    names = ("skill", "context", "input")
    for name in names:
        for typo in typos(name, names):
            prompt = {"environment": {"prompt": {"system": f"{{skill}} {{{typo}}}"}}}
            check(run("config", "check", written(base, merged(settings(), prompt))), typo, name, names)


def task(**more: object) -> dict[str, object]:
    return {"id": "odd", "input": "1 + 1?", "reference": "2", **more}


def trained_on(base: Path, row: str, file: str = "train.jsonl") -> Heard:
    (base.parent / "tasks" / "train.jsonl").unlink(missing_ok=True)
    (base.parent / "tasks" / file).write_text(row)
    return run("train", str(base))


def test_task_files(base: Path) -> None:
    tried = 0
    fields, turns = Task.__struct_fields__, ("role", "content")
    for key in fields:
        for typo in typos(key, fields):
            check(trained_on(base, json.dumps(task(**{typo: "x"})) + "\n"), typo, key, fields)
            tried += 1
    for op in OPERATORS:
        for typo in typos(op, tuple(OPERATORS)):
            row = json.dumps(task(checks=[{"op": typo, "arg": "x"}])) + "\n"
            check(trained_on(base, row), typo, op, tuple(OPERATORS))
            tried += 1
    for key in turns:
        for typo in typos(key, turns):
            turn = {"role": "user", "content": "1 + 1?", typo: "x"}
            check(trained_on(base, json.dumps(task(input=[turn])) + "\n"), typo, key, turns)
            tried += 1
    told(tried, "names in tasks")
    assert not (base.parent / ".skillopt").exists()


def test_columns_of_a_table(base: Path) -> None:
    fields = Task.__struct_fields__
    (base.parent / "tasks" / "train.jsonl").unlink()
    for key in fields:
        for typo in typos(key, fields):
            check(trained_on(base, f"id,input,reference,{typo}\n1,a,b,c\n", "train.csv"), typo, key, fields)


def test_splits(base: Path) -> None:
    names = tuple(name for split in SplitName for name in split.spellings)
    for name in names:
        for typo in typos(name, names):
            check(run("eval", str(base), "--split", typo), typo, name, names)
    assert not (base.parent / ".skillopt").exists()


def test_edit_operations() -> None:
    names = [op.value for op in EditOp]
    for name in names:
        for typo in typos(name, names):
            with pytest.raises(UsageError) as refused:
                EditOp.parse(typo)
            check(Heard(2, "", str(refused.value)), typo, name, names)


def every_command(group: click.Group, path: Path_ = ()) -> Iterator[tuple[Path_, click.Command]]:
    context = click.Context(group)
    yield path, group
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        if isinstance(command, click.Group):
            yield from every_command(command, (*path, name))
        else:
            yield (*path, name), command


def test_commands_and_options() -> None:
    tried = 0
    for path, command in every_command(program):
        context = click.Context(command)
        spellings = [spelling for one in command.get_params(context) for spelling in one.opts if spelling[:2] == "--"]
        for spelling in spellings:
            for typo in typos(spelling[2:], [other[2:] for other in spellings]):
                check(run(*path, f"--{typo}"), f"--{typo}", spelling, spellings)
                tried += 1
        names = command.list_commands(context) if isinstance(command, click.Group) else []
        for name in names:
            for typo in typos(name, names):
                check(run(*path, typo), typo, name, names)
                tried += 1
    told(tried, "commands and options")
    assert set(COMMANDS) == {path[0] for path, _ in every_command(program) if path}


def test_kinds_of_files(tmp_path: Path) -> None:
    suffixes = (".yaml", ".yml", ".toml", ".json")
    for suffix in suffixes:
        for typo in typos(suffix[1:], [one[1:] for one in suffixes]):
            path = tmp_path / f"skillopt.{typo}"
            path.write_text("{}")
            check(run("config", "check", str(path)), f".{typo}", suffix, suffixes)


def test_names_of_runs(base: Path) -> None:
    assert run("train", str(base), "--run", "spring").code == 0
    workspace = str(base.parent / ".skillopt")
    for verb in ("show", "export", "rm"):
        for typo in typos("spring", ()):
            check(run("runs", verb, typo, "--workspace", workspace), typo, "spring", ["spring"])
