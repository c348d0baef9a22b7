"""Mends the markers of a skill document on disk, when a person asks for it.
Owns reading and writing that one file, its mode kept; refuses to know how markers are mended."""

from __future__ import annotations

import stat
from pathlib import Path

import msgspec

from skillopt.domain.errors import UsageError
from skillopt.domain.skill import SKILL_FILE
from skillopt.domain.skill.mending import mend_markers
from skillopt.store.files import write_atomic
from skillopt.train.pages.changes import diff_lines


class Mending(msgspec.Struct, frozen=True, kw_only=True):
    """What was done to a document: its notes and its diff, both empty when its markers were sound."""

    file: str
    notes: tuple[str, ...]
    diff: tuple[str, ...]


def mend_file(path: Path) -> Mending:
    """Mend the markers of a document, or of the SKILL.md of a folder, and write it back whole or not at all."""
    file = path / SKILL_FILE if path.is_dir() else path
    if file.is_symlink() or not file.is_file():
        raise UsageError(f"{file} is no file of its own.", hint="Name a skill document, or a folder with SKILL.md.")
    try:
        before = file.read_bytes().decode("utf-8")
        mended = mend_markers(before)
        if mended.text != before:
            write_atomic(file, mended.text.encode("utf-8"), mode=stat.S_IMODE(file.stat().st_mode))
    except UnicodeDecodeError as error:
        raise UsageError(f"{file.name} is not a text in UTF-8.", hint="A skill is a Markdown document.") from error
    except OSError as error:
        raise UsageError(f"{file} cannot be mended: {error.strerror}.", hint="Nothing was changed.") from error
    return Mending(file=file.name, notes=mended.notes, diff=diff_lines({file.name: before}, {file.name: mended.text}))
