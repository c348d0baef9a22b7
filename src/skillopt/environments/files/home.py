"""Where files that a project names may lie: in one folder and those that are allowed besides, whatever links say.
Owns the rule; refuses to open anything."""

from __future__ import annotations

from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import NamedTuple


class Home(NamedTuple):
    """A folder that names start from, and the folders in which the files may lie besides."""

    folder: Path
    allowed: tuple[Path, ...] = ()

    def problem(self, name: str) -> str | None:
        """Return what is wrong with the name of a file: it must stay inside, and be there."""
        windows, posix = PureWindowsPath(name), PurePosixPath(name)
        plain = not (windows.anchor or posix.anchor or ".." in windows.parts)
        homes = (self.folder, *self.allowed) if plain else self.allowed
        try:
            target = (self.folder / name).resolve()
            inside = any(target.is_relative_to(home) for home in homes)
            there = inside and bool(name.strip()) and target.exists()
        except (OSError, RuntimeError, ValueError) as error:
            return f"file {name!r} cannot be used: {error}"
        if not inside:
            return f"file {name!r} lies outside the task folder; list its folder in environment.allow_paths"
        return None if there else f"file {name!r} does not exist in the task folder"
