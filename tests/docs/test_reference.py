"""The reference pages are what the code says today, and leave nothing out."""

from __future__ import annotations

import re
import shlex
import typing
from collections.abc import Iterator
from pathlib import Path

import click
import msgspec
import pytest

from scripts.docs import FOLDER, PAGES, main, sentences, stale
from skillopt.app.config import Config
from skillopt.app.settings.schema import json_schema
from skillopt.cli.main import COMMANDS, program
from skillopt.domain.errors import SkilloptError
from skillopt.domain.tasks import Task
from skillopt.environments.answers import MODES
from skillopt.environments.checks import OPERATORS
from skillopt.environments.graders import GRADERS
from skillopt.kernel.events import Event, Signal
from skillopt.kernel.journal import Journal
from skillopt.kernel.ports import Chat, Clock, Environment, Observer
from tests.architecture.source_tree import ROOT

ROW = re.compile(r"^\| `([\w.]+)` \|(.*)\|$", re.MULTILINE)


def text(name: str) -> str:
    return (FOLDER / name).read_text(encoding="utf-8")


def rows(name: str) -> dict[str, list[str]]:
    """The table rows of a page by the name in their first cell; the other cells."""
    return {match[1]: [cell.strip() for cell in match[2].split(" | ")] for match in ROW.finditer(text(name))}


def commands(group: click.Group, path: str) -> Iterator[tuple[str, click.Command]]:
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        yield f"{path} {name}", command
        if isinstance(command, click.Group):
            yield from commands(command, f"{path} {name}")


def errors(kind: type[SkilloptError] = SkilloptError) -> Iterator[type[SkilloptError]]:
    if kind.__module__ == SkilloptError.__module__:
        yield kind
        for below in kind.__subclasses__():
            yield from errors(below)


def test_pages_are_what_the_code_says() -> None:
    assert stale() == (), "run python scripts/docs.py"
    assert {path.name for path in FOLDER.iterdir()} == set(PAGES)


def test_a_stale_page_is_noticed(tmp_path: Path) -> None:
    for name in PAGES:
        (tmp_path / name).write_text(text(name), encoding="utf-8")
    assert stale(tmp_path) == ()
    (tmp_path / "cli.md").write_text(text("cli.md") + "One more word.\n", encoding="utf-8")
    (tmp_path / "ports.md").unlink()
    assert stale(tmp_path) == ("cli.md", "ports.md")


def test_the_check_says_so_with_its_exit_code(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--check"]) == 0
    assert capsys.readouterr().err == ""


def test_every_key_has_its_row_and_its_sentence() -> None:
    sections = msgspec.json.decode(json_schema(Config))["$defs"].values()
    keys = {key for section in sections for key in section.get("properties", ())}
    assert len(keys) > 50
    found = rows("config.md")
    assert keys <= set(found)
    for key, (takes, default, sentence) in found.items():
        assert takes, key
        assert default, key
        assert sentence.endswith("."), key


def test_a_key_without_a_sentence_is_refused() -> None:
    class Section(msgspec.Struct):
        """A section.

        op: Its only sentence.
        """

        op: str
        arg: int = 0

    with pytest.raises(ValueError, match="arg"):
        sentences(Section)


def test_every_command_and_option_is_there() -> None:
    page = text("cli.md")
    parts = dict(re.findall(r"^## `(skillopt[^`]*)`\n(.*?)(?=^## |\Z)", page, re.MULTILINE | re.DOTALL))
    expected = dict(commands(program, "skillopt"))
    assert {f"skillopt {name}" for name in COMMANDS} <= set(expected)
    assert set(parts) == {*expected, "skillopt"}
    for path, command in expected.items():
        for parameter in command.params:
            shown = (
                parameter.opts[0]
                if isinstance(parameter, click.Option)
                else parameter.make_metavar(click.Context(command))
            )
            assert shown in parts[path], f"{path} {shown}"


def test_every_example_can_be_typed() -> None:
    for path, command in commands(program, "skillopt"):
        example = (command.epilog or "").removeprefix("Example: ")
        assert example.startswith("skillopt "), f"{path} has no example"
        if isinstance(command, click.Group):
            continue
        assert example.startswith(path), example
        typed = shlex.split(example.removeprefix(path).partition(" > ")[0].partition(" < ")[0])
        command.make_context(path, typed)


@pytest.mark.parametrize("fact", [*typing.get_args(Event), *typing.get_args(Signal)], ids=lambda fact: fact.__name__)
def test_every_event_is_there_with_its_fields(fact: type[msgspec.Struct]) -> None:
    name = fact.__struct_config__.tag or fact.__name__
    (part,) = re.findall(rf"^###? `{name}`\n(.*?)(?=^##|\Z)", text("events.md"), re.MULTILINE | re.DOTALL)
    assert [match[0] for match in ROW.findall(part)] == list(fact.__struct_fields__)


def test_every_error_is_there_with_who_must_act() -> None:
    found = rows("errors.md")
    assert {each.__name__ for each in errors()} <= set(found)
    for each in errors():
        assert found[each.__name__][:2] == [str(each.exit_code), each.who]


def test_every_port_is_there_with_its_members() -> None:
    for port in (Chat, Environment, Observer, Clock, Journal):
        (part,) = re.findall(rf"^## `{port.__name__}`\n(.*?)(?=^## |\Z)", text("ports.md"), re.MULTILINE | re.DOTALL)
        for name in vars(port):
            assert name.startswith("_") or re.search(rf"^- `(async )?{name}\b", part, re.MULTILINE), name


def test_every_grader_check_and_answer_mode_is_there() -> None:
    assert {*GRADERS, *OPERATORS, *MODES} <= set(rows("checks.md"))


def test_every_key_of_a_task_is_explained() -> None:
    page = (ROOT / "docs" / "how-to" / "own-tasks.md").read_text(encoding="utf-8")
    explained = {name for line in page.splitlines() if line.startswith("| `") for name in re.findall(r"`(\w+)`", line)}
    assert set(Task.__struct_fields__) <= explained
