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


class Door(msgspec.Struct, frozen=True, kw_only=True):
    """The one way out of a private network: what is sent to `port` on the program's own loopback goes to `socket`."""

    port: int
    socket: Path


class Premises(msgspec.Struct, frozen=True, kw_only=True):
    """What a program is given that lives there for a while, as an agent does: a home, things to read, a way out.

    `mounts` are shown read-only, each by the path that the program knows. With `network` it shares this machine's;
    without, it has a private one, which only `door` leads out of. `writes` is whether it may change its work folder.
    """

    home: Path
    mounts: tuple[tuple[Path, str], ...] = ()
    door: Door | None = None
    network: bool = False
    writes: bool = True


class Confinement(msgspec.Struct, frozen=True, kw_only=True):
    """The bounds of one program. `work` is its current folder and the only one it can write, besides a private tmp.

    The system's programs and libraries can be read, `readable` too, and nothing else. There is no network. A program
    that reserves more memory than it uses, as a JavaScript engine does, wants `address_space` unbounded. `premises` are
    for programs that need more than that, and only the first tier has them.
    """

    work: Path
    readable: tuple[Path, ...] = ()
    seconds: float = 60.0
    cpu_seconds: int = 60
    memory_mb: int = 1024
    file_mb: int = 64
    tmp_mb: int = 64
    processes: int = 64
    open_files: int = 256
    output_limit: int = 1 << 20
    address_space: bool = True
    premises: Premises | None = None
