"""What the contract suite cannot show: the shelf outlives a journal that was killed after any record."""

from __future__ import annotations

import asyncio
import gc

import pytest

from skillopt.domain.errors import StoreError
from skillopt.kernel.events import Warned
from skillopt.kernel.journal import PhaseRecord
from skillopt.kernel.memory import MemoryJournal, MemoryShelf
from skillopt.testing.journals.stage import FAILURE, PLAN, reply, send

RECORDS = 7


class PowerCutError(BaseException):
    """Nobody may catch this by accident."""


class Clock:
    """A clock that the test moves."""

    def __init__(self) -> None:
        self.time = 100.0

    def now(self) -> float:
        return self.time

    def wall(self) -> float:
        return self.time

    async def sleep(self, seconds: float) -> None:
        self.time += seconds


async def tell(journal: MemoryJournal) -> None:
    """Record an event, two attempts and their results, a phase and another event."""
    mine = journal.open_run("mine", PLAN)
    journal.append(mine, 0, Warned(message="one"))
    journal.append(mine, 0, Warned(message="one"))
    first = await send(journal, mine, mine.next_attempt, b"first", reply("first"))
    await send(journal, mine, mine.next_attempt + 1, b"second", FAILURE)
    journal.close_phase(mine, PhaseRecord(path="rollout", outcomes=(first, FAILURE)))
    journal.append(mine, 1, Warned(message="two"))


@pytest.mark.parametrize("killed_at", range(1, RECORDS + 1))
def test_a_crash_after_any_record_keeps_it_and_all_before(killed_at: int) -> None:
    shelf = MemoryShelf()
    counts: list[int] = []

    def crash(count: int) -> None:
        counts.append(count)
        if count == killed_at:
            raise PowerCutError

    dead = MemoryJournal(shelf, clock=Clock(), after_append=crash)
    with pytest.raises(PowerCutError):
        asyncio.run(tell(dead))
    assert counts == list(range(1, killed_at + 1))
    for call in (dead.runs, lambda: dead.find([b"first"]), lambda: dead.open_run("mine", PLAN)):
        with pytest.raises(StoreError, match="dead"):
            call()

    after = MemoryJournal(shelf, clock=Clock())
    again = after.open_run("mine", PLAN)
    spent = after.spent(again)
    recorded = len(after.events("mine")) + spent.attempts + spent.answered + spent.failed
    recorded += after.phase(again, "rollout") is not None
    assert recorded == killed_at
    assert spent.lost == int(killed_at in (2, 4))
    assert again.session == 2


def test_records_are_counted_and_nothing_else_is() -> None:
    counts: list[int] = []
    asyncio.run(tell(MemoryJournal(clock=Clock(), after_append=counts.append)))
    assert counts == list(range(1, RECORDS + 1))


def test_a_journal_that_was_dropped_holds_nothing() -> None:
    shelf = MemoryShelf()
    journal = MemoryJournal(shelf, clock=Clock())
    journal.open_run("mine", PLAN)
    after = MemoryJournal(shelf, clock=Clock())
    with pytest.raises(StoreError, match="'mine' is open in another journal"):
        after.open_run("mine", PLAN)
    del journal
    gc.collect()
    assert after.open_run("mine", PLAN).session == 2


def test_shelves_have_nothing_in_common() -> None:
    async def main() -> None:
        await tell(MemoryJournal(clock=Clock()))
        other = MemoryJournal(clock=Clock())
        assert other.runs() == ()
        assert other.find([b"first"]) == {}
        assert other.open_run("mine", b"another plan").session == 1

    asyncio.run(main())


def test_time_is_added_up_over_sessions() -> None:
    shelf, clock = MemoryShelf(), Clock()

    async def main() -> None:
        journal = MemoryJournal(shelf, clock=clock)
        mine = journal.open_run("mine", PLAN)
        clock.time += 30
        await send(journal, mine, 1, b"key", reply("a"))
        assert journal.spent(mine).seconds == 30.0
        await journal.close()
        clock.time += 1_000
        journal = MemoryJournal(shelf, clock=clock)
        mine = journal.open_run("mine", PLAN)
        clock.time += 5
        assert journal.spent(mine).seconds == 35.0
        # somebody set the clock back: that time is not taken off the others
        clock.time -= 500
        assert journal.spent(mine).seconds == 30.0
        (row,) = journal.runs()
        assert (row.started, row.sessions) == (100.0, 2)

    asyncio.run(main())
