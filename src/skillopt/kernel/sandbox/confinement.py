"""What a confined program may do: the one folder it writes, what it reads besides, and how much it may use.
Owns these bounds; refuses to know how a system enforces them."""

from __future__ import annotations

import enum
from pathlib import Path

import msgspec


class Tier(enum.Enum):
    """How a program is confined."""

    BUBBLEWRAP = "bubblewrap"
    LANDLOCK = "landlock"


class Confinement(msgspec.Struct, frozen=True, kw_only=True):
    """The bounds of one program. `work` is its current folder and the only one it can write, besides a private tmp.

    The system's programs and libraries can be read, `readable` too, and nothing else. There is no network.
    """

    work: Path
    readable: tuple[Path, ...] = ()
    seconds: float = 60.0
    cpu_seconds: int = 60
    memory_mb: int = 1024
    file_mb: int = 64
    tmp_mb: int = 64
    processes: int = 64
    output_limit: int = 1 << 20
