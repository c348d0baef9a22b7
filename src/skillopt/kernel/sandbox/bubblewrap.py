"""The command line that puts a program into new namespaces: the first tier.
Owns what of the system shows inside and where; refuses to know limits, which the launcher has set before."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from skillopt.kernel.sandbox.confinement import Confinement
from skillopt.kernel.sandbox.launcher import FILTER

INSIDE = "/job"
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


def wrapped(program: Path, argv: Sequence[str], env: Mapping[str, str], bounds: Confinement) -> tuple[str, ...]:
    """Return the command that runs `argv` inside."""
    return (
        str(program),
        *_NAMESPACES,
        *("--ro-bind", "/usr", "/usr"),
        *_system(),
        *(part for path in bounds.readable for part in ("--ro-bind", str(path), str(path))),
        *("--proc", "/proc", "--dev", "/dev"),
        *_masked(),
        *("--size", str(bounds.tmp_mb << 20), "--tmpfs", "/tmp"),
        *("--bind", str(bounds.work), INSIDE, "--chdir", INSIDE),
        *("--remount-ro", "/"),
        *(part for name, value in env.items() for part in ("--setenv", name, value)),
        *("--setenv", "HOME", "/tmp", "--setenv", "TMPDIR", "/tmp"),
        *("--seccomp", FILTER),
        "--",
        *argv,
    )


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
