"""Reads a skill from disk: one document, or a folder with SKILL.md.
Owns which files of a folder belong to the skill; refuses to know what is done with it."""

from __future__ import annotations

from pathlib import Path

from skillopt.domain.errors import UsageError
from skillopt.domain.skill import SKILL_FILE, Skill

_LARGEST_FILE = 1_000_000


def read_skill(root: Path, path: str | None) -> Skill:
    """Return the skill at a path below the config's folder; a missing one is an error, never a blank start."""
    if path is None:
        return Skill.blank()
    place = root / path
    if place.is_file():
        return Skill.from_text(_text(place))
    if place.is_dir() and (place / SKILL_FILE).is_file():
        files = {file.relative_to(place).as_posix(): file for file in sorted(place.rglob("*")) if _belongs(place, file)}
        texts = {name: text for name, file in files.items() if (text := _maybe_text(file)) is not None}
        return Skill.from_files(texts, name=place.resolve().name)
    raise UsageError(
        f"There is no skill at {path}.",
        hint=f"Name a Markdown file or a folder with {SKILL_FILE}, or write `skill: null` to start from nothing.",
    )


def _belongs(place: Path, file: Path) -> bool:
    hidden = any(part.startswith(".") for part in file.relative_to(place).parts)
    return file.is_file() and not file.is_symlink() and not hidden


def _text(file: Path) -> str:
    text = _maybe_text(file)
    if text is None:
        raise UsageError(
            f"{file.name} is not a text file in UTF-8 of at most {_LARGEST_FILE:,} bytes.",
            hint="A skill is a Markdown document.",
        )
    return text


def _maybe_text(file: Path) -> str | None:
    """Return a text file exactly, line ends included; None for images, programs and the like."""
    data = file.read_bytes()
    if len(data) > _LARGEST_FILE:
        return None
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return None
