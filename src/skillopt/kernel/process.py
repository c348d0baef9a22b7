"""The only door to processes: run one program to its end, or to its deadline, and leave nothing of it behind.
Owns the process group, bounded output and the kill; refuses shells, an inherited environment and sandboxing.
Out of reach: a descendant that moved to a session of its own, and what still runs when skillopt itself is killed
with SIGKILL (no parent-death signal: setting one needs code between fork and exec, unsafe beside threads)."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections.abc import Coroutine, Mapping, Sequence
from pathlib import Path
from typing import cast

import msgspec

from skillopt.domain.errors import AgentError, CrashedError, NotInstalledError

_TERM_GRACE = 1.0  # seconds between asking a group to end and killing it
_KILL_GRACE = 5.0  # seconds for the system to report the death of what was killed
_PIPE_GRACE = 0.5  # seconds for the last output, should an escaped descendant hold a pipe open


class Finished(msgspec.Struct, frozen=True, kw_only=True):
    """How a program ended. A negative `exit_code` is the signal that ended it; cut output says so in its middle."""

    exit_code: int
    stdout: bytes
    stderr: bytes
    stdout_truncated: bool
    stderr_truncated: bool
    timed_out: bool
    seconds: float


async def run_process(
    argv: Sequence[str],
    *,
    cwd: Path,
    env: Mapping[str, str],
    stdin: bytes | None,
    deadline: float,
    output_limit: int,
) -> Finished:
    """Run a program for at most `deadline` seconds in its own process group, which is dead when this returns.

    The program sees `env` and nothing else, and is looked up on its PATH. Of each output stream the first and last
    halves of `output_limit` bytes are kept. At the deadline, and when this call is cancelled, the group is asked to
    end and then killed. A program that is missing is a NotInstalledError; one that cannot start, a CrashedError.
    """
    loop = asyncio.get_running_loop()
    child = _Child(loop, output_limit)
    began = loop.time()
    timed_out = False
    try:
        await _to_the_end(_start(loop, child, argv, cwd, env, stdin))
        done, _ = await asyncio.wait((child.exited,), timeout=deadline)
        timed_out = not done
    finally:
        await _to_the_end(child.end())
    return Finished(
        exit_code=child.exit_code,
        stdout=child.output[1].kept(),
        stderr=child.output[2].kept(),
        stdout_truncated=child.output[1].truncated,
        stderr_truncated=child.output[2].truncated,
        timed_out=timed_out,
        seconds=loop.time() - began,
    )


class _Output:
    """The head and the tail of a stream; what is between is counted and dropped, so the writer never has to wait."""

    def __init__(self, limit: int) -> None:
        self._head_limit = limit // 2
        self._tail_limit = limit - self._head_limit
        self._head = bytearray()
        self._tail = bytearray()
        self._dropped = 0

    def take(self, data: bytes) -> None:
        room = self._head_limit - len(self._head)
        if room > 0:
            self._head += data[:room]
            data = data[room:]
        self._tail += data
        if len(self._tail) > 2 * self._tail_limit:
            self._cut()

    def _cut(self) -> None:
        surplus = len(self._tail) - self._tail_limit
        if surplus > 0:
            self._dropped += surplus
            del self._tail[:surplus]

    @property
    def truncated(self) -> bool:
        self._cut()
        return self._dropped > 0

    def kept(self) -> bytes:
        if not self.truncated:
            return bytes(self._head + self._tail)
        return b"%b\n[... %d bytes left out ...]\n%b" % (bytes(self._head), self._dropped, bytes(self._tail))


class _Child(asyncio.SubprocessProtocol):
    """One program under way: collects its output, knows when it ended, and ends it."""

    def __init__(self, loop: asyncio.AbstractEventLoop, output_limit: int) -> None:
        self.output = {1: _Output(output_limit), 2: _Output(output_limit)}
        self.exited: asyncio.Future[None] = loop.create_future()
        self._closed: asyncio.Future[None] = loop.create_future()
        self._transport: asyncio.SubprocessTransport | None = None
        self._pid = 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.SubprocessTransport", transport)
        self._pid = self._transport.get_pid()

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        self.output[fd].take(data)

    def process_exited(self) -> None:
        # At once, before the system can give the number of this empty group to somebody else.
        self._signal(signal.SIGKILL)
        if not self.exited.done():
            self.exited.set_result(None)

    def connection_lost(self, exc: Exception | None) -> None:
        del exc
        if not self._closed.done():
            self._closed.set_result(None)

    @property
    def exit_code(self) -> int:
        """The exit code, or that of the kill when the system has not reported the death in time."""
        code = None if self._transport is None else self._transport.get_returncode()
        return -signal.SIGKILL if code is None else code

    def feed(self, stdin: bytes) -> None:
        """Write the whole input in the background, then close it."""
        pipe = None if self._transport is None else self._transport.get_pipe_transport(0)
        if pipe is not None:
            writer = cast("asyncio.WriteTransport", pipe)
            writer.write(stdin)
            writer.write_eof()

    async def end(self) -> None:
        """Return when the program and its group are dead and its output has been read."""
        if self._transport is None:
            return
        try:
            if not self.exited.done():
                self._signal(signal.SIGTERM)
                await asyncio.wait((self.exited,), timeout=_TERM_GRACE)
        finally:
            if not self.exited.done():
                self._signal(signal.SIGKILL)
        await asyncio.wait((self.exited,), timeout=_KILL_GRACE)
        await asyncio.wait((self._closed,), timeout=_PIPE_GRACE)
        self._transport.close()

    def _signal(self, number: signal.Signals) -> None:
        if self._pid > 0:  # the group 0 would be our own
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._pid, number)


async def _start(
    loop: asyncio.AbstractEventLoop,
    child: _Child,
    argv: Sequence[str],
    cwd: Path,
    env: Mapping[str, str],
    stdin: bytes | None,
) -> None:
    source = asyncio.subprocess.DEVNULL if stdin is None else asyncio.subprocess.PIPE
    try:
        await loop.subprocess_exec(lambda: child, *argv, stdin=source, cwd=cwd, env=dict(env), start_new_session=True)
    except (OSError, ValueError) as error:
        raise _start_error(argv[0], cwd, error) from error
    if stdin is not None:
        child.feed(stdin)


def _start_error(program: str, cwd: Path, error: OSError | ValueError) -> AgentError:
    if not cwd.is_dir():
        return CrashedError(
            f"The program {program!r} could not start: the folder {cwd} does not exist.", hint="Create it."
        )
    if isinstance(error, FileNotFoundError):
        return NotInstalledError(
            f"The program {program!r} was not found.", hint="Install it, or correct its path in the config."
        )
    reason = error.strerror if isinstance(error, OSError) else error
    return CrashedError(
        f"The program {program!r} could not start: {reason}.", hint="Check that this machine can run it."
    )


async def _to_the_end(work: Coroutine[None, None, None]) -> None:
    """Finish this work even when cancelled during it, and only then let the cancellation go on."""
    task = asyncio.ensure_future(work)
    cancelled: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.wait((task,))
        except asyncio.CancelledError as error:
            cancelled = error
    if cancelled is None:
        task.result()
        return
    if not task.cancelled():
        task.exception()  # seen, and less urgent than the cancellation
    raise cancelled
