"""The folder an agent works in: laid out fresh for each run, and looked through when the run is over.
Owns what lies where and what of it the agent left; refuses to know why, and never follows a link out."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath

import msgspec

from skillopt.agents.wording import INDEX, SKILL_HOME, TASK
from skillopt.domain.agency.errands import Attachment, Errand
from skillopt.domain.agency.transcripts import LeftFile
from skillopt.domain.errors import TaskError
from skillopt.domain.skill import SKILL_FILE, Skill

ATTACHMENTS = "attachments"
_SKILL_HOMES = (SKILL_HOME, ".claude/skills")
_OWN = frozenset({TASK, INDEX, ".agents", ".claude", ATTACHMENTS, "data"})
_PREFIX, _NAMELESS, _LONGEST_NAME = "skillopt-", "target", 64
_DESCRIPTION = "How the task in task.md is to be done. Read this before you begin."
_BLANK = "There is no guidance for this kind of task yet: go by the task itself."
_MOST_FILES, _LARGEST, _MOST_BYTES = 200, 256 << 10, 2 << 20


class Laid(msgspec.Struct, frozen=True, kw_only=True):
    """A folder as it was laid out: what each file held, to see afterwards what changed."""

    folder: Path
    before: Mapping[str, str]
    images: tuple[str, ...]


def skill_name(skill: Skill) -> str:
    """Return the name by which the agent finds the skill: like no other that it may have."""
    own = skill.declared_name or skill.name or _NAMELESS
    plain = re.sub(r"[^a-z0-9]+", "-", own.casefold()).strip("-") or _NAMELESS
    return f"{_PREFIX}{plain.removeprefix(_PREFIX)}"[:_LONGEST_NAME].rstrip("-")


def skill_text(skill: Skill, preamble: str | None) -> str:
    """Return SKILL.md as the agent finds it; of the front matter only the name and the description count."""
    description = " ".join((skill.description or _DESCRIPTION).split())
    head = f"---\nname: {skill_name(skill)}\ndescription: {msgspec.json.encode(description).decode()}\n---\n"
    parts = (preamble or "", skill.rendered.strip() or _BLANK)
    return f"{head}\n" + "\n\n".join(part.strip() for part in parts if part.strip()) + "\n"


def lay_out(folder: Path, errand: Errand, *, preamble: str | None = None) -> Laid:
    """Put everything of an errand into an empty folder; a file that is no longer what it was is a TaskError."""
    _write(folder / TASK, errand.instruction.rstrip() + "\n")
    for file in errand.files:
        _bring(file, folder / file.name)
    images = tuple(
        f"{ATTACHMENTS}/{number:02d}_{PurePosixPath(image.name).name}" for number, image in enumerate(errand.images, 1)
    )
    for image, name in zip(errand.images, images, strict=True):
        _bring(image, folder / name)
    if images:
        _write(folder / INDEX, "# Attachments\n\n" + "".join(f"- {name}\n" for name in images))
    for home in _SKILL_HOMES:
        place = folder / home / skill_name(errand.skill)
        _write(place / SKILL_FILE, skill_text(errand.skill, preamble))
        for beside in errand.skill.files[1:]:
            _write(place / beside.path, beside.text)
    return Laid(folder=folder, before={path: digest for path, _, digest in _contents(folder)}, images=images)


def left_files(laid: Laid) -> tuple[LeftFile, ...]:
    """Return what the agent made, changed or deleted, by path; what is too much is named without its content."""
    now = {path: (file, digest) for path, file, digest in _contents(laid.folder)}
    changed = [path for path in sorted(now) if laid.before.get(path) != now[path][1]]
    gone = [path for path in sorted(laid.before) if path not in now]
    room = _MOST_BYTES
    left: list[LeftFile] = []
    for path in changed[:_MOST_FILES]:
        file, digest = now[path]
        kept = _kept(path, file, digest, room)
        room -= kept.size if kept.text is not None or kept.data is not None else 0
        left.append(kept)
    return (*left, *(LeftFile(path=path, size=0, deleted=True) for path in gone[:_MOST_FILES]))


def _kept(path: str, file: Path, digest: str, room: int) -> LeftFile:
    size = file.stat().st_size
    if size > min(room, _LARGEST):
        return LeftFile(path=path, size=size, digest=digest)
    data = file.read_bytes()
    try:
        return LeftFile(path=path, size=size, digest=digest, text=data.decode("utf-8"))
    except UnicodeDecodeError:
        return LeftFile(path=path, size=size, digest=digest, data=data)


def _contents(folder: Path) -> Iterator[tuple[str, Path, str]]:
    """Yield the plain files that are not ours, with their digests; a link is the agent's affair and no file."""
    for place, folders, names in os.walk(folder):
        top = Path(place) == folder
        folders[:] = [name for name in folders if not (top and name in _OWN)]
        for name in names:
            file = Path(place, name)
            if (top and name in _OWN) or file.is_symlink() or not file.is_file():
                continue
            with file.open("rb") as content:
                digest = hashlib.file_digest(content, "sha256").hexdigest()
            yield file.relative_to(folder).as_posix(), file, digest


def _bring(file: Attachment, place: Path) -> None:
    source = Path(file.source)
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, place)
        with place.open("rb") as content:
            digest = hashlib.file_digest(content, "sha256").hexdigest()
    except OSError as error:
        raise TaskError(
            f"The task's file {file.name!r} cannot be read: {error.strerror}.", hint="Put it back where it was."
        ) from error
    if digest != file.digest:
        raise TaskError(
            f"The task's file {file.name!r} has changed since the run began.", hint="Run the same command again."
        )


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8", newline="")
