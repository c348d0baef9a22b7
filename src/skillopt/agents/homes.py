"""Throw-away homes for agent programs: one for each run under way, empty but for what lasts.
Owns lending, cleaning and removing them; refuses to know what a program keeps there."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path, PurePosixPath


class Homes:
    """Lends a home to one run at a time. Between runs everything in it is removed, except the paths that last.

    What lasts is what a program unpacks for itself at its first start; no run's words are ever there for the next.
    """

    def __init__(self, lasting: Sequence[str] = ()) -> None:
        self._lasting = tuple(PurePosixPath(path) for path in lasting)
        self._free: list[Path] = []
        self._all: list[Path] = []

    @contextmanager
    def lent(self) -> Iterator[Path]:
        """Lend a home for as long as the block lasts."""
        home = self._free.pop() if self._free else self._made()
        try:
            yield home
        finally:
            self._clean(home, PurePosixPath())
            self._free.append(home)

    def close(self) -> None:
        """Remove every home."""
        for home in self._all:
            shutil.rmtree(home, ignore_errors=True)
        self._all.clear()
        self._free.clear()

    def _made(self) -> Path:
        home = Path(tempfile.mkdtemp(prefix="skillopt-home-"))
        self._all.append(home)
        return home

    def _clean(self, home: Path, below: PurePosixPath) -> None:
        for found in (home / below).iterdir():
            path = below / found.name
            if path in self._lasting:
                continue
            if found.is_dir() and not found.is_symlink():
                if any(lasting.is_relative_to(path) for lasting in self._lasting):
                    self._clean(home, path)
                else:
                    shutil.rmtree(found, ignore_errors=True)
            else:
                found.unlink(missing_ok=True)
