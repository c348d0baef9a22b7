from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from skillopt.domain.errors import StoreError, UsageError
from skillopt.kernel.clock import SystemClock
from skillopt.kernel.journal import Journal
from skillopt.kernel.memory import MemoryJournal, MemoryShelf
from skillopt.testing.journals.stage import PLAN, Disk, JournalSuite, broken_promises, refused, refused_later, story


def fails(error: Exception) -> Callable[[], object]:
    def call() -> object:
        raise error

    return call


def test_a_refusal_is_the_right_one_with_the_right_words() -> None:
    refused(StoreError, fails(StoreError("Run 'mine' is open.")), "mine", "open")
    with pytest.raises(AssertionError, match="does not say"):
        refused(StoreError, fails(StoreError("Run 'mine' is open.")), "yours")
    with pytest.raises(AssertionError, match="no StoreError, but 5"):
        refused(StoreError, lambda: 5)
    with pytest.raises(UsageError):
        refused(StoreError, fails(UsageError("You again.")))


def test_a_later_refusal_is_expected_too() -> None:
    async def fine() -> None:
        pass

    async def broken() -> None:
        raise StoreError("No.")

    asyncio.run(refused_later(broken()))
    with pytest.raises(AssertionError, match="no StoreError"):
        asyncio.run(refused_later(fine()))


class Small(JournalSuite):
    """One test that holds, one that does not, and one that the journal breaks by raising."""

    def __init__(self) -> None:
        self.opened: list[Journal] = []

    def make(self, tmp_path: Path) -> Callable[[], Journal]:
        shelf = MemoryShelf()

        def reopen() -> Journal:
            self.opened.append(MemoryJournal(shelf, clock=SystemClock()))
            return self.opened[-1]

        return reopen

    @story
    async def test_holds(self, disk: Disk) -> None:
        assert disk.open().runs() == ()

    @story
    async def test_fails(self, disk: Disk) -> None:
        disk.open().open_run("mine", PLAN)
        assert disk.open().runs() == ()

    @story
    async def test_raises(self, disk: Disk) -> None:
        disk.open().open_run("mine", PLAN)
        disk.open().open_run("mine", PLAN)


def test_broken_promises_are_named_and_everything_is_closed(tmp_path: Path) -> None:
    suite = Small()
    assert broken_promises(suite, tmp_path) == ("test_fails", "test_raises")
    assert len(suite.opened) == 5
    for journal in suite.opened:
        refused(StoreError, journal.runs, "closed")


def test_a_suite_must_say_how_journals_are_made(tmp_path: Path) -> None:
    with pytest.raises(NotImplementedError):
        JournalSuite().make(tmp_path)
