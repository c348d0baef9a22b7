"""Where the real agent programs are that these tests run: below `.cache/agents` of the repository."""

from __future__ import annotations

import os
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
