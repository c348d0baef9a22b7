"""What the tests of whole runs share: the scripted server, and a project for each of the programs."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from skillopt.testing.server import ThreadedServer, serve_in_thread
from skillopt.testing.server.service import Settings
from tests.agents_real.product import BACKENDS, FURTHER, Product


@pytest.fixture
def scripted() -> Iterator[ThreadedServer]:
    """Serve scripted models, and remember every request."""
    with serve_in_thread(Settings(log_size=10_000)) as server:
        yield server


@pytest.fixture
def outer() -> Iterator[Path]:
    """Return a folder with a short path: the names of sockets below it must not become too long."""
    with tempfile.TemporaryDirectory(prefix="real-", ignore_cleanup_errors=True) as folder:
        yield Path(folder).resolve()


_ALL = pytest.mark.skipif(os.environ.get("AGENTS") != "all", reason="AGENTS=all tries these programs too")
_FURTHER = [pytest.param(backend, marks=_ALL) for backend in FURTHER]


@pytest.fixture(params=BACKENDS)
def product(request: pytest.FixtureRequest, outer: Path, scripted: ThreadedServer) -> Product:
    """Return a project for one of the programs."""
    return Product(outer, request.param, scripted)


@pytest.fixture(params=_FURTHER)
def further(request: pytest.FixtureRequest, outer: Path, scripted: ThreadedServer) -> Product:
    """Return a project for one of the programs that are tried on request."""
    return Product(outer, request.param, scripted)


@pytest.fixture(params=[*BACKENDS, *_FURTHER])
def every(request: pytest.FixtureRequest, outer: Path, scripted: ThreadedServer) -> Product:
    """Return a project for each program there is."""
    return Product(outer, request.param, scripted)
