"""What can be told of one document of a run: its lines with their origins, and the changes behind them.
Owns the field names of `explain --json`; refuses to know where the document was found."""

from __future__ import annotations

import msgspec

from skillopt.domain.errors import UsageError
from skillopt.kernel.events import EditFact
from skillopt.train.attribution.blame import Blame, Origin


class ExplainedLine(msgspec.Struct, frozen=True, kw_only=True):
    """One line: what brought it in, the edit that wrote it, and the train tasks that failed without it."""

    number: int
    text: str
    origin: str
    edit: EditFact | None
    failed_without: tuple[str, ...]


class Explained(msgspec.Struct, frozen=True, kw_only=True):
    """What `explain --json` prints: the lines asked for, and each origin they name once.

    `line` is the number of the one line that was asked for; None means all of them.
    """

    run: str
    file: str
    skill_digest: str
    line: int | None
    lines: tuple[ExplainedLine, ...]
    origins: tuple[Origin, ...]

    def origin(self, name: str) -> Origin:
        """Return the origin of this name."""
        return next(origin for origin in self.origins if origin.name == name)


class Page(msgspec.Struct, frozen=True, kw_only=True):
    """Which file of which skill of a run is asked about."""

    run: str
    skill_digest: str
    file: str


def explained(blame: Blame, page: Page, number: int | None = None) -> Explained:
    """Return a page with all its lines, or with the one of this number, from 1."""
    lines = tuple(
        ExplainedLine(
            number=place, text=line.text, origin=line.origin, edit=line.edit, failed_without=line.failed_without
        )
        for place, line in enumerate(blame.pages[page.skill_digest][page.file], start=1)
    )
    if number is not None and not 1 <= number <= len(lines):
        raise UsageError(
            f"{page.file} of run {page.run!r} has {len(lines)} lines; there is no line {number}.",
            hint="Name one of them, or leave the number away to see all.",
        )
    asked = lines if number is None else (lines[number - 1],)
    names = dict.fromkeys(line.origin for line in asked)
    return Explained(
        run=page.run,
        file=page.file,
        skill_digest=page.skill_digest,
        line=number,
        lines=asked,
        origins=tuple(blame.origins[name] for name in names),
    )
