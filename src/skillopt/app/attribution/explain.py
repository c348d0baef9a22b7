"""Finds the run that made a document, by the document's own text, and explains its lines.
Owns how a place such as `best_skill.md:12` is read; refuses to know how lines are traced."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from skillopt.app.workspace import JOURNAL, WORKSPACE
from skillopt.domain.errors import UsageError, unknown_name
from skillopt.domain.skill import SKILL_FILE
from skillopt.kernel.events import Event, SkillKept
from skillopt.kernel.view import view_of
from skillopt.store.reader import SqliteReader
from skillopt.train.attribution.blame import blame_of
from skillopt.train.attribution.explain import Explained, Page, explained

_PLACE = re.compile(r"(?P<name>.+?)(?::(?P<line>\d+))?")


def explain(place: str, workspace: Path | None) -> Explained:
    """Explain `PATH`, `PATH:LINE`, `RUN` or `RUN:LINE`; a run stands for its best skill."""
    match = _PLACE.fullmatch(place)
    if match is None:
        raise UsageError("Nothing was named to explain.", hint="Name a skill file or a run, such as best_skill.md:12.")
    number = None if match["line"] is None else int(match["line"])
    path = Path(match["name"])
    if path.is_file():
        return _file(path, number, _around(path) if workspace is None else workspace)
    return _run(match["name"], number, Path(WORKSPACE) if workspace is None else workspace)


def _around(path: Path) -> Path:
    """Return the workspace that a file lies in, or else the one of this folder."""
    inside = (folder for folder in path.resolve().parents if (folder / JOURNAL).is_file())
    return next(inside, Path(WORKSPACE))


def _file(path: Path, number: int | None, workspace: Path) -> Explained:
    text = _text(path)
    if (workspace / JOURNAL).is_file():
        own = path.resolve().parts
        with SqliteReader(workspace / JOURNAL) as reader:
            newest_first = [row.name for row in reversed(reader.runs())]
            for run in sorted(newest_first, key=lambda name: name not in own):
                events = reader.events(run)
                page = next(_pages(run, events, text), None)
                if page is not None:
                    return explained(blame_of(events), page, number)
    raise UsageError(
        f"No run in {workspace} knows the document {path.name} as it stands.",
        hint="Only a file as a run wrote it can be explained; name its workspace, or the run: skillopt explain RUN:12.",
    )


def _pages(run: str, events: tuple[Event, ...], text: str) -> Iterator[Page]:
    """Yield where this text stands among the skills of a run, the earliest first."""
    traced = blame_of(events).pages
    for event in events:
        if isinstance(event, SkillKept) and event.digest in traced:
            for file, own in event.files.items():
                if own == text:
                    yield Page(run=run, skill_digest=event.digest, file=file)


def _run(name: str, number: int | None, workspace: Path) -> Explained:
    if not (workspace / JOURNAL).is_file():
        raise UsageError(
            f"There is neither a file {name!r} nor a workspace at {workspace}.", hint="Name one with --workspace."
        )
    with SqliteReader(workspace / JOURNAL) as reader:
        names = [row.name for row in reader.runs()]
        if name not in names:
            raise unknown_name("file or run", name, names)
        events = reader.events(name)
    blame, digest = blame_of(events), _best(events)
    if digest not in blame.pages:
        raise UsageError(f"Run {name!r} has measured no skill yet.", hint="Let it go on, then ask again.")
    return explained(blame, Page(run=name, skill_digest=digest, file=SKILL_FILE), number)


def _best(events: tuple[Event, ...]) -> str:
    """Return the digest of the best skill so far; that of the seed before the first step is whole."""
    view = view_of(events)
    if view.ended is not None:
        return view.ended.best_digest
    ended = view.finished_steps[-1].ended if view.finished_steps else None
    return next(iter(view.skills), "") if ended is None else ended.best_digest


def _text(path: Path) -> str:
    try:
        return path.read_bytes().decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path.name} cannot be read as UTF-8 text.", hint="Name a skill file of a run.") from error
