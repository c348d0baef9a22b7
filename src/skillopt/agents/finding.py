"""Where an agent's program is on this machine, and its maker's SDK, and which versions of them those are.
Owns the look-up and what a confined program must be able to read of it; refuses to start them for anything else."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Literal

import msgspec

from skillopt.agents.program import Adapter, Sdk
from skillopt.domain.errors import CrashedError, NotInstalledError, UsageError
from skillopt.kernel.process import Finished, run_process

_VERSION = re.compile(r"\d+(?:\.\d+)+(?:[-.+][0-9A-Za-z.]+)?")
_PATIENCE = 30.0
_MODULES = "node_modules"
_SYSTEM = Path("/usr")
_SCRIPT = b"#!"
_OF_A_PYTHON = ("bin", "lib", "lib64", "pyvenv.cfg")


class Program(msgspec.Struct, frozen=True, kw_only=True):
    """A program that was found: how it is started, its version, and the folders it is made of.

    `wrapper` says that it is a script outside of any package, which starts something else: its version need not be what
    runs.
    """

    path: Path
    version: str
    readable: tuple[Path, ...]
    search: str
    wrapper: bool = False


class Driver(msgspec.Struct, frozen=True, kw_only=True):
    """An SDK that was found: the Python that has it as a program, and the words that make it drive."""

    python: Program
    words: tuple[str, ...]


class _About(msgspec.Struct, frozen=True):
    version: str
    prefixes: tuple[str, ...]
    packages: str


async def find_driver(
    adapter: Adapter, program: Program, *, mode: Literal["cli", "sdk", "auto"], python: Path
) -> Driver | None:
    """Return what drives a program by its SDK, if it is to be driven by it: the SDK is asked for in this Python.

    With `sdk` one that is missing is an error, with `auto` the program is started by its command line then.
    """
    if mode == "cli":
        return None
    sdk = adapter.sdk
    if sdk is None:
        if mode == "auto":
            return None
        raise UsageError(f"There is no SDK that can drive {adapter.name}.", hint="Set agent.mode to cli, or to auto.")
    placed = _placed(python)  # where it is a link, that counts: beside it stands what its environment has
    words = ("-I", str(sdk.driver))
    finished = await _told(placed, (*words, "--about"), search=program.search)
    if finished.exit_code != 0:
        if not _is_missing(sdk, finished):
            said = finished.stderr.decode(errors="replace").strip().rpartition("\n")[2]
            raise CrashedError(f"The SDK of {adapter.name} does not start: {said}", hint=_bring(sdk, placed))
        if mode == "auto":
            return None
        raise UsageError(f"agent.mode is sdk, and {sdk.module} is not installed.", hint=_bring(sdk, placed))
    about = msgspec.json.decode(finished.stdout, type=_About)
    return Driver(
        python=Program(
            path=placed,
            version=about.version,
            readable=tuple(dict.fromkeys((*program.readable, *_parts(placed, about), sdk.driver))),
            search=program.search,
        ),
        words=words,
    )


async def find_program(adapter: Adapter, *, path: str | None, root: Path, environ: Mapping[str, str]) -> Program:
    """Return the program of an adapter: at `path`, which starts from `root`, or on this person's PATH."""
    named = _named(adapter, path, root, environ)
    found = named.parent.resolve() / named.name  # a sandbox shows the folder, and not the links on the way to it
    search = os.pathsep.join(dict.fromkeys(_folders(found, environ)))
    finished = await _told(found, ("--version",), search=search)
    told = _VERSION.search(finished.stdout.decode(errors="replace"))
    if finished.exit_code != 0 or told is None:
        raise CrashedError(
            f"{found} does not tell its version: exit code {finished.exit_code}.",
            hint=f"Run `{found} --version` yourself; to install it anew: {adapter.install}",
        )
    return Program(
        path=found,
        version=told[0],
        readable=tuple(dict.fromkeys(_made_of(found, search))),
        search=search,
        wrapper=_is_script(found.resolve()) and _package_of(found.resolve()) is None,
    )


async def _told(program: Path, words: tuple[str, ...], *, search: str) -> Finished:
    """Return what a program says of itself, in a home that is nobody's."""
    with tempfile.TemporaryDirectory(prefix="skillopt-look-") as folder:
        return await run_process(
            (str(program), *words),
            cwd=Path(folder),
            env={"PATH": search, "HOME": folder, "LANG": "C.UTF-8", "TERM": "dumb"},
            stdin=None,
            deadline=_PATIENCE,
            output_limit=1 << 16,
        )


def _parts(python: Path, about: _About) -> Iterator[Path]:
    """Yield what this Python is read from: never the whole of its folder, which may be the person's project as well."""
    for prefix in (*map(Path, about.prefixes), python.parent.parent, python.resolve().parent.parent):
        yield from (
            prefix / name
            for name in _OF_A_PYTHON
            if (prefix / name).exists() and not (prefix / name).is_relative_to(_SYSTEM)
        )
    packages = Path(about.packages)
    if not packages.is_relative_to(_SYSTEM):
        yield packages


def _is_missing(sdk: Sdk, finished: Finished) -> bool:
    return f"No module named '{sdk.module}'" in finished.stderr.decode(errors="replace")


def _bring(sdk: Sdk, python: Path) -> str:
    return f"Install it for {python}: pip install 'skillopt[{sdk.extra}]'. Or set agent.mode: cli."


def _named(adapter: Adapter, path: str | None, root: Path, environ: Mapping[str, str]) -> Path:
    if path is not None:
        place = (root / Path(path).expanduser()).absolute()
        if place.is_file() and os.access(place, os.X_OK):
            return _placed(place)
        raise NotInstalledError(f"There is no program at {place}.", hint="Correct agent.path, or leave it out.")
    for name in adapter.programs:
        found = shutil.which(name, path=environ.get("PATH", os.defpath))
        if found is not None:
            return _placed(Path(found).absolute())
    raise NotInstalledError(
        f"The program {adapter.programs[0]!r} of backend {adapter.name} is not on PATH.",
        hint=f"Install it: {adapter.install}. Or say where it is with agent.path.",
    )


def _placed(program: Path) -> Path:
    """Return a program in the real folder that it lies in; it may be a link itself, which counts from there."""
    return program.parent.resolve() / program.name


def _folders(program: Path, environ: Mapping[str, str]) -> tuple[str, ...]:
    """Return where the program may look for others: beside itself, where its interpreter is, and in the system."""
    node = shutil.which("node", path=environ.get("PATH", os.defpath))
    beside = (str(program.parent),)
    interpreter = () if node is None else (str(Path(node).parent),)
    return (*beside, *interpreter, "/usr/local/bin", "/usr/bin", "/bin")


def _made_of(program: Path, search: str) -> tuple[Path, ...]:
    """Return the folders outside the system that a program is read from."""
    real = program.resolve()
    modules = _package_of(real)
    parts = [program.parent, real.parent if modules is None else modules]
    if _is_script(real):
        node = shutil.which("node", path=search)
        if node is not None:
            parts += [Path(node).parent, Path(node).resolve().parent.parent]
    return tuple(part for part in parts if not part.is_relative_to(_SYSTEM))


def _package_of(program: Path) -> Path | None:
    """Return the folder of packages that a program is a part of, or None."""
    return next((parent for parent in program.parents if parent.name == _MODULES), None)


def _is_script(program: Path) -> bool:
    with program.open("rb") as content:
        return content.read(2) == _SCRIPT
