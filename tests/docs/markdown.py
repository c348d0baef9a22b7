"""Our Markdown as the tests of the documentation see it: fenced snippets, links and headings."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.architecture.source_tree import ROOT

_FENCE = re.compile(
    r"(?:^<!-- not run: (?P<reason>.+?) -->\n)?^```(?P<language>\w*)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL
)
_LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
_HEADING = re.compile(r"^#{1,6} (.+)$", re.MULTILINE)
_FILE_NAME = re.compile(r"# ([\w./-]+\.\w+)\n")


@dataclass(frozen=True)
class Snippet:
    """One fenced block; `file` is the name its first line gives it, `not_run` the reason on the line before."""

    page: str
    line: int
    language: str
    text: str
    not_run: str | None

    @property
    def at(self) -> str:
        return f"{self.page}:{self.line}"

    @property
    def file(self) -> str | None:
        match = _FILE_NAME.match(self.text)
        return None if match is None else match[1]


def pages() -> tuple[Path, ...]:
    """Every Markdown page of ours; those inside the package are prompts and examples."""
    return (*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md")))


def name_of(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def snippets(page: Path) -> tuple[Snippet, ...]:
    text = page.read_text(encoding="utf-8")
    return tuple(
        Snippet(
            page=name_of(page),
            line=text.count("\n", 0, match.start("language")) + 1,
            language=match["language"],
            text=match["text"],
            not_run=match["reason"],
        )
        for match in _FENCE.finditer(text)
    )


def prose(page: Path) -> str:
    """The page without its fenced blocks."""
    return _FENCE.sub("", page.read_text(encoding="utf-8"))


def links(page: Path) -> Iterator[str]:
    for target in _LINK.findall(prose(page)):
        if "://" not in target:
            yield target


def anchors(page: Path) -> set[str]:
    """The names under which the headings of a page can be linked to."""
    plain = (re.sub(r"[^\w\- ]", "", heading.lower()) for heading in _HEADING.findall(prose(page)))
    return {heading.replace(" ", "-") for heading in plain}
