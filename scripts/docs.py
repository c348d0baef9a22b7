"""Writes docs/reference/ from the code; with --check it only says which pages are stale, and exits 1.

Owns the layout of the pages; the words are docstrings and help texts, so that they stand beside what they describe.
"""

from __future__ import annotations

import argparse
import inspect
import re
import sys
import typing
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType, ModuleType

import click
import msgspec
from msgspec.inspect import Field, StructType, Type, type_info

from skillopt.app.config import Config
from skillopt.app.settings.schema import describe
from skillopt.cli.main import program
from skillopt.domain import errors
from skillopt.domain.judging import Agreement, Unassessed, Unjudged
from skillopt.domain.scores import Score
from skillopt.domain.tasks import Check
from skillopt.domain.usage import Usage
from skillopt.environments.answers import MODES
from skillopt.environments.checks import OPERATORS
from skillopt.environments.command.settings import CommandSettings
from skillopt.environments.graders import GRADERS
from skillopt.kernel import events, journal, ports
from skillopt.kernel.events import facts
from skillopt.kernel.plugins import members
from skillopt.phases.judging.settings import JudgeSettings

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "reference"
Shape = type[msgspec.Struct]
Row = Sequence[str]

_MADE = "<!-- Made from the code by scripts/docs.py. Change the words there, then run it again. -->"
_SENTENCE = re.compile(r"([a-z_]\w*): (\S.*)")
_CHOOSES = "Chooses this form."
_WANTS = {
    "text": "a text",
    "pattern": "a pattern in RE2 syntax",
    "path": "a path such as `orders[0].total`, and after `==` the JSON value expected there, if it matters",
    "bound": "a whole number",
    "nothing": "none",
}


def page(title: str, *parts: str) -> str:
    """Return a page of these parts."""
    return "\n\n".join((_MADE, f"# {title}", *(part.strip() for part in parts if part))) + "\n"


def table(head: Row, rows: Sequence[Row]) -> str:
    """Return a table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)


def words(thing: object) -> str:
    """Return a docstring; what has none is a mistake."""
    text = inspect.getdoc(thing)
    if not text:
        raise ValueError(f"{thing!r} has no docstring.")
    return text


def sentences(shape: Shape) -> Mapping[str, str]:
    """Return what the docstrings of a section say about each of its keys; a key without a sentence is a mistake."""
    owners = [owner for owner in reversed(shape.__mro__) if issubclass(owner, msgspec.Struct)][1:]
    lines = [line for owner in owners for line in inspect.cleandoc(owner.__doc__ or "").splitlines()]
    found = {match[1]: match[2] for match in map(_SENTENCE.fullmatch, lines) if match}
    differing = set(found) ^ set(shape.__struct_fields__)
    if differing:
        raise ValueError(f"The docstring of {shape.__name__} and its keys differ: {', '.join(sorted(differing))}.")
    return found


def sections(shape: Shape, path: str = "") -> Iterator[tuple[str, Shape]]:
    """Yield each section below a type of settings with the dotted path where it stands, the outer ones first."""
    yield path, shape
    for field in _fields(shape):
        for inner in _structs(field.type):
            yield from sections(inner, f"{path}.{field.encode_name}".lstrip("."))


def _fields(shape: Shape) -> tuple[Field, ...]:
    info = type_info(shape)
    assert isinstance(info, StructType)
    return info.fields


def _structs(info: Type) -> Iterator[Shape]:
    if isinstance(info, StructType):
        yield info.cls
    for inner in getattr(info, "types", ()):
        yield from _structs(inner)


def config_page() -> str:
    """Return the page of all settings."""
    places: dict[Shape, list[str]] = {}
    for path, shape in sections(Config):
        if path not in places.setdefault(shape, []):
            places[shape].append(path)
    parts = [
        "A configuration is a YAML or TOML file. Paths in it start from its folder. Values come, the later over the "
        "earlier, from the defaults below, the file named by `extends:`, the file itself, variables such as "
        "`SKILLOPT_TRAIN__EPOCHS=2`, and flags such as `--set train.epochs=2`. `skillopt config show FILE --origin` "
        "says where each value came from. An unknown key is an error. A secret is written as `${NAME}`, the name of "
        "an environment variable, and is read only when it is sent. The names of graders and answer modes are in "
        "[Graders and checks](checks.md).",
    ]
    for shape, paths in places.items():
        tag = shape.__struct_config__.tag
        form = f" with `{shape.__struct_config__.tag_field}: {tag}`" if tag else ""
        title = " and ".join(f"`{path}`" for path in paths if path) + form if any(paths) else "The file"
        parts += [f"## {title}", words(shape).partition("\n\n")[0], _settings(shape)]
    return page("Configuration", *parts)


def _settings(shape: Shape) -> str:
    said = sentences(shape)
    rows = [[f"`{field.encode_name}`", _takes(field), _default(field), said[field.name]] for field in _fields(shape)]
    config = shape.__struct_config__
    if config.tag:
        by_key = config.tag in shape.__struct_encode_fields__
        needed, says = ("left out", f"`{config.tag}` chooses this form.") if by_key else ("required", _CHOOSES)
        rows.insert(0, [f"`{config.tag_field}`", f"the word {config.tag}", needed, says])
    return table(["key", "takes", "default", "what it is"], rows)


def _takes(field: Field) -> str:
    return re.sub(r"one of (\w+)(?![\w,])", r"the word \1", describe(field.type))


def _default(field: Field) -> str:
    if field.required:
        return "required"
    value = field.default if field.default_factory is msgspec.NODEFAULT else field.default_factory()
    return "see below" if isinstance(value, msgspec.Struct) else f"`{msgspec.json.encode(value).decode()}`"


def commands(command: click.Command, path: str) -> Iterator[tuple[str, click.Command]]:
    """Yield a command and all below it, each with the words that call it."""
    yield path, command
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            inner = command.get_command(context, name)
            assert inner is not None
            yield from commands(inner, f"{path} {name}")


def cli_page() -> str:
    """Return the page of all commands."""
    parts = [
        "Every error is told in three lines: what happened, why, and what to do next. How a command ends is in "
        "[Errors and exit codes](errors.md). Every command knows `--help`, or `-h`. Output has no colours when it is "
        "not read by a terminal, or when `NO_COLOR` is set.",
    ]
    for path, command in commands(program, "skillopt"):
        context = click.Context(command, info_name=path)
        records = [each.get_help_record(context) for each in command.params if isinstance(each, click.Option)]
        rows = [[f"`{record[0]}`", record[1].replace("  ", " ")] for record in records if record]
        usage = command.get_usage(context).removeprefix("Usage: ")
        example = (command.epilog or "").removeprefix("Example: ")
        parts += [
            f"## `{path}`",
            f"{command.help}\n\n`{' '.join(usage.split())}`\n\nExample: `{example}`",
            table(["option", "what it does"], rows) if rows else "",
        ]
    return page("Command line", *parts)


def events_page() -> str:
    """Return the page of all events and signals."""
    told, live = typing.get_args(events.Event), typing.get_args(events.Signal)
    parts = [
        "A run is one stream of facts. Events are recorded in the journal in program order, and running again tells "
        "the same events. `skillopt runs export NAME` writes them, each under the kind that is its heading here. Times "
        "stand beside events, never in them. `skillopt.kernel.view` folds them into what reports and consoles show.",
        *(_fact(f"`{event.__struct_config__.tag}`", event) for event in told),
        "## Values in events",
        *(_fact(f"`{shape.__name__}`", shape, "###") for shape in _shapes(facts)),
        _fact("`Usage`", Usage, "###"),
        _fact("`Agreement`", Agreement, "###"),
        "## Live signals",
        "They matter only while something happens: observers see them, the journal does not hold them.",
        *(_fact(f"`{signal.__name__}`", signal, "###") for signal in live),
    ]
    return page("Events", *parts)


def _shapes(module: ModuleType) -> Iterator[Shape]:
    """Yield the values of a module, without what all events share."""
    for shape in _defined(module):
        if issubclass(shape, msgspec.Struct) and shape is not facts.Fact:
            yield shape


def _defined(*modules: ModuleType) -> Iterator[type]:
    """Yield the classes that modules define, in their order."""
    for module in modules:
        for value in vars(module).values():
            if isinstance(value, type) and value.__module__ == module.__name__:
                yield value


def _fact(title: str, shape: Shape, level: str = "##") -> str:
    rows = [[f"`{name}`", f"`{shape.__annotations__[name]}`"] for name in shape.__struct_fields__]
    return f"{level} {title}\n\n{words(shape)}\n\n{table(['field', 'type'], rows)}"


def error_classes() -> tuple[type[errors.SkilloptError], ...]:
    """Return every error a person can meet, as the code lists them."""
    return tuple(each for each in _defined(errors) if issubclass(each, errors.SkilloptError))


def errors_page() -> str:
    """Return the page of errors and exit codes."""
    classes = error_classes()
    codes = sorted({each.exit_code for each in classes})
    by_code = [
        [str(code), ", ".join(f"`{each.__name__}`" for each in classes if each.exit_code == code)] for code in codes
    ]
    rows = [[f"`{each.__name__}`", str(each.exit_code), each.who, words(each)] for each in classes]
    return page(
        "Errors and exit codes",
        "What ends a run or refuses a command is one of these errors. It says what happened, to what, and what to do "
        "next. Most failed requests end nothing: they are tried again, then recorded with their cause and counted. The "
        "agent errors and `AdoptionRefusedError` belong to parts that are not here yet: nothing raises them.",
        "## Exit codes",
        table(["code", "ends with"], [["0", "all is well; a run is finished"], *by_code]),
        "A command line that cannot be read ends with 2, a reader that closed the pipe with 1. After 4, 7 and 130 a "
        "run is *stopped*: its results are written, and the same command goes on, after 4 with a higher cap.",
        "## Errors",
        table(["error", "exit code", "who must act", "what it means"], rows),
    )


def ports_page() -> str:
    """Return the page of all ports."""
    parts = [
        "A port is what the loops ask of the world. Its contract is its docstring, and where there is a suite the "
        "promises are tests: `ChatContract` in `skillopt.testing.chat_contract`, `AgentContract` in "
        "`skillopt.testing.agents.contract`, `JournalContract` in `skillopt.testing.journal_contract`, "
        "`EnvironmentContract` in `skillopt.testing.environments.contract`. See "
        "[Test your backend](../how-to/test-your-backend.md).",
    ]
    for port in port_classes():
        parts += _port(port)
    parts += [
        "## What an environment may have besides",
        "Each is optional, and whoever has one has it whole. See [Bring your own environment]"
        "(../how-to/own-environment.md).",
    ]
    for port in _protocols(members):
        parts += _port(port)
    parts += [_fact(f"`{shape.__name__}`", shape, "###") for shape in (members.Group, members.Attempted)]
    parts += [
        "## Values of grading",
        *(_fact(f"`{shape.__name__}`", shape, "###") for shape in (Score, Unjudged, Unassessed)),
    ]
    parts += ["## Values of the journal", *(_fact(f"`{shape.__name__}`", shape, "###") for shape in _shapes(journal))]
    return page("Ports", *parts)


def port_classes() -> tuple[type, ...]:
    """Return the protocols that adapters fulfil."""
    return _protocols(ports, journal)


def _protocols(*modules: ModuleType) -> tuple[type, ...]:
    return tuple(each for each in _defined(*modules) if getattr(each, "_is_protocol", False))


def _port(port: type) -> tuple[str, ...]:
    lines = [_member(name, value) for name, value in vars(port).items() if not name.startswith("_")]
    return f"## `{port.__name__}`", words(port), "\n".join(lines)


def _member(name: str, value: object) -> str:
    if isinstance(value, property):
        shape = f"{name}: {inspect.signature(value.fget).return_annotation}" if value.fget else name
    else:
        assert callable(value)
        kind = "async " if inspect.iscoroutinefunction(value) else ""
        shape = re.sub(r"\(self(?:, )?", "(", f"{kind}{name}{inspect.signature(value)}".replace("'", ""))
    return f"- `{shape}`: " + words(value).replace("\n\n", "\n").replace("\n", "\n  ")


def checks_page() -> str:
    """Return the page of what answers are graded by."""
    answers = [[f"`{name}`", words(find)] for name, find in MODES.items()]
    graders = [[f"`{name}`", grader.wants, words(grader.grade)] for name, grader in GRADERS.items()]
    operators = [
        [f"`{name}`", _WANTS[op.wants], op.miss.format(arg="ARG", length="N")] for name, op in OPERATORS.items()
    ]
    return page(
        "Graders and checks",
        "A reply is graded in two moves: the answer is found in it, then measured. `hard` is right or wrong, `soft` "
        "gives part marks. What is said about a miss goes to the optimizer and never quotes a reference.",
        'In Python, `skillopt.grade(reply, task, grader="exact", answer="tag")` gives the score that a run would, '
        "for tasks without a rubric.",
        "## Where the answer stands: `environment.answer`",
        table(["mode", "what it returns"], [*answers, ["`regex: PATTERN`", "Return the last match of the pattern."]]),
        "## Against a reference: `environment.grader`",
        table(["grader", "a reference must be", "what it returns"], graders),
        "## By a program: `grader: command`",
        "A program of yours measures the answer; a task then needs no reference. For each answer it is started in a "
        "fresh folder with `answer.txt`, `task.json` (`input`, `context` and `reference`, a list) and the files of "
        "`environment.command.files`; nothing of any other task is there. It runs in the sandbox: no network, nothing "
        "else to read but the system, bounds on time, memory and processes. No more of them run at once than there "
        'are processors. As its last line it prints `{"score": 0.5}`, from 0 to 1; `hard` (true or false) and '
        "`feedback` may be added. Without `hard` only a score of 1 is right. A program that crashes, takes too long or "
        "prints something else leaves the answer without a score: that is a failure with its cause, never a 0. What "
        "was graded is not graded again until the program, the task or the answer changes. Where a task has checks "
        "or a rubric besides, the program counts as one more part, and an empty answer is wrong without being run.",
        "The first time, and after each change of the program, `--trust` or a yes at the terminal must allow it; that "
        "is kept with you, not in the project. Without a sandbox it does not run. If the program runs the answer as "
        "code, it must do so in a process of its own and catch its output: code in an answer can read what lies in "
        "the folder, and could otherwise print the verdict.",
        table(
            ["setting", "what it is"],
            [[f"`environment.command.{name}`", said] for name, said in sentences(CommandSettings).items()],
        ),
        "## By rules: `checks` of a task",
        f"{words(Check)} `hard` is 1 when all hold, `soft` is the share that does. Texts are compared without regard "
        "to case; patterns are not. Where a task has both, the reference counts as one more check.",
        table(["operator", "`arg`", "what is said when it is missed"], operators),
        "## By a judge: `rubric` of a task",
        "A model marks the answer by the task's `rubric`: `soft` is its mark, from 0 to 1, `hard` is 1 when the "
        "mark reaches `judge.threshold`, and its reason is the feedback. It is shown the task, the rubric, the "
        "references if there are any, and the answer as `environment.answer` finds it; never the skill, and nothing "
        "about who answered. What it is shown is framed so that an answer cannot speak to it. A judge that fails, "
        "or whose reply cannot be read even when it is asked once more, leaves the answer without a score: that is "
        "a failure with its cause, never a 0. With `judge.repeats` above 1 the mark is the median, and more than "
        "half of the readings must be there. An empty answer is wrong without anybody being asked. Equal answers to "
        "one task are marked once in a workspace, so chance in the judge favours no skill. A task may have a "
        "reference and checks besides: all must hold for `hard` to be 1, and `soft` is the mean of the parts: the "
        "reference, each check, and the rubric.",
        table(
            ["setting", "what it is"], [[f"`judge.{name}`", said] for name, said in sentences(JudgeSettings).items()]
        ),
    )


PAGES: Mapping[str, Callable[[], str]] = MappingProxyType(
    {
        "config.md": config_page,
        "cli.md": cli_page,
        "events.md": events_page,
        "errors.md": errors_page,
        "ports.md": ports_page,
        "checks.md": checks_page,
    }
)


def stale(folder: Path = FOLDER) -> tuple[str, ...]:
    """Return the pages that are missing or say something else than the code."""
    files = {name: folder / name for name in PAGES}
    return tuple(
        name for name, file in files.items() if not file.is_file() or file.read_text(encoding="utf-8") != PAGES[name]()
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the pages, or check them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 when a page is stale")
    if parser.parse_args(arguments).check:
        found = stale()
        if found:
            sys.stderr.write(f"stale: {', '.join(found)}; run python scripts/docs.py\n")
        return 1 if found else 0
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, make in PAGES.items():
        (FOLDER / name).write_text(make(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
