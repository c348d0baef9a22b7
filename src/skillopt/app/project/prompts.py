"""Reads the folder of prompts that a person puts in the place of those of skillopt.
Owns where that folder may lie and which files count; refuses to know what a prompt may hold."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from skillopt.domain.errors import UsageError
from skillopt.phases.prompting import Prompts

_LARGEST_FILE = 200_000


def read_prompts(root: Path, path: str | None, scrub: Callable[[str], str] = str) -> Prompts:
    """Return the prompts of a run; the folder must lie inside the config's, links followed."""
    if path is None:
        return Prompts()
    place = (root / path).resolve()
    if not place.is_relative_to(root.resolve()):
        raise UsageError(
            f"prompts: {path} lies outside the folder of the configuration.", hint="Move the prompts beside the config."
        )
    if not place.is_dir():
        raise UsageError(f"prompts: there is no folder {path}.", hint="Name a folder of Markdown files.")
    files = sorted(file for file in place.iterdir() if not file.name.startswith("."))
    return Prompts.replacing({_name(file): scrub(_text(file)) for file in files})


def _name(file: Path) -> str:
    return file.stem if file.suffix == ".md" else file.name


def _text(file: Path) -> str:
    if not file.is_file() or file.is_symlink() or file.stat().st_size > _LARGEST_FILE:
        raise UsageError(
            f"The prompt {file.name} is not a file of at most {_LARGEST_FILE:,} bytes.", hint="Take it out of prompts."
        )
    try:
        return file.read_bytes().decode("utf-8").replace("\r\n", "\n").rstrip("\n")
    except UnicodeDecodeError as error:
        raise UsageError(f"The prompt {file.name} is not text in UTF-8.", hint="Save it as UTF-8.") from error
