"""A task's own tools in the sandbox: they can be called, and nothing else can be done to them or to their log.

Each attack works where nothing confines it, and none does inside."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest

from skillopt.agents.finding import Program
from skillopt.agents.grounds import Confined, Grounds, Stay, Unconfined, way_to
from skillopt.agents.shims import BIN, provided
from skillopt.kernel.process import Finished
from skillopt.kernel.sandbox import Sandbox, Tier, probe

SHELL = Program(path=Path("/bin/sh"), version="1", readable=(), search="/usr/local/bin:/usr/bin:/bin")
ATTACKS = {
    "reading what was logged": "chmod 600 $T/calls; exec 3<$T/calls",
    "reading and writing the log": "chmod 600 $T/calls; exec 3<>$T/calls",
    "removing the log": "rm -f $T/calls",
    "moving the log": "mv $T/calls $T/elsewhere",
    "a log of its own": "rm -f $T/calls; mkfifo $T/calls",
    "opening the log to all": "chmod 666 $T/calls",
    "removing a tool": "rm -f $T/bin/lookup",
    "changing a tool": "chmod u+w $T/bin/lookup; echo exit 1 >> $T/bin/lookup",
    "another tool": "cp /bin/true $T/bin/tides",
    "a link in place of a tool": "ln -sf /bin/true $T/bin/lookup",
    "removing the folder": "rm -rf $T",
}


@pytest.fixture(scope="module")
def confined() -> Grounds:
    probed = asyncio.run(probe(Tier.BUBBLEWRAP))
    if not probed.holds:
        pytest.skip(f"NO BUBBLEWRAP HERE: {probed.says}")
    return Confined(Sandbox(Tier.BUBBLEWRAP), way_to("http://127.0.0.1:9/", ()))


def played(grounds: Grounds, folder: Path, code: str, *, writes: bool = True) -> tuple[Finished, tuple[str, ...]]:
    """Run a piece of shell where an agent would be, with two tools, and return which of them were called."""
    work, home = folder / "work", folder / "home"
    work.mkdir(exist_ok=True)
    home.mkdir(exist_ok=True)

    async def run() -> tuple[Finished, tuple[str, ...]]:
        with provided(("lookup", "find-berth")) as shims:
            assert shims.folder is not None
            stay = Stay(work=work, home=home, seconds=60.0, writes=writes, tools=shims.folder)
            tools = grounds.tools(shims.folder)
            env = {"PATH": f"{SHELL.search}:{tools}/{BIN}", "T": tools}
            finished = await grounds.run(SHELL, ("-c", code), env, b"", stay)
        return finished, shims.log.calls

    return asyncio.run(run())


@pytest.mark.parametrize("writes", [True, False])
def test_calls_are_counted_in_order(confined: Grounds, tmp_path: Path, *, writes: bool) -> None:
    finished, calls = played(confined, tmp_path, "lookup harbour; find-berth; sh -c lookup", writes=writes)
    assert (finished.exit_code, finished.stderr) == (0, b"")
    assert finished.stdout.count(b"has been carried out") == 3
    assert calls == ("lookup", "find-berth", "lookup")


def test_the_tools_show_nothing_of_this_machine(confined: Grounds, tmp_path: Path) -> None:
    finished, _ = played(confined, tmp_path, "command -v lookup; ls -A $T $T/bin; cat $T/bin/*; echo $PATH")
    assert finished.stdout.startswith(b"/run/tools/bin/lookup\n")
    assert b"skillopt" not in finished.stdout


@pytest.mark.parametrize("attack", ATTACKS)
def test_an_attack_works_when_nothing_confines_it(tmp_path: Path, attack: str) -> None:
    finished, _ = played(Unconfined(), tmp_path, ATTACKS[attack])
    assert finished.exit_code == 0, finished.stderr.decode()


@pytest.mark.parametrize("attack", ATTACKS)
def test_an_attack_is_stopped_and_calls_are_counted_as_before(confined: Grounds, tmp_path: Path, attack: str) -> None:
    finished, calls = played(confined, tmp_path, f"lookup; ({ATTACKS[attack]}) && echo GOT-OUT; find-berth; lookup")
    assert b"GOT-OUT" not in finished.stdout
    assert finished.stderr, "it was not even tried"
    assert calls == ("lookup", "find-berth", "lookup")


def test_a_flood_of_the_log_stops_nobody(confined: Grounds, tmp_path: Path) -> None:
    code = "head -c 3000000 /dev/zero >> $T/calls; lookup; yes tides | head -n 90000 >> $T/calls; find-berth"
    finished, calls = played(confined, tmp_path, code)
    assert (finished.exit_code, finished.timed_out) == (0, False)
    assert calls == ("lookup", "find-berth")


def test_what_still_runs_when_the_program_ends_is_not_waited_for(confined: Grounds, tmp_path: Path) -> None:
    finished, calls = played(confined, tmp_path, "exec 3>>$T/calls; (sleep 50; lookup) & lookup; exit 0")
    assert not finished.timed_out
    assert calls == ("lookup",)


def test_the_pipe_is_for_writing_only(confined: Grounds, tmp_path: Path) -> None:
    finished, _ = played(confined, tmp_path, "ls -l $T/calls; head -c 1 $T/calls; id -u")
    assert finished.stdout.startswith(b"p-w-------")
    assert finished.stdout.endswith(b"65534\n")
    assert os.strerror(13).encode() in finished.stderr
