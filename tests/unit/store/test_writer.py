from __future__ import annotations

import asyncio
import sqlite3
import threading
from collections.abc import Callable, Coroutine, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import pytest

from skillopt.domain.errors import StoreError, UsageError
from skillopt.store import codec
from skillopt.store.connection import open_to_write
from skillopt.store.transactions import Transactions
from skillopt.store.writer import Record, Writer


class Gate:
    """Holds the writer before its first group until the test lets it go on."""

    def __init__(self) -> None:
        self.reached = threading.Event()
        self.open = threading.Event()

    def wait(self, _connection: sqlite3.Connection) -> None:
        self.reached.set()
        assert self.open.wait(30)


class Story:
    """One writer, and what it said was committed, group by group."""

    def __init__(
        self, path: Path, *, after_append: Callable[[int], None] | None = None, group_limit: int = 100
    ) -> None:
        self.groups: list[list[object]] = []
        self.path = path
        self.writer = Writer(
            path,
            connect=lambda: Transactions(open_to_write(path)),
            committed=self.note,
            after_append=after_append,
            group_limit=group_limit,
        )

    def note(self, records: Sequence[Record]) -> None:
        self.groups.append([record.encoded.row[0] for record in records])

    def put(self, attempt: int, waiter: asyncio.Future[None] | None = None) -> None:
        row = (attempt, b"key", "target", 0, 1, 2, 3, 4, 5, 0.5)
        self.writer.put(Record("intents", codec.Encoded(row), 1.0, waiter))

    async def put_and_wait(self, attempt: int) -> None:
        waiter = asyncio.get_running_loop().create_future()
        self.put(attempt, waiter)
        await waiter

    def held(self) -> Gate:
        """Make the writer wait inside a call, from another thread, so that a queue builds up behind it."""
        gate = Gate()
        threading.Thread(target=self.writer.call, args=(1.0, gate.wait), daemon=True).start()
        assert gate.reached.wait(30)
        return gate


def run(main: Coroutine[Any, Any, None]) -> None:
    """Run a test, and end it if somebody waits for a writer that will never answer."""

    async def bounded() -> None:
        async with asyncio.timeout(30):
            await main

    asyncio.run(bounded())


def test_what_waits_together_is_committed_together(tmp_path: Path) -> None:
    story = Story(tmp_path / "journal.sqlite3")

    async def main() -> None:
        gate = story.held()
        waiting = [asyncio.ensure_future(story.put_and_wait(attempt)) for attempt in range(5)]
        await asyncio.sleep(0)
        gate.open.set()
        await asyncio.gather(*waiting)
        await story.writer.sync(1.0)
        await story.writer.stop(1.0)

    run(main())
    assert [group for group in story.groups if group] == [[0, 1, 2, 3, 4]]


def test_order_is_kept_across_groups_and_calls(tmp_path: Path) -> None:
    seen: list[int] = []
    story = Story(tmp_path / "journal.sqlite3", after_append=seen.append, group_limit=2)

    def count(connection: sqlite3.Connection) -> int:
        (number,) = connection.execute("SELECT count(*) FROM intents").fetchone()
        return int(number)

    async def main() -> None:
        for attempt in range(5):
            story.put(attempt)
        assert story.writer.call(1.0, count) == 5
        story.put(5)
        await story.writer.sync(1.0)
        assert [*chain(*story.groups)] == [0, 1, 2, 3, 4, 5]
        assert max(len(group) for group in story.groups) <= 2
        await story.writer.stop(1.0)

    run(main())
    assert seen == [1, 2, 3, 4, 5, 6]


def test_a_refusal_concerns_its_caller_only(tmp_path: Path) -> None:
    story = Story(tmp_path / "journal.sqlite3")

    def refuse(_connection: sqlite3.Connection) -> None:
        raise UsageError("No such run.")

    async def main() -> None:
        story.put(1)
        with pytest.raises(UsageError, match="No such run"):
            story.writer.call(1.0, refuse)
        await story.put_and_wait(2)
        await story.writer.stop(1.0)

    run(main())


def test_everyone_is_told_when_the_writer_dies(tmp_path: Path) -> None:
    """Who waits in the group that fails, who waits behind it, and who comes later."""

    def full(number: int) -> None:
        if number == 2:
            raise OSError(28, "No space left on device")

    story = Story(tmp_path / "journal.sqlite3", after_append=full, group_limit=1)

    async def main() -> None:
        gate = story.held()
        waiting = [asyncio.ensure_future(story.put_and_wait(attempt)) for attempt in range(4)]
        waiting.append(asyncio.ensure_future(story.writer.sync(1.0)))
        await asyncio.sleep(0)
        gate.open.set()
        first, *others = await asyncio.gather(*waiting, return_exceptions=True)
        assert first is None
        assert [type(other) for other in others] == [StoreError] * 4
        assert "No space left on device" in str(others[0])
        assert "free some space" in str(others[0])
        for later in (story.put_and_wait(9), story.writer.sync(1.0), story.writer.stop(1.0)):
            with pytest.raises(StoreError, match="No space left on device"):
                await later
        with pytest.raises(StoreError, match="No space left on device"):
            story.writer.call(1.0, lambda _: None)

    run(main())


def test_a_call_in_the_way_of_a_death_is_told_too(tmp_path: Path) -> None:
    story = Story(tmp_path / "journal.sqlite3")

    def break_down(connection: sqlite3.Connection) -> None:
        connection.execute("SELECT * FROM nowhere")

    with pytest.raises(StoreError, match="no such table: nowhere"):
        story.writer.call(1.0, break_down)
    with pytest.raises(StoreError, match="no such table: nowhere"):
        story.put(1)


def test_a_writer_that_cannot_begin_says_so(tmp_path: Path) -> None:
    (tmp_path / "journal.sqlite3").mkdir()
    with pytest.raises(StoreError, match="could not be opened"):
        Story(tmp_path / "journal.sqlite3")


def test_a_stopped_writer_takes_nothing_more(tmp_path: Path) -> None:
    story = Story(tmp_path / "journal.sqlite3")

    async def main() -> None:
        story.put(1)
        await story.writer.stop(1.0)
        assert story.groups == [[1]]
        with pytest.raises(StoreError, match="closed"):
            story.put(2)

    run(main())
    assert not (tmp_path / "journal.sqlite3-wal").exists()


def test_who_stopped_waiting_is_no_trouble(tmp_path: Path) -> None:
    story = Story(tmp_path / "journal.sqlite3")

    async def main() -> None:
        gate = story.held()
        waiting = asyncio.ensure_future(story.put_and_wait(1))
        await asyncio.sleep(0)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        gate.open.set()
        await story.put_and_wait(2)
        await story.writer.stop(1.0)

    run(main())
    assert [*chain(*story.groups)] == [1, 2]


def test_a_loop_that_is_gone_is_no_trouble(tmp_path: Path) -> None:
    story = Story(tmp_path / "journal.sqlite3")
    gate = story.held()

    async def leave() -> None:
        story.put(1, asyncio.get_running_loop().create_future())

    async def come_back() -> None:
        gate.open.set()
        await story.put_and_wait(2)
        await story.writer.stop(1.0)

    run(leave())
    run(come_back())
    assert [*chain(*story.groups)] == [1, 2]
