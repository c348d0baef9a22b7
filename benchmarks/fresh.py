"""Our command and our package in a fresh interpreter, as a person starts them.
Owns how they are started and timed; refuses to know what they should take."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import msgspec


class Ran(msgspec.Struct, frozen=True, kw_only=True):
    """A program that has ended."""

    wall: float
    code: int
    output: str


def skillopt(*arguments: str) -> tuple[str, ...]:
    """Return the command line of skillopt: the installed script if there is one, else the module it stands for."""
    script = Path(sys.executable).parent / "skillopt"
    return (str(script), *arguments) if script.exists() else python("-m", "skillopt.cli.main", *arguments)


def python(*arguments: str) -> tuple[str, ...]:
    """Return the command line of this interpreter."""
    return (sys.executable, *arguments)


def run(command: Sequence[str], *, folder: Path | None = None, timeout: float = 120.0) -> Ran:
    """Run a program to its end, and say how long it took and what it printed."""
    began = time.perf_counter()
    ended = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=timeout)
    wall = time.perf_counter() - began
    return Ran(wall=wall, code=ended.returncode, output=(ended.stdout + ended.stderr).strip())


def run_well(command: Sequence[str], *, folder: Path | None = None, timeout: float = 120.0) -> Ran:
    """Run a program that must end well."""
    ran = run(command, folder=folder, timeout=timeout)
    if ran.code != 0:
        raise RuntimeError(f"{' '.join(command)} ended with {ran.code}: {ran.output[-500:]}")
    return ran
