"""Where an agent's program runs: confined, with its model as the only address it can reach, or as the person is.
Owns how paths look from inside and what may be reached; refuses to know what the program is told."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import ClassVar, Protocol
from urllib.parse import urlsplit, urlunsplit

import msgspec

from skillopt.agents.finding import Program
from skillopt.domain.errors import UsageError
from skillopt.kernel.process import Finished, run_process
from skillopt.kernel.sandbox import (
    HOME_INSIDE,
    INSIDE,
    Confinement,
    Forwarded,
    Premises,
    Proxied,
    Sandbox,
    Way,
    opened_door,
)
from skillopt.kernel.sandbox.door import PROXY_PORT

TOOLS_INSIDE = "/run/tools"
OUTPUT_LIMIT = 8 << 20
_MEMORY_MB, _PROCESSES, _OPEN_FILES, _FILE_MB, _TMP_MB = 4096, 1024, 8192, 1024, 512
_SYSTEM_FILES = (
    *("/etc/ssl", "/etc/ca-certificates", "/etc/passwd", "/etc/group", "/etc/nsswitch.conf", "/etc/hosts"),
    "/etc/resolv.conf",
)
_PORTS = {"http": 80, "https": 443}


class Stay(msgspec.Struct, frozen=True, kw_only=True):
    """One run's folders, and how long and how freely it may use them; `mounts` are read-only, by their place in it.

    `tools` is the folder with the task's own tools, and the pipe that they write to.
    """

    work: Path
    home: Path
    seconds: float
    writes: bool = True
    network: bool = False
    mounts: tuple[tuple[Path, str], ...] = ()
    tools: Path | None = None


class Grounds(Protocol):
    """Runs an agent's program; what it leaves in its folders can be read when the run is over.

    `confines` says whether a sandbox stands around it.
    """

    confines: ClassVar[bool]

    def places(self, stay: Stay) -> tuple[str, str]:
        """Return the work folder and the home as the program knows them."""
        ...

    def tools(self, folder: Path) -> str:
        """Return the folder of the task's own tools as the program knows it."""
        ...

    def address(self, base_url: str | None) -> str | None:
        """Return the address of the model's server as the program knows it."""
        ...

    async def run(
        self, program: Program, args: Sequence[str], env: Mapping[str, str], stdin: bytes, stay: Stay
    ) -> Finished:
        """Run the program to its end or to its deadline."""
        ...


class Confined:
    """A sandbox with a private network, out of which one door leads to the model."""

    confines: ClassVar[bool] = True

    def __init__(self, sandbox: Sandbox, way: Way) -> None:
        self._sandbox = sandbox
        self._way = way

    def places(self, stay: Stay) -> tuple[str, str]:
        """Return the same two paths for every run, so that nothing of this machine shows in what an agent says."""
        del stay
        return INSIDE, HOME_INSIDE

    def tools(self, folder: Path) -> str:
        """Return where they are shown; of a pipe there, a mount that is read-only leaves the writing."""
        del folder
        return TOOLS_INSIDE

    def address(self, base_url: str | None) -> str | None:
        """Return the near end of the door; with this machine's network that is the far end too."""
        return seen_from_inside(base_url, self._way)

    async def run(
        self, program: Program, args: Sequence[str], env: Mapping[str, str], stdin: bytes, stay: Stay
    ) -> Finished:
        """Run the program confined."""
        for _, place in stay.mounts:
            (stay.work / place).mkdir(parents=True, exist_ok=True)
        async with AsyncExitStack() as stack:
            door = None if stay.network else await stack.enter_async_context(opened_door(self._way))
            bounds = Confinement(
                work=stay.work,
                readable=(*program.readable, *_system_files()),
                seconds=stay.seconds,
                cpu_seconds=int(stay.seconds) + 1,
                memory_mb=_MEMORY_MB,
                file_mb=_FILE_MB,
                tmp_mb=_TMP_MB,
                processes=_PROCESSES,
                open_files=_OPEN_FILES,
                output_limit=OUTPUT_LIMIT,
                address_space=False,
                premises=Premises(
                    home=stay.home,
                    mounts=tuple(_mounts(stay)),
                    door=door,
                    network=stay.network,
                    writes=stay.writes,
                ),
            )
            told = _proxied(env) if door is not None and isinstance(self._way, Proxied) else dict(env)
            return await self._sandbox.run((str(program.path), *args), bounds, stdin=stdin, env=told)


class Unconfined:
    """This machine as it is: for systems that have no bubblewrap, and only when the person asked for it."""

    confines: ClassVar[bool] = False

    def places(self, stay: Stay) -> tuple[str, str]:
        """Return the folders themselves."""
        return str(stay.work), str(stay.home)

    def tools(self, folder: Path) -> str:
        """Return the folder itself."""
        return str(folder)

    def address(self, base_url: str | None) -> str | None:
        """Return the address itself."""
        return base_url

    async def run(
        self, program: Program, args: Sequence[str], env: Mapping[str, str], stdin: bytes, stay: Stay
    ) -> Finished:
        """Run the program in its own process group, with an environment of its own."""
        temporary = _made_ready(stay)
        return await run_process(
            (str(program.path), *args),
            cwd=stay.work,
            env={**env, "TMPDIR": str(temporary)},
            stdin=stdin,
            deadline=stay.seconds,
            output_limit=OUTPUT_LIMIT,
        )


def _mounts(stay: Stay) -> Iterator[tuple[Path, str]]:
    """Yield what is shown read-only, by its place inside."""
    for source, place in stay.mounts:
        yield source, f"{INSIDE}/{place}"
    if stay.tools is not None:
        yield stay.tools, TOOLS_INSIDE


def _system_files() -> tuple[Path, ...]:
    """Return what names and certificates are read from."""
    return tuple(Path(name) for name in _SYSTEM_FILES if Path(name).exists())


def _made_ready(stay: Stay) -> Path:
    """Put links where the mounts would be, and return a folder for what is temporary."""
    for source, place in stay.mounts:
        link = stay.work / place
        link.parent.mkdir(exist_ok=True)
        link.symlink_to(source, target_is_directory=True)
    temporary = stay.home / "tmp"
    temporary.mkdir(exist_ok=True)
    return temporary


def way_to(base_url: str | None, hosts: Sequence[str]) -> Way:
    """Return the way to a model's server, or to the hosts of the program's own provider."""
    if base_url is None:
        return Proxied(places=tuple((host, _PORTS["https"]) for host in hosts))
    refused = UsageError(f"{base_url!r} is no address of a server.", hint="Give base_url as http(s)://host:port/path.")
    try:
        parts = urlsplit(base_url)
        given = parts.port
    except ValueError as error:
        raise refused from error
    if parts.scheme not in _PORTS or not parts.hostname:
        raise refused
    port = given or _PORTS[parts.scheme]
    if parts.scheme == "http":
        return Forwarded(host=parts.hostname, port=port)
    return Proxied(places=((parts.hostname, port),))


def seen_from_inside(base_url: str | None, way: Way) -> str | None:
    """Return the address by which a confined program reaches its model: its own loopback, where a door leads on."""
    if base_url is None or isinstance(way, Proxied):
        return base_url
    parts = urlsplit(base_url)
    return urlunsplit(parts._replace(netloc=f"127.0.0.1:{way.inside}"))


def _proxied(env: Mapping[str, str]) -> dict[str, str]:
    address = f"http://127.0.0.1:{PROXY_PORT}"
    return {**env, "HTTPS_PROXY": address, "https_proxy": address}
