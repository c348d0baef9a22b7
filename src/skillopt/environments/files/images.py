"""Images that tasks name: checked and digested before anything is asked, and opened again only when one is sent.
Owns what an image may be, and where in a conversation it is shown; refuses to know models."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path

import msgspec

from skillopt.domain.chat import Image, MediaType, Message
from skillopt.domain.errors import UsageError
from skillopt.domain.tasks import Task
from skillopt.environments.files.home import Home

MOST_BYTES = 20 * 1024 * 1024  # no provider takes more
_NAMED = 10  # how many bad images a message names before it only counts
_HEAD = 12  # bytes that tell what an image is


def read_images(tasks: Iterable[Task], home: Home) -> Mapping[str, Image]:
    """Return the images of these tasks by name; those that cannot be shown are a UsageError naming task and file."""
    found: dict[str, Image | str] = {}
    problems = []
    for task in tasks:
        for name in task.images:
            if name not in found:
                found[name] = home.problem(name) or _read(home.folder / name, name)
            image = found[name]
            if isinstance(image, str):
                problems.append(f"Task {task.id!r}: {image}.")
    if problems:
        shown = "\n".join(problems[:_NAMED])
        more = f"\n… and {len(problems) - _NAMED} more." if len(problems) > _NAMED else ""
        raise UsageError(f"{shown}{more}", hint="Correct these images, or take them out of the tasks.")
    return {name: image for name, image in found.items() if isinstance(image, Image)}


def media_type(head: bytes) -> MediaType | None:
    """Return what an image is, told by how it begins and not by its name."""
    if head.startswith(b"\x89PNG\r\n\x1a\n"):
        return "image/png"
    if head.startswith(b"\xff\xd8\xff"):
        return "image/jpeg"
    if head.startswith((b"GIF87a", b"GIF89a")):
        return "image/gif"
    return "image/webp" if head.startswith(b"RIFF") and head[8:_HEAD] == b"WEBP" else None


def shown_with(messages: tuple[Message, ...], images: Sequence[Image]) -> tuple[Message, ...]:
    """Return the messages with images at the first of the user's, where the context of a task stands, too."""
    if not images:
        return messages
    first = next(place for place, message in enumerate(messages) if message.role == "user")
    shown = msgspec.structs.replace(messages[first], images=tuple(images))
    return (*messages[:first], shown, *messages[first + 1 :])


def _read(path: Path, name: str) -> Image | str:
    """Return an image, or what is wrong with it."""
    try:
        path = path.resolve()
        if not path.is_file():
            return f"image {name!r} is no file"
        if path.stat().st_size > MOST_BYTES:
            return f"image {name!r} is larger than {MOST_BYTES >> 20} MiB"
        data = path.read_bytes()
    except OSError as error:
        return f"image {name!r} cannot be read: {error.strerror}"
    kind = media_type(data[:_HEAD])
    if kind is None:
        return f"image {name!r} is no PNG, JPEG, GIF or WebP"
    digest = hashlib.sha256(data).hexdigest()
    return Image(media_type=kind, digest=digest, fetch=partial(_again, path, name, digest))


def _again(path: Path, name: str, digest: str) -> bytes:
    """Return the bytes of an image that was read before; others under its name would answer another question."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise UsageError(f"Image {name!r} can no longer be read: {error.strerror}.", hint="Put it back.") from error
    if hashlib.sha256(data).hexdigest() != digest:
        raise UsageError(
            f"Image {name!r} has changed since this run read its tasks.",
            hint="Put the old one back, or start again: with another image it is another question.",
        )
    return data
