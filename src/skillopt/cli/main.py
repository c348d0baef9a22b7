"""The command `skillopt`: finds the subcommand, runs it, and turns every error into a message and an exit code.
Owns the table of commands and the exit codes of the process; loads a command only when it is used."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

import click

from skillopt import __version__
from skillopt.cli.output import error_panel, show_error, show_panel
from skillopt.domain.errors import SkilloptError, unknown_name

INTERRUPTED = 130
BROKEN = 70
_LONGEST_LINE = 200


class Entry(NamedTuple):
    """Where a command lives, and its line in the help."""

    module: str
    help: str


COMMANDS: Mapping[str, Entry] = MappingProxyType(
    {
        "demo": Entry("skillopt.cli.demo", "Train a small skill on the scripted model: no key, no network."),
        "train": Entry("skillopt.cli.train", "Train a skill; the same command again goes on where it stopped."),
        "eval": Entry("skillopt.cli.eval", "Measure a skill on one split of the tasks."),
        "explain": Entry("skillopt.cli.attribution.explain", "Say where each line of a trained skill came from."),
        "prune": Entry("skillopt.cli.attribution.prune", "Take out of a skill what nothing on val depends on."),
        "aa": Entry("skillopt.cli.aa", "Try the gate on changes that change nothing."),
        "runs": Entry("skillopt.cli.runs", "List, show, compare and export the runs of a workspace."),
        "diff": Entry("skillopt.cli.diff", "Show what a run, or one step of it, made of the skill."),
        "config": Entry("skillopt.cli.config", "Show, check and describe configurations."),
        "doctor": Entry("skillopt.cli.doctor", "Check this machine, the models and the configuration."),
    }
)


class LazyGroup(click.Group):
    """A group that knows its commands by name only, so that help is quick."""

    def list_commands(self, _ctx: click.Context) -> list[str]:
        """Return the names, in the order in which a person meets them."""
        return list(COMMANDS)

    def get_command(self, _ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Load one command."""
        entry = COMMANDS.get(cmd_name)
        if entry is None:
            return None
        from skillopt.app.plugins import load_attribute

        command = load_attribute(entry.module, "command")
        if not isinstance(command, click.Command):
            raise TypeError(f"{entry.module}.command is no click.Command")
        return command

    def format_commands(self, _ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the table without loading a command."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, entry.help) for name, entry in COMMANDS.items()])


def _print_version(ctx: click.Context, _parameter: click.Parameter, asked: object) -> None:
    if not asked or ctx.resilient_parsing:
        return
    click.echo(f"skillopt {__version__}")
    ctx.exit()


@click.group(
    cls=LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Example: skillopt demo",
)
@click.option("--version", is_flag=True, is_eager=True, expose_value=False, callback=_print_version, help="Say which.")
def program() -> None:
    """Train the skill document of an agent; only changes that pass a held-out test are kept."""


def main(arguments: Sequence[str] | None = None, command: click.Command = program) -> int:
    """Run one command line and return the exit code of the process; `command` is the whole program unless given."""
    try:
        result = command.main(arguments, prog_name="skillopt", standalone_mode=False)
        sys.stdout.flush()
    except SkilloptError as error:
        show_error(error)
        _show_traceback()
        return error.exit_code
    except (click.NoSuchCommand, click.NoSuchOption) as error:
        show_error(_unknown(error))
        return 2
    except click.ClickException as error:
        show_panel(error_panel(error.format_message(), hint=_help_for(error)))
        return 2
    except (KeyboardInterrupt, click.Abort):
        show_panel(error_panel("Interrupted.", hint="Run the same command again to go on."))
        return INTERRUPTED
    except BrokenPipeError:
        return _reader_left()
    except Exception as error:  # noqa: BLE001 - the last boundary: whatever comes here is our bug
        _show_bug(error)
        return BROKEN
    return result if isinstance(result, int) else 0


def _unknown(error: click.NoSuchCommand | click.NoSuchOption) -> SkilloptError:
    """Refuse an unknown name as we refuse all: with the valid names and the nearest."""
    context = click.Context(program) if error.ctx is None else error.ctx
    if isinstance(error, click.NoSuchOption):
        spellings = [name for one in context.command.get_params(context) for name in one.opts if name.startswith("-")]
        return unknown_name("option", error.option_name, spellings)
    names = context.command.list_commands(context) if isinstance(context.command, click.Group) else []
    return unknown_name("command", error.command_name, names)


def _help_for(error: click.ClickException) -> str:
    context = error.ctx if isinstance(error, click.UsageError) else None
    return f"`{'skillopt' if context is None else context.command_path} --help` shows how it is used."


def _reader_left() -> int:
    """End quietly when nobody reads our output any more; what is still buffered has nowhere to go."""
    import os

    with contextlib.suppress(OSError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 1


def _show_bug(error: Exception) -> None:
    said = " ".join(str(error).split())[:_LONGEST_LINE]
    panel = error_panel(
        "skillopt broke; this is a bug in skillopt, not in your work.",
        cause=f"{type(error).__name__}: {said}" if said else type(error).__name__,
        hint="Please report it with what you ran. With SKILLOPT_DEBUG=1 set, the same command shows the traceback.",
    )
    show_panel(panel)
    _show_traceback()


def _show_traceback() -> None:
    from skillopt.app.environ import DEBUG, variables

    if variables().get(DEBUG):
        import traceback

        click.echo(traceback.format_exc(), err=True)


if __name__ == "__main__":
    sys.exit(main())
