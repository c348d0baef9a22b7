"""Control groups, where the system lets us make some: they bound processes and memory, and find every survivor.
Owns making, emptying and removing a group; refuses to know what runs in it."""

from __future__ import annotations

import asyncio
import os
import signal
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import msgspec

_MOUNT = Path("/sys/fs/cgroup")
_OWN = Path("/proc/self/cgroup")
_PAUSES = (0.0, 0.0, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, *(0.1 for _ in range(100)))  # about ten seconds in all


class Group(msgspec.Struct, frozen=True, kw_only=True):
    """One group under each controller; a process joins by writing its number to every one of `entrances`."""

    folders: tuple[Path, ...]

    @property
    def entrances(self) -> tuple[str, ...]:
        """The files that a process writes its number to."""
        return tuple(str(folder / "cgroup.procs") for folder in self.folders)

    async def end(self) -> None:
        """Kill whatever is left inside and remove the group, which takes until the system has buried the dead."""
        for folder in self.folders:
            for pause in _PAUSES:
                for number in (folder / "cgroup.procs").read_text().split():
                    with suppress(ProcessLookupError, PermissionError):
                        os.kill(int(number), signal.SIGKILL)
                with suppress(OSError):
                    folder.rmdir()
                    break
                await asyncio.sleep(pause)


@asynccontextmanager
async def grouped(*, processes: int, memory_mb: int) -> AsyncIterator[Group | None]:
    """Make a group with these bounds for as long as the block lasts; None where the system gives us none."""
    group = _made(processes, memory_mb << 20)
    try:
        yield group
    finally:
        if group is not None:
            await group.end()


def _made(processes: int, memory: int) -> Group | None:
    bounds = {"pids.max": str(processes)}
    homes = _first_version()
    if homes:
        limits = {"pids": bounds, "memory": {"memory.limit_in_bytes": str(memory)}}
        made = [_folder(home, limits[kind]) for kind, home in homes.items()]
        folders = tuple(folder for folder in made if folder is not None)
        if len(folders) == len(homes) and "pids" in homes:
            return Group(folders=folders)
        _give_up(folders)
        return None
    home = _second_version()
    if home is None:
        return None
    folder = _folder(home, {**bounds, "memory.max": str(memory), "memory.swap.max": "0"})
    return None if folder is None else Group(folders=(folder,))


def _first_version() -> dict[str, Path]:
    """Return where this process is under the controllers of the old hierarchy that it may write to."""
    homes: dict[str, Path] = {}
    for line in _lines(_OWN):
        _, kinds, path = line.split(":", 2)
        for kind in ("pids", "memory"):
            home = _MOUNT / kind / path.lstrip("/")
            if kind in kinds.split(",") and os.access(home, os.W_OK):
                homes[kind] = home
    return homes


def _second_version() -> Path | None:
    """Return the parent of our group in the unified hierarchy, when it hands on the controllers and we may write."""
    own = next((line.split(":", 2)[2] for line in _lines(_OWN) if line.startswith("0::")), None)
    if own is None or not (_MOUNT / "cgroup.controllers").is_file():
        return None
    home = (_MOUNT / own.lstrip("/")).parent
    handed_on = set("\n".join(_lines(home / "cgroup.subtree_control")).split())
    return home if {"pids", "memory"} <= handed_on and os.access(home, os.W_OK) else None


def _folder(home: Path, bounds: dict[str, str]) -> Path | None:
    try:
        folder = Path(tempfile.mkdtemp(prefix=f"skillopt-{os.getpid()}-", dir=home))
    except OSError:
        return None
    for name, value in bounds.items():
        with suppress(OSError):  # a kernel without swap accounting has no such file; the self-test tries the bound
            (folder / name).write_text(value)
    return folder


def _give_up(folders: tuple[Path, ...]) -> None:
    for folder in folders:
        with suppress(OSError):
            folder.rmdir()


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text().splitlines()
    except OSError:
        return []
