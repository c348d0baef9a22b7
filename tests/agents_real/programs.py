"""Where the real agent programs are that these tests run: below `.cache/agents` of the repository."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from tests.architecture.source_tree import ROOT

CACHE = ROOT / ".cache" / "agents"
_PLACES = ("bin", "node_modules/.bin", "lib/node_modules/*", "lib/node_modules/*/*")


def installed(program: str) -> Path:
    """Return the program, or skip and say where it was looked for."""
    for place in _PLACES:
        for folder in sorted((CACHE / program).glob(place)):
            if os.access(folder / program, os.X_OK) and (folder / program).is_file():
                return folder / program
    pytest.skip(f"{program} is not installed below {CACHE / program}")


def sdk_python() -> Path:
    """Return the Python that has the makers' SDKs, or skip and say where it was looked for."""
    python = CACHE / "sdk" / "bin" / "python"
    if not python.exists():
        pytest.skip(f"the SDKs are not installed below {CACHE / 'sdk'}: make test-agents AGENTS=all does that")
    return python


def ripgrep() -> Path:
    """Return the program rg that is installed, or that of another agent; skip where there is none."""
    own = shutil.which("rg")
    found = [Path(own)] if own else sorted(path for path in CACHE.glob("*/lib/node_modules/**/rg") if path.is_file())
    if not found:
        pytest.skip("OpenCode needs ripgrep, and there is no rg on PATH and none below " + str(CACHE))
    return found[0]
