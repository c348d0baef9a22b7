"""The tools themselves, run by this machine's shell; before real agents they are in tests/agents_real."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillopt.agents.finding import Program
from skillopt.agents.grounds import Unconfined
from skillopt.agents.program import Command, Ended, Heard, Job, Sdk
from skillopt.agents.runner import CliAgent
from skillopt.agents.settings import AgentSettings, CliSettings
from skillopt.agents.shims import BIN, MOST_CALLS, POSIX, WINDOWS, CallLog, Shims, check_absent, provided
from skillopt.agents.team import Team
from skillopt.domain.agency.errands import Errand
from skillopt.domain.chat import Reply
from skillopt.domain.errors import UsageError
from skillopt.domain.skill import Skill
from skillopt.kernel.process import Finished, run_process

NAMES = ("lookup", "find-berth")
LINES = st.lists(st.sampled_from([b"lookup", b"find-berth", b"lookup\r", b"look", b"", b"x" * 99]) | st.binary())
NEEDS_PIPES = pytest.mark.skipif(os.name == "nt", reason="Windows has no named pipes of this kind")


def called(*said: bytes) -> tuple[str, ...]:
    log = CallLog(NAMES)
    for data in said:
        log.take(data)
    return log.calls


def played(code: str, names: tuple[str, ...] = NAMES) -> tuple[Finished, Shims]:
    """Run a piece of shell that has these tools."""

    async def run() -> tuple[Finished, Shims]:
        with provided(names) as shims:
            finished = await run_process(
                ("/bin/sh", "-c", code),
                cwd=Path("/"),
                env={"PATH": f"/usr/bin:/bin:{shims.folder}/{BIN}", "TOOLS": str(shims.folder)},
                stdin=None,
                deadline=60.0,
                output_limit=1 << 16,
            )
        return finished, shims

    return asyncio.run(run())


@given(LINES, st.integers(1, 40))
def test_the_log_reads_the_same_wherever_it_is_cut_and_counts_whole_known_lines_only(
    lines: list[bytes], step: int
) -> None:
    said = b"".join(line + b"\n" for line in lines) + b"lookup"
    whole = [line.removesuffix(b"\r").decode("latin-1") for line in said.split(b"\n")[:-1]]
    expected = tuple(line for line in whole if line in NAMES)
    assert called(said) == expected
    assert called(*(said[at : at + step] for at in range(0, len(said), step))) == expected


def test_very_many_calls_do_not_hide_the_first_of_another_tool() -> None:
    calls = called(b"lookup\n" * (MOST_CALLS + 5), b"find-berth\n" * 2, b"lookup\n")
    assert len(calls) == MOST_CALLS + 1
    assert calls[-1] == "find-berth"


def test_a_line_without_an_end_is_not_kept_in_memory_and_is_no_call() -> None:
    assert called(*[b"lookup" * 10_000] * 3, b"\nlookup\n") == ("lookup",)


@NEEDS_PIPES
def test_calls_are_counted_in_order_however_they_are_made() -> None:
    finished, shims = played(
        "lookup harbour; find-berth 'a; b' $(id -u); (lookup); cd $TOOLS/bin; ./find-berth; sh lookup"
    )
    assert (finished.exit_code, finished.stderr) == (0, b"")
    assert finished.stdout == b"OK. This command has been carried out and has nothing more to say.\n" * 5
    assert shims.log.calls == ("lookup", "find-berth", "lookup", "find-berth", "lookup")


@NEEDS_PIPES
def test_a_tool_does_not_hang_behind_a_flood_and_is_still_counted() -> None:
    finished, shims = played("head -c 3000000 /dev/zero >> $TOOLS/calls; lookup; yes lookup | head -n 9 > $TOOLS/calls")
    assert (finished.exit_code, finished.timed_out) == (0, False)
    assert shims.log.calls == ("lookup",) * 10


@NEEDS_PIPES
def test_without_its_log_a_tool_still_ends_well() -> None:
    finished, shims = played("rm $TOOLS/calls; lookup; ls $TOOLS")
    assert finished.exit_code == 0
    assert finished.stdout.endswith(b"say.\nbin\n")
    assert shims.log.calls == ()


@NEEDS_PIPES
def test_the_tools_come_last_and_are_gone_with_the_run() -> None:
    finished, shims = played("command -v lookup; command -v find-berth; ls -l $TOOLS")
    assert finished.stdout.decode().splitlines()[:2] == [f"{shims.folder}/{BIN}/{name}" for name in NAMES]
    assert b"p-w-------" in finished.stdout
    assert shims.folder is not None
    assert not shims.folder.exists()


@NEEDS_PIPES
def test_every_tool_is_the_same_bytes_and_none_can_be_written() -> None:
    async def look() -> None:
        with provided(NAMES) as shims:
            assert shims.folder is not None
            tools = sorted((shims.folder / BIN).iterdir())
            assert [tool.name for tool in tools] == sorted(NAMES)
            assert {tool.read_bytes() for tool in tools} == {POSIX.script}
            assert {tool.stat().st_mode & 0o777 for tool in tools} == {0o555}

    asyncio.run(look())


def test_a_task_without_tools_has_no_folder() -> None:
    with provided(()) as shims:
        assert shims == Shims(folder=None, log=shims.log)
    assert shims.log.calls == ()


@pytest.mark.parametrize("name", ["{victim}", "../../{victim}", "x$(touch {victim})", "sh", "a\nb"])
def test_a_hostile_name_makes_no_file_even_when_nobody_checked_it_before(tmp_path: Path, name: str) -> None:
    victim = tmp_path / "victim"
    victim.write_text("precious")
    with pytest.raises(UsageError, match="A task wants"), provided(("lookup", name.format(victim=victim))):
        pytest.fail("it was provided")
    assert (victim.read_text(), victim.stat().st_mode & 0o111) == ("precious", 0)
    assert list(tmp_path.iterdir()) == [victim]


def test_on_windows_a_tool_is_one_fixed_script_beside_a_log_file() -> None:
    assert WINDOWS.script.decode().split("\r\n") == [
        "@echo off",
        "rem A tool of this task. It says that it was called, and does nothing else.",
        '>>"%~dp0..\\calls" echo(%~n0',
        "echo OK. This command has been carried out and has nothing more to say.",
        "",
    ]
    with provided(NAMES, WINDOWS) as shims:
        assert shims.folder is not None
        tools = sorted((shims.folder / BIN).iterdir())
        assert [tool.name for tool in tools] == ["find-berth.cmd", "lookup.cmd"]
        assert {tool.read_bytes() for tool in tools} == {WINDOWS.script}
        (shims.folder / "calls").write_bytes(b"lookup\r\nformat\r\nfind-berth\r\n")  # what two calls would add
    assert shims.log.calls == NAMES


def test_a_program_of_this_machine_is_not_hidden_and_does_not_hide_a_tool(tmp_path: Path) -> None:
    own = tmp_path / "lookup"
    own.write_text("#!/bin/sh\n")
    own.chmod(0o755)
    check_absent({"find-berth": "a", "lookup": "b"}, "/nowhere")
    with pytest.raises(UsageError) as refused:
        check_absent({"find-berth": "a", "lookup": "b"}, str(tmp_path))
    assert f"Task 'b' wants a tool named 'lookup' to be called, and this machine has a program {own}." in str(
        refused.value
    )


class Shell:
    """An agent's program that is a piece of shell; its output is its answer."""

    name = "shell"
    programs = ("sh",)
    install = "nothing to install"
    schemas = False
    hosts = ()
    lasting = ()
    sdk: Sdk | None = None

    def login(self, home: Path) -> bool:
        """Nobody is logged in."""
        return not home.exists()

    def command(self, job: Job) -> Command:
        """Call the tools that the prompt names, and one that it does not."""
        code = "lookup harbour >&2; find-berth >&2; lookup >&2; tides; echo $PATH"
        return Command(args=("-c", code)) if "`lookup`, `find-berth`" in job.prompt else Command(args=("-c", "exit 9"))

    def heard(self, ended: Ended) -> Heard:
        """Take its output for its answer."""
        return Heard(text=ended.finished.stdout.decode())


@NEEDS_PIPES
def test_an_agent_finds_its_tools_last_on_path_and_its_transcript_has_the_calls() -> None:
    program = Program(path=Path("/bin/sh"), version="1", readable=(), search="/usr/bin:/bin")
    team = Team(adapter=Shell(), program=program, grounds=Unconfined(), settings=CliSettings(), key=None)

    async def sent() -> Reply:
        agent = CliAgent(team, AgentSettings(sandbox="none", timeout=30.0), Path("/"))
        try:
            return await agent.run(Errand(instruction="Go.", skill=Skill.from_text("Look."), shims=NAMES))
        finally:
            await agent.close()

    reply = asyncio.run(sent())
    assert reply.transcript is not None
    assert reply.transcript.shims == ("lookup", "find-berth", "lookup")
    *system, last = reply.text.strip().split(":")
    assert system == ["/usr/bin", "/bin"]
    assert last.endswith(f"/{BIN}")
