"""Output of the real program, as it was kept: it lies beside the repository."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

SAMPLES = Path(__file__).parents[4].parent / "shared" / "samples" / "codex"


@pytest.fixture
def sample() -> Callable[[str], bytes]:
    def read(name: str) -> bytes:
        if not SAMPLES.is_dir():
            pytest.skip(f"the samples of Codex are not there: {SAMPLES}")
        return (SAMPLES / name).read_bytes()

    return read
