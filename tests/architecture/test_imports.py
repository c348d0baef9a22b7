"""`import skillopt` and `skillopt --help` load little: what is heavy loads when it is used."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from tests.architecture.source_tree import PACKAGE

HEAVY = {"asyncio", "rich", "sqlite3", "yaml", "httptools"}
ENTRANCES = ["skillopt", *(["skillopt.cli.main"] if (PACKAGE / "cli" / "main.py").is_file() else [])]


@pytest.mark.parametrize("entrance", ENTRANCES)
def test_an_entrance_is_light(entrance: str) -> None:
    program = f"import sys, json; sys.path[:0] = {sys.path!r}; import {entrance}; print(json.dumps(list(sys.modules)))"
    done = subprocess.run([sys.executable, "-I", "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    loaded = {name.partition(".")[0] for name in json.loads(done.stdout)}
    assert "skillopt" in loaded
    assert not loaded & HEAVY
