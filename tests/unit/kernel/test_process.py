"""The process door: what a program sees, what is kept of its output, and that nothing of it is left."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from skillopt.domain.errors import CrashedError, NotInstalledError
from skillopt.kernel.process import Finished, run_process

PATIENT = 30.0
PYTHON = sys.executable
ENV = {"PATH": "/usr/bin:/bin"}


async def run(
    *argv: str,
    cwd: Path,
    env: Mapping[str, str] = ENV,
    stdin: bytes | None = None,
    deadline: float = PATIENT,
    output_limit: int = 10_000,
) -> Finished:
    return await run_process(argv, cwd=cwd, env=env, stdin=stdin, deadline=deadline, output_limit=output_limit)


def group_is_gone(group: int) -> bool:
    """Whether no process of this group is left soon, other than dead ones that nobody has asked about yet.

    A killed process dies when the system next runs it, so this looks more than once.
    """
    for _ in range(2000):
        if all(state == "Z" for state in states_in(group)):
            return True
        os.sched_yield()
    return False


def states_in(group: int) -> list[str]:
    states = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except (FileNotFoundError, ProcessLookupError):
            continue
        if int(fields[2]) == group:
            states.append(fields[0])
    return states


def test_output_streams_and_exit_code_come_back_apart(tmp_path: Path) -> None:
    finished = asyncio.run(run("sh", "-c", "echo out; echo err >&2; exit 3", cwd=tmp_path))
    assert (finished.exit_code, finished.stdout, finished.stderr) == (3, b"out\n", b"err\n")
    assert not finished.timed_out
    assert not finished.stdout_truncated
    assert not finished.stderr_truncated


def test_a_program_that_a_signal_ended_has_its_negative_number(tmp_path: Path) -> None:
    assert asyncio.run(run("sh", "-c", "kill -KILL $$", cwd=tmp_path)).exit_code == -9


def test_arguments_are_not_read_by_a_shell(tmp_path: Path) -> None:
    finished = asyncio.run(run("printf", "%s|", "$HOME", "; echo no", "a b", cwd=tmp_path))
    assert finished.stdout == b"$HOME|; echo no|a b|"


@pytest.mark.parametrize("size", [0, 5, 1_000_000])
def test_stdin_arrives_whole_and_ends(tmp_path: Path, size: int) -> None:
    finished = asyncio.run(run("wc", "-c", cwd=tmp_path, stdin=b"x" * size))
    assert int(finished.stdout) == size


def test_without_stdin_a_reader_sees_the_end_at_once(tmp_path: Path) -> None:
    assert asyncio.run(run("cat", cwd=tmp_path)).stdout == b""


def test_a_program_that_does_not_read_its_stdin_is_no_error(tmp_path: Path) -> None:
    assert asyncio.run(run("true", cwd=tmp_path, stdin=b"x" * 1_000_000)).exit_code == 0


def test_the_program_sees_its_own_environment_and_folder_only(tmp_path: Path) -> None:
    code = "import os, json; print(sorted(os.environ)); print(os.getcwd())"
    finished = asyncio.run(run(PYTHON, "-I", "-c", code, cwd=tmp_path, env={"ONLY": "this", "LC_ALL": "C"}))
    names, folder = finished.stdout.decode().splitlines()
    assert set(names.strip("[]").replace("'", "").split(", ")) == {"LC_ALL", "ONLY"}
    assert folder == str(tmp_path)


def test_an_output_bomb_is_cut_in_its_middle(tmp_path: Path) -> None:
    code = "import sys; w = sys.stdout.write; w('HEAD' + 'x' * 5_000_000 + 'TAIL'); sys.stderr.write('e' * 3_000_000)"
    finished = asyncio.run(run(PYTHON, "-c", code, cwd=tmp_path, output_limit=1000))
    assert finished.exit_code == 0
    assert finished.stdout_truncated
    assert finished.stderr_truncated
    assert finished.stdout.startswith(b"HEADxxx")
    assert finished.stdout.endswith(b"xxxTAIL")
    assert b"[... 4999008 bytes left out ...]" in finished.stdout
    assert len(finished.stdout) < 1100


@pytest.mark.parametrize(
    ("limit", "kept", "truncated"),
    [
        (10, b"0123456789", False),
        (9, b"0123\n[... 1 bytes left out ...]\n56789", True),
        (1, b"\n[... 9 bytes left out ...]\n9", True),
        (0, b"\n[... 10 bytes left out ...]\n", True),
    ],
)
def test_output_is_kept_to_the_last_byte_of_its_limit(tmp_path: Path, limit: int, kept: bytes, truncated: bool) -> None:
    finished = asyncio.run(run("printf", "0123456789", cwd=tmp_path, output_limit=limit))
    assert (finished.stdout, finished.stdout_truncated) == (kept, truncated)


def test_at_the_deadline_the_whole_group_dies(tmp_path: Path) -> None:
    script = "echo $$; sleep 1000 & sleep 1000 & wait"
    finished = asyncio.run(run("sh", "-c", script, cwd=tmp_path, deadline=0.2))
    assert finished.timed_out
    assert finished.exit_code == -15
    assert finished.seconds < 10
    assert group_is_gone(int(finished.stdout))


def test_children_that_outlive_their_parent_die_with_it(tmp_path: Path) -> None:
    finished = asyncio.run(run("sh", "-c", "sleep 1000 & echo $$", cwd=tmp_path))
    assert not finished.timed_out
    assert finished.exit_code == 0
    assert group_is_gone(int(finished.stdout))


def test_one_that_ignores_the_request_to_end_is_killed(tmp_path: Path) -> None:
    finished = asyncio.run(
        run("sh", "-c", "trap '' TERM; echo $$; sleep 1000 & wait; wait", cwd=tmp_path, deadline=0.2)
    )
    assert finished.timed_out
    assert finished.exit_code == -9
    assert group_is_gone(int(finished.stdout))


def test_one_that_ends_in_order_at_the_deadline_still_timed_out(tmp_path: Path) -> None:
    script = "trap 'echo bye; exit 0' TERM; sleep 1000 & wait"
    finished = asyncio.run(run("sh", "-c", script, cwd=tmp_path, deadline=0.2))
    assert finished.timed_out
    assert (finished.exit_code, finished.stdout) == (0, b"bye\n")


@pytest.mark.parametrize("times", [1, 2])
def test_cancelling_kills_the_group_before_it_goes_on(tmp_path: Path, times: int) -> None:
    async def scenario() -> int:
        told = tmp_path / "told"
        os.mkfifo(told)
        task = asyncio.create_task(run("sh", "-c", f"sleep 1000 & echo $$ > {told}; wait", cwd=tmp_path))
        group = int(await asyncio.to_thread(told.read_text))
        for _ in range(times):
            task.cancel()
            await asyncio.sleep(0)
        with pytest.raises(asyncio.CancelledError):
            await task
        return group

    assert group_is_gone(asyncio.run(scenario()))


def test_cancelling_while_it_starts_leaves_nothing(tmp_path: Path) -> None:
    async def scenario() -> None:
        for turns in range(6):
            task = asyncio.create_task(run("sleep", "1000", cwd=tmp_path))
            for _ in range(turns):
                await asyncio.sleep(0)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task

    asyncio.run(scenario())
    mine = [path.read_text().split() for path in Path("/proc/self/task").glob("*/children")]
    assert not [child for children in mine for child in children]


def test_a_missing_program_is_an_error_that_names_it(tmp_path: Path) -> None:
    with pytest.raises(NotInstalledError, match="no-such-program"):
        asyncio.run(run("no-such-program", cwd=tmp_path))


def test_a_program_is_looked_up_on_the_path_it_is_given(tmp_path: Path) -> None:
    with pytest.raises(NotInstalledError):
        asyncio.run(run("sh", "-c", "true", cwd=tmp_path, env={"PATH": str(tmp_path)}))


@pytest.mark.parametrize(
    ("argv", "folder", "says"),
    [
        (("true",), "missing", "does not exist"),
        (("./plain",), ".", "Permission denied"),
        (("true", "a\0b"), ".", "null byte"),
    ],
)
def test_what_cannot_start_says_why(tmp_path: Path, argv: tuple[str, ...], folder: str, says: str) -> None:
    (tmp_path / "plain").write_text("not a program")
    with pytest.raises(CrashedError, match=says):
        asyncio.run(run(*argv, cwd=tmp_path / folder))


def test_many_run_at_once(tmp_path: Path) -> None:
    async def scenario() -> list[bytes]:
        done = await asyncio.gather(*(run("printf", str(number), cwd=tmp_path) for number in range(8)))
        return [finished.stdout for finished in done]

    assert asyncio.run(scenario()) == [str(number).encode() for number in range(8)]
