"""Pages are short, their links lead somewhere, and their snippets are of kinds that are tested."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.architecture.source_tree import ROOT
from tests.docs.markdown import anchors, links, name_of, pages, snippets

LINES_AT_MOST = {"README.md": 100, "ARCHITECTURE.md": 120}
LINES_A_DECISION = 30
DECISIONS = ROOT / "docs" / "decisions"
RUN_OR_PARSED = {"sh", "python", "yaml", "json", "text"}
# who may say that a snippet is not run, and how often
NOT_RUN = {"README.md": 1, "docs/how-to/test-your-backend.md": 1}


@pytest.mark.parametrize("page", pages(), ids=name_of)
def test_links_lead_somewhere(page: Path) -> None:
    for link in links(page):
        path, _, anchor = link.partition("#")
        target = (page.parent / path) if path else page
        assert target.exists(), f"{name_of(page)} links to {link}, which is not there"
        assert not anchor or anchor in anchors(target), f"{name_of(page)} links to {link}: no such heading"


@pytest.mark.parametrize("page", pages(), ids=name_of)
def test_snippets_are_of_a_kind_that_is_tested(page: Path) -> None:
    assert {snippet.language for snippet in snippets(page)} <= RUN_OR_PARSED
    assert page.read_text(encoding="utf-8").count("\n```") == 2 * len(snippets(page)), "a fence is not closed"


def test_few_snippets_are_not_run() -> None:
    found = {name_of(page): sum(snippet.not_run is not None for snippet in snippets(page)) for page in pages()}
    assert {name: count for name, count in found.items() if count} == NOT_RUN


def test_pages_that_everybody_reads_are_short() -> None:
    long = {
        name: lines
        for name, most in LINES_AT_MOST.items()
        if (lines := len((ROOT / name).read_text(encoding="utf-8").splitlines())) > most
    }
    assert not long


def test_decisions_are_numbered_and_on_one_page() -> None:
    files = sorted(DECISIONS.glob("*.md"))
    assert [int(file.name[:4]) for file in files] == list(range(1, len(files) + 1))
    for file in files:
        text = file.read_text(encoding="utf-8")
        assert len(text.splitlines()) <= LINES_A_DECISION, file.name
        assert text.startswith(f"# {int(file.name[:4])}. "), file.name
        assert [line for line in text.splitlines() if line.startswith("## ")] == [
            "## Context",
            "## Decision",
            "## Consequences",
        ], file.name
