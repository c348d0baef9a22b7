"""Tries the sandbox before it is trusted: each probe is an attack that must fail inside.
Owns the probes and the choice of a tier; refuses to fall back to no sandbox at all."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import msgspec

from skillopt.domain.errors import AgentError, UsageError
from skillopt.kernel.sandbox.bubblewrap import bubblewrap, interpreter
from skillopt.kernel.sandbox.confinement import Confinement, Tier
from skillopt.kernel.sandbox.launcher import landlock_version
from skillopt.kernel.sandbox.sandbox import Sandbox

_BOUNDS_MB = 256
_PROCESSES = 16

# what the program inside tries; it prints the names of what succeeded
_ATTACKS = """
import json, os, socket, subprocess, sys, ctypes
port, canary, victim, many, huge = int(sys.argv[1]), sys.argv[2], int(sys.argv[3]), int(sys.argv[4]), int(sys.argv[5])
def net(): socket.create_connection(("127.0.0.1", port), 2).close()
def write(): open(canary + ".new", "w").close()
def home(): open(canary).read()
def signal(): os.kill(victim, 0)
def memory(): bytearray(huge)[-1]
def mount():
    if ctypes.CDLL(None).mount(b"none", b"/tmp", b"tmpfs", 0, None): raise OSError
def trace():
    if ctypes.CDLL(None).ptrace(16, victim, 0, 0): raise OSError
def fork():
    children = []
    try:
        for _ in range(many):
            child = os.fork()
            if child == 0:
                os.close(pipe[1])
                os.read(pipe[0], 1)
                os._exit(0)
            children.append(child)
    finally:
        os.close(pipe[1])
        for child in children:
            os.waitpid(child, 0)
pipe = os.pipe()
done = []
for attack in (net, write, home, signal, memory, mount, trace, fork):
    try:
        attack()
    except (OSError, MemoryError):
        continue
    done.append(attack.__name__)
print(json.dumps(done))
"""


class Probed(msgspec.Struct, frozen=True, kw_only=True):
    """What the self-test of one tier found: it holds, or why it does not."""

    tier: Tier
    holds: bool
    says: str


async def probe(tier: Tier) -> Probed:
    """Try one tier."""
    missing = _missing(tier)
    if missing is not None:
        return Probed(tier=tier, holds=False, says=missing)
    async with _listener() as port:
        with tempfile.TemporaryDirectory(prefix="skillopt-probe-") as outside, tempfile.TemporaryDirectory() as work:
            canary = _canary(Path(outside))
            bounds = Confinement(
                work=Path(work),
                readable=(interpreter().parent.parent,),
                seconds=20.0,
                memory_mb=_BOUNDS_MB,
                processes=_PROCESSES,
            )
            words = (port, canary, os.getpid(), 4 * _PROCESSES, 2 * _BOUNDS_MB << 20)
            try:
                finished = await Sandbox(tier).run(
                    (str(interpreter()), "-I", "-S", "-c", _ATTACKS, *map(str, words)), bounds
                )
            except AgentError as error:
                return Probed(tier=tier, holds=False, says=error.message)
    if finished.exit_code:
        said = finished.stderr.decode(errors="replace").strip()[-300:]
        return Probed(tier=tier, holds=False, says=f"it could not run a program: {said or finished.exit_code}")
    succeeded = json.loads(finished.stdout)
    if succeeded:
        return Probed(tier=tier, holds=False, says=f"it does not stop {', '.join(succeeded)}")
    return Probed(tier=tier, holds=True, says="every probe was stopped")


async def find_sandbox() -> Sandbox:
    """Return the first tier that holds on this machine; there is no fallback to running unconfined."""
    reasons = []
    for tier in Tier:
        probed = await probe(tier)
        if probed.holds:
            return Sandbox(tier)
        reasons.append(f"{tier.value}: {probed.says}")
    raise UsageError(
        f"No sandbox holds on this machine ({'; '.join(reasons)}), so code of others does not run.",
        hint="Install bubblewrap, or use a kernel with landlock.",
    )


def _canary(folder: Path) -> Path:
    canary = folder / "canary"
    canary.write_text("not for you")
    return canary


def _missing(tier: Tier) -> str | None:
    if not sys.platform.startswith("linux"):
        return "it needs Linux"
    if tier is Tier.BUBBLEWRAP and bubblewrap() is None:
        return "bwrap is not installed"
    if tier is Tier.LANDLOCK and landlock_version() == 0:
        return "this kernel has no landlock"
    return None


@asynccontextmanager
async def _listener() -> AsyncIterator[int]:
    """Offer something on loopback that a program with a network could reach."""

    async def greet(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.close()

    server = await asyncio.start_server(greet, "127.0.0.1", 0)
    async with server:
        yield server.sockets[0].getsockname()[1]
