"""Where the real agent programs are: below .cache/agents of the repository, one folder for each."""

from __future__ import annotations

from pathlib import Path

import pytest

AGENTS = Path(__file__).parents[2] / ".cache" / "agents"


def installed(program: str) -> Path:
    """Return the program, or skip the test and say where it was looked for."""
    path = AGENTS / program / "bin" / program
    if not path.is_file():
        pytest.skip(f"{program} is not installed: there is no {path.relative_to(AGENTS.parents[1])}")
    # the folder may be a link; the program in it is one, from its own folder, and has to stay that
    return path.parent.resolve() / program
