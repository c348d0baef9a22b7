"""Runs a program in the tier that was found to hold here, and leaves no process, mount or group of it behind.
Owns how limits, groups and the wall clock go together; refuses to run anything unconfined."""

from __future__ import annotations

import json
import resource
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from skillopt.domain.errors import CrashedError
from skillopt.kernel.process import Finished, run_process
from skillopt.kernel.sandbox.bubblewrap import INSIDE, bubblewrap, settings, wrapped
from skillopt.kernel.sandbox.cgroups import Group, grouped
from skillopt.kernel.sandbox.confinement import Confinement, Tier
from skillopt.kernel.sandbox.launcher import CANNOT, LENGTH

_LAUNCHER = Path(__file__).with_name("launcher.py")
_READABLE = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/etc/ld.so.cache", "/etc/alternatives")
_DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")
_PATH = "/usr/local/bin:/usr/bin:/bin"


class Sandbox:
    """One tier, ready to run programs; `find_sandbox` returns one that has passed its self-test."""

    def __init__(self, tier: Tier) -> None:
        self.tier = tier

    def inside(self, bounds: Confinement) -> str:
        """Return the path by which a program knows its work folder."""
        return INSIDE if self.tier is Tier.BUBBLEWRAP else str(bounds.work.resolve())

    async def run(
        self,
        argv: Sequence[str],
        bounds: Confinement,
        *,
        stdin: bytes | None = None,
        env: Mapping[str, str] | None = None,
    ) -> Finished:
        """Run a program, whose path is absolute, to its end or to its deadline."""
        told = {"PATH": _PATH, "LANG": "C.UTF-8", **({} if env is None else env)}
        async with grouped(processes=bounds.processes, memory_mb=bounds.memory_mb) as group:
            plan = json.dumps(self._plan(argv, told, bounds, group)).encode()
            finished = await run_process(
                (sys.executable, "-I", "-S", str(_LAUNCHER)),
                cwd=bounds.work,
                env={"PATH": _PATH},
                stdin=b"".join((f"{len(plan):0{LENGTH}}".encode(), plan, b"" if stdin is None else stdin)),
                deadline=bounds.seconds,
                output_limit=bounds.output_limit,
            )
        if finished.exit_code == CANNOT and finished.stderr.startswith(b"sandbox: "):
            raise CrashedError(
                f"The sandbox could not start {argv[0]}: {finished.stderr.decode(errors='replace').strip()}.",
                hint="Look at skillopt doctor, which tries the sandbox.",
            )
        return finished

    def _plan(
        self, argv: Sequence[str], env: Mapping[str, str], bounds: Confinement, group: Group | None
    ) -> Mapping[str, str | Sequence[object] | Mapping[str, object] | None]:
        """Return what the launcher is told."""
        told = dict(env)
        command = tuple(argv)
        landlock = None
        if self.tier is Tier.BUBBLEWRAP:
            program = bubblewrap()
            if program is None:
                raise CrashedError("bubblewrap is no longer on this machine.", hint="Install it again.")
            command = wrapped(program, argv, bounds)
        elif bounds.premises is not None:
            raise CrashedError(
                "An agent's program can be confined by bubblewrap only, which does not hold on this machine.",
                hint="Install bubblewrap, or set agent.sandbox: none to run it as you are.",
            )
        else:
            private = bounds.work / ".tmp"
            private.mkdir(exist_ok=True)
            told |= {"HOME": str(private), "TMPDIR": str(private)}
            landlock = {
                "read": [path for path in (*_READABLE, *map(str, bounds.readable)) if Path(path).exists()],
                "write": [str(bounds.work.resolve())],
                "devices": [path for path in _DEVICES if Path(path).exists()],
            }
        limits = [
            (resource.RLIMIT_CORE, 0),
            (resource.RLIMIT_CPU, bounds.cpu_seconds),
            (resource.RLIMIT_FSIZE, bounds.file_mb << 20),
            (resource.RLIMIT_NOFILE, bounds.open_files),
        ]
        if bounds.address_space:
            limits.append((resource.RLIMIT_AS, bounds.memory_mb << 20))
        if group is None:
            limits.append((resource.RLIMIT_NPROC, _processes_of_this_user() + bounds.processes))
        return {
            "argv": command,
            "env": {"PATH": _PATH} if self.tier is Tier.BUBBLEWRAP else told,
            "settings": settings(env, bounds),
            "groups": () if group is None else group.entrances,
            "limits": limits,
            "landlock": landlock,
        }


def _processes_of_this_user() -> int:
    """Count what this user runs already: the system counts these too."""
    mine = Path("/proc/self").stat().st_uid
    found = 0
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            found += folder.stat().st_uid == mine
        except OSError:
            continue
    return found
