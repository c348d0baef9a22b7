"""The command line that puts a program into new namespaces: the first tier.
Owns what of the system shows inside and where; refuses to know limits, which the launcher has set before."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from skillopt.kernel.sandbox.confinement import Confinement, Premises
from skillopt.kernel.sandbox.launcher import FILTER, SETTINGS

INSIDE, HOME_INSIDE = "/job", "/home/agent"
_RELAY, _SOCKET = "/run/relay.py", "/run/door"
_HOST_RELAY = Path(__file__).with_name("relay.py")
_PLACES = (Path("/usr/bin/bwrap"), Path("/bin/bwrap"), Path("/usr/local/bin/bwrap"))
_SYSTEM = ("/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
_SYSTEM_FILES = ("/etc/ld.so.cache", "/etc/alternatives", "/etc/localtime")
_SECRETIVE = ("kcore", "kmsg", "keys", "kallsyms", "kpagecount", "kpageflags", "timer_list", "sched_debug")
# as root the plain invocation would keep every capability and could mount: all of these are needed
_NAMESPACES = (
    *("--unshare-all", "--unshare-user", "--disable-userns", "--uid", "65534", "--gid", "65534"),
    *("--cap-drop", "ALL", "--new-session", "--die-with-parent", "--clearenv", "--hostname", "sandbox"),
)


def bubblewrap() -> Path | None:
    """Return where the program is, or None when this machine does not have it."""
    return next((place for place in _PLACES if place.is_file()), None)


def interpreter() -> Path:
    """Return this Python, past every link, so that a confined program can be one."""
    return Path(sys.executable).resolve()


def settings(env: Mapping[str, str], bounds: Confinement) -> str:
    """Return the environment inside as words for bubblewrap; a key among them must not stand in its command."""
    home = "/tmp" if bounds.premises is None else HOME_INSIDE
    told = {**env, "HOME": home, "TMPDIR": "/tmp"}
    return "".join(f"--setenv\0{name}\0{value}\0" for name, value in told.items())


def wrapped(program: Path, argv: Sequence[str], bounds: Confinement) -> tuple[str, ...]:
    """Return the command that runs `argv` inside."""
    premises = bounds.premises
    binding = "--bind" if premises is None or premises.writes else "--ro-bind"
    return (
        str(program),
        *_NAMESPACES,
        *(("--share-net",) if premises is not None and premises.network else ()),
        *("--ro-bind", "/usr", "/usr"),
        *_system(),
        *("--proc", "/proc", "--dev", "/dev"),
        *_masked(),
        *("--size", str(bounds.tmp_mb << 20), "--tmpfs", "/tmp"),
        *(part for path in bounds.readable for part in ("--ro-bind", str(path), str(path))),
        *(() if premises is None else _shown(premises)),
        *(binding, str(bounds.work), INSIDE, "--chdir", INSIDE),
        *(() if premises is None else _mounted(premises)),
        *("--remount-ro", "/"),
        *("--args", SETTINGS),
        *("--seccomp", FILTER),
        "--",
        *_relayed(premises),
        *argv,
    )


def _shown(premises: Premises) -> Iterator[str]:
    """Show the home, and where a way out is asked for, the door and the program that stands in it."""
    yield from ("--bind", str(premises.home), HOME_INSIDE)
    if premises.door is not None:
        yield from ("--ro-bind", str(_HOST_RELAY), _RELAY, "--bind", str(premises.door.socket), _SOCKET)
        python = interpreter().parent.parent
        if not python.is_relative_to("/usr"):
            yield from ("--ro-bind", str(python), str(python))


def _mounted(premises: Premises) -> Iterator[str]:
    return (part for source, place in premises.mounts for part in ("--ro-bind", str(source), place))


def _relayed(premises: Premises | None) -> tuple[str, ...]:
    """Return the program that stands in the door and starts the one that is meant."""
    if premises is None or premises.door is None:
        return ()
    return (str(interpreter()), "-I", "-S", _RELAY, str(premises.door.port), _SOCKET, "--")


def _masked() -> Iterator[str]:
    """Hide what is not about processes in /proc: for a root outside, the kernel's settings could be written there."""
    for path in sorted(Path("/proc").iterdir()):
        if path.is_symlink() or path.name.isdigit():
            continue
        if path.is_dir():
            yield from ("--tmpfs", str(path), "--remount-ro", str(path))
        elif path.stat().st_mode & 0o222 or path.name in _SECRETIVE:
            yield from ("--ro-bind", "/dev/null", str(path))


def _system() -> Iterator[str]:
    """Show the folders beside /usr as this system has them: links stay links."""
    for name in _SYSTEM:
        path = Path(name)
        if path.is_symlink():
            yield from ("--symlink", str(path.readlink()), name)
        elif path.is_dir():
            yield from ("--ro-bind", name, name)
    for name in _SYSTEM_FILES:
        if Path(name).exists():
            yield from ("--ro-bind", name, name)
