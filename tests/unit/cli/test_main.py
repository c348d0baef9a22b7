"""The command line as a whole: help, names, exit codes."""

from __future__ import annotations

import sys

import click
import pytest

from skillopt import __version__
from skillopt.cli.main import COMMANDS, LazyGroup, main, program
from skillopt.domain.errors import (
    AdoptionRefusedError,
    BudgetReachedError,
    InternalError,
    InterruptedRunError,
    QuotaExhaustedError,
    StoreError,
    UnavailableError,
    UsageError,
)


@pytest.fixture
def acting(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> click.Group:
    """Return a program whose `train` does what the test says."""

    @click.command()
    @click.option("--count", type=int)
    def train(count: int | None) -> object:
        """Act."""
        what = request.param
        if isinstance(what, BaseException):
            raise what
        return what

    monkeypatch.delenv("SKILLOPT_DEBUG", raising=False)
    return click.Group("skillopt", {"train": train})


def test_help_lists_every_command_without_loading_one(capsys: pytest.CaptureFixture[str]) -> None:
    before = {entry.module for entry in COMMANDS.values()} & set(sys.modules)
    assert main(["--help"]) == 0
    out = capsys.readouterr().out
    assert all(f"  {name} " in out and entry.help[:40] in out for name, entry in COMMANDS.items())
    assert "Example: skillopt" in out
    assert {entry.module for entry in COMMANDS.values()} & set(sys.modules) == before


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"skillopt {__version__}\n"


@pytest.mark.parametrize(("typed", "meant"), [("trian", "train"), ("confg", "config"), ("docter", "doctor")])
def test_an_unknown_command_names_the_nearest(typed: str, meant: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([typed, "--help"]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert f"Did you mean '{meant}'?" in captured.err
    assert f"Valid: {', '.join(sorted(COMMANDS))}." in captured.err


@pytest.mark.parametrize(
    ("acting", "code", "said"),
    [
        (None, 0, ""),
        (10, 10, ""),
        ("text", 0, ""),
        (UsageError("Bad.", hint="Do."), 2, "error: Bad.\nnext:  Do.\n"),
        (UnavailableError("Down."), 3, "error: Down.\n"),
        (BudgetReachedError("Full.", cap="usd"), 4, "error: Full.\n"),
        (AdoptionRefusedError("No."), 5, "error: No.\n"),
        (StoreError("Torn."), 6, "error: Torn.\n"),
        (QuotaExhaustedError("Spent."), 7, "error: Spent.\n"),
        (InterruptedRunError("Stopped."), 130, "error: Stopped.\n"),
        (InternalError("Odd."), 70, "error: Odd.\n"),
        (click.ClickException("Odd."), 2, "error: Odd.\nnext:  `skillopt --help` shows how it is used.\n"),
    ],
    indirect=["acting"],
)
def test_exit_codes(acting: click.Group, code: int, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["train"], acting) == code
    assert capsys.readouterr().err == said


@pytest.mark.parametrize("acting", [KeyboardInterrupt()], indirect=True)
def test_control_c(acting: click.Group, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["train"], acting) == 130
    assert "error: Interrupted.\nnext:  Run the same command again" in capsys.readouterr().err


@pytest.mark.parametrize("acting", [KeyError("a\n" * 300)], indirect=True)
def test_a_bug_is_one_short_message(acting: click.Group, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["train"], acting) == 70
    err = capsys.readouterr().err
    assert "this is a bug in skillopt" in err
    assert "cause: KeyError: " in err
    assert "Traceback" not in err
    assert max(map(len, err.splitlines())) < 300


@pytest.mark.parametrize("acting", [KeyError("why"), UsageError("why")], indirect=True)
def test_the_traceback_is_shown_when_asked(
    acting: click.Group, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SKILLOPT_DEBUG", "1")
    main(["train"], acting)
    assert "Traceback" in capsys.readouterr().err


@pytest.mark.parametrize("acting", [None], indirect=True)
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["train", "--count", "many"], "not a valid integer"),
        (["train", "extra"], "unexpected extra argument"),
    ],
)
def test_wrong_usage_is_2_and_points_to_help(
    acting: click.Group, arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments, acting) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert said in captured.err
    assert "--help` shows how it is used" in captured.err


@pytest.mark.parametrize("acting", [None], indirect=True)
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            ["train", "--cuont", "3"],
            "error: Unknown option '--cuont'.\nnext:  Did you mean '--count'? Valid: --count, --help",
        ),
        (["--hlep"], "error: Unknown option '--hlep'.\nnext:  Did you mean '--help'? Valid: --help"),
        (["trian"], "error: Unknown command 'trian'.\nnext:  Did you mean 'train'? Valid: train."),
    ],
)
def test_an_unknown_name_is_2_and_names_the_valid_ones(
    acting: click.Group, arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments, acting) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith(said)


def test_what_is_said_on_stderr_holds_no_secret(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOME_PASSWORD", "correct-horse-7")
    assert main(["train", "correct-horse-7.yaml"]) == 2
    assert main(["train", "x.yaml", "--correct-horse-7"]) == 2
    captured = capsys.readouterr()
    assert "correct-horse-7" not in captured.err + captured.out
    assert captured.err.count("[SECRET:") == 2


@pytest.mark.parametrize("acting", [BrokenPipeError()], indirect=True)
def test_a_reader_that_left_is_no_error(acting: click.Group, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["train"], acting) == 1
    assert capsys.readouterr().err == ""


def test_the_group_is_lazy() -> None:
    assert isinstance(program, LazyGroup)
    assert program.commands == {}
