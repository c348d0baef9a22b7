from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from skillopt.domain.chat import Reply
from skillopt.domain.errors import StoreError
from skillopt.kernel.journal import Key, Ref, Stored
from skillopt.kernel.memory import MemoryJournal
from skillopt.kernel.run import Run
from skillopt.kernel.work import Outcome
from skillopt.testing.clock import VirtualClock
from skillopt.testing.conversation import BrainReply, Conversation
from skillopt.testing.faults import FaultKind
from skillopt.testing.scripted import ScriptedChat
from tests.unit.kernel.bench import Bench

MANY = [str(number) for number in range(900)]


class Durable(MemoryJournal):
    """Knows what was recorded before the latest sync, and refuses to be read beyond it."""

    def __init__(self, bench: Bench) -> None:
        super().__init__(bench.shelf, clock=VirtualClock())
        self.synced: set[str] = set()
        self.fetched: list[int] = []
        self.shelf = bench.shelf
        self.broken = False

    async def sync(self) -> None:
        """Take a while, like a disk."""
        known = {stored.answer.text for stored in self.shelf.stored.values()}
        await asyncio.sleep(0.01)
        if self.broken:
            raise StoreError("The disk is gone.")
        self.synced |= known

    def fetch(self, refs: Sequence[Ref]) -> dict[Ref, Stored]:
        """Note how much is read."""
        self.fetched.append(len(refs))
        return super().fetch(refs)


def echo(conversation: Conversation) -> BrainReply:
    if conversation.asked == "7":
        return BrainReply(fault=FaultKind.CONTEXT)
    return BrainReply(text=conversation.asked)


def words(outcome: Outcome) -> str:
    return outcome.text if isinstance(outcome, Reply) else outcome.kind


def test_outcomes_are_shown_in_order_once_they_are_durable_while_others_are_under_way() -> None:
    bench = Bench(ScriptedChat(echo, latency=1.0))
    journal = Durable(bench)
    shown: list[tuple[int, str]] = []
    under_way: list[int] = []

    def see(place: int, outcome: Outcome) -> None:
        assert isinstance(outcome, Reply) is (place != 7)
        if isinstance(outcome, Reply):
            assert outcome.text in journal.synced
        shown.append((place, words(outcome)))
        under_way.append(len(MANY) - len(journal.shelf.stored))

    async def work(run: Run) -> tuple[Outcome, ...]:
        return await run.do("p", "rollout", bench.asks(*MANY), see)

    outcomes = bench.live(work, journal=journal)
    expected = [text if text != "7" else "ContextTooLongError" for text in MANY]
    assert [words(outcome) for outcome in outcomes] == expected
    assert shown == list(enumerate(expected))[: len(shown)]
    assert len(shown) >= 500
    assert under_way[0] > 500
    assert sum(journal.fetched) == len(MANY) - 1
    # once more, from the journal: the same, and nothing is waited for, so nothing is shown
    shown.clear()
    assert bench.live(work) == outcomes
    assert shown == []


def test_a_phase_of_usual_size_is_read_at_its_end() -> None:
    bench = Bench(ScriptedChat(echo))

    def see(_place: int, _outcome: Outcome) -> None:
        raise AssertionError("nothing is read early")

    async def work(run: Run) -> tuple[Outcome, ...]:
        return await run.do("p", "rollout", bench.asks(*MANY[:40]), see)

    assert len(bench.live(work)) == 40


def test_what_goes_wrong_on_the_way_is_said_at_the_end_and_nothing_is_left_running() -> None:
    bench = Bench(ScriptedChat(echo, latency=1.0))
    journal = Durable(bench)
    journal.broken = True

    async def work(run: Run) -> None:
        with pytest.raises(StoreError, match="The disk is gone"):
            await run.do("p", "rollout", bench.asks(*MANY))
        journal.broken = False
        assert len(asyncio.all_tasks()) == 1

    bench.live(work, journal=journal)
    assert bench.chat.calls == len(MANY)


def test_cancelling_stops_the_reading_too() -> None:
    bench = Bench(ScriptedChat(echo, latency=1.0))
    seen: list[Key] = []

    async def work(run: Run) -> None:
        asking = asyncio.ensure_future(run.do("p", "rollout", bench.asks(*MANY), lambda *_: seen.append(b"")))
        await asyncio.sleep(100.5)
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        before = len(seen)
        await asyncio.sleep(1000)
        assert len(seen) == before
        assert len(asyncio.all_tasks()) == 1

    bench.live(work)
