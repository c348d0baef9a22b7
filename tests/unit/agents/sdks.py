"""Pythons of their own with modules that stand in for makers' SDKs: real files, in real environments."""

from __future__ import annotations

import asyncio
import sysconfig
import venv
from pathlib import Path

from skillopt.kernel.process import Finished, run_process

_PATIENCE = 60.0


def python_with(folder: Path, files: dict[str, str] | None = None) -> Path:
    """Make an environment that has these modules, by their path in it and their code, and return its Python."""
    venv.EnvBuilder(symlinks=True, with_pip=False).create(folder)
    site = Path(sysconfig.get_path("purelib", "venv", {"base": str(folder), "platbase": str(folder)}))
    for name, code in (files or {}).items():
        place = site / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(code, encoding="utf-8")
    return folder / "bin" / "python"


def driven(python: Path, driver: Path, *words: str, told: bytes = b"") -> Finished:
    """Run a driver to its end, as a run does."""
    return asyncio.run(
        run_process(
            (str(python), "-I", str(driver), *words),
            cwd=python.parent,
            env={"PATH": "/usr/bin:/bin"},
            stdin=told,
            deadline=_PATIENCE,
            output_limit=1 << 20,
        )
    )
