"""The one thread that writes: it takes everything that waits as one transaction, so that a commit serves many requests.
Owns the queue and the promise that nobody waits for a writer that died; refuses to know what rows mean."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from collections import defaultdict, deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future as ThreadFuture
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from skillopt.domain.errors import SkilloptError, StoreError
from skillopt.kernel.journal import RunHandle, closed_journal
from skillopt.store import codec
from skillopt.store.bell import Bell
from skillopt.store.beside.blobs import blobs_of
from skillopt.store.connection import worded
from skillopt.store.transactions import Transactions

T = TypeVar("T")

_IDLE_SECONDS = 1.0


class Record(msgspec.Struct, frozen=True):
    """One row to be written, when it was recorded, and who waits until it survives a kill."""

    table: str
    encoded: codec.Encoded
    at: float
    waiter: asyncio.Future[None] | None = None


class _Sync(msgspec.Struct, frozen=True):
    """Everything before it must survive a loss of power."""

    at: float
    waiter: asyncio.Future[None]


class _Call(msgspec.Struct, frozen=True):
    """Work with a transaction of its own, and the thread that waits for it."""

    at: float
    work: Callable[[sqlite3.Connection], Any]
    watch: Callable[[Any], RunHandle] | None
    durable: bool
    done: ThreadFuture[Any]


class _Stop(msgspec.Struct, frozen=True):
    """The last item."""

    at: float
    waiter: asyncio.Future[None]


_Item = Record | _Sync | _Call | _Stop


class _Group(msgspec.Struct):
    """What one transaction writes, and who waits for it."""

    records: list[Record] = []
    waiters: list[asyncio.Future[None]] = []
    durable: bool = False
    at: float = 0.0


class Writer:
    """Writes what it is given, in order. `committed` is told, in the writer's thread, what is on disk now.

    `after_append` is called there after each commit, once for each record with the number of records so far, before
    anyone who waits is told: a process killed in it has written exactly so much. `group_limit=1` commits each record
    by itself. What is raised in the thread ends the writer.
    """

    def __init__(
        self,
        path: Path,
        *,
        connect: Callable[[], Transactions],
        committed: Callable[[Sequence[Record]], None],
        after_append: Callable[[int], None] | None,
        group_limit: int,
    ) -> None:
        self._path = path
        self._blobs = blobs_of(path)
        self._committed = committed
        self._after_append = after_append
        self._group_limit = group_limit
        self._items: deque[_Item] = deque()
        self._bell = Bell(group_limit)
        self._group = _Group()
        self._appended = 0
        self._ended: Callable[[], StoreError] | None = None
        opened: ThreadFuture[None] = ThreadFuture()
        self._thread = threading.Thread(target=self._live, args=(connect, opened), name="skillopt-journal", daemon=True)
        self._thread.start()
        opened.result()

    def check(self) -> None:
        """Raise a StoreError when the writer has died or was stopped."""
        if self._ended is not None:
            raise self._ended()

    def put(self, record: Record) -> None:
        """Take a record; raises at once when the writer has died.

        An intent that nobody waits for is noted elsewhere, so it is written when something else is.
        """
        self._enqueue(record)
        if record.waiter is not None:
            self._bell.ring()
        elif record.table != "intents":
            self._bell.count()

    async def sync(self, at: float) -> None:
        """Return when everything put so far is on disk for good. `at` is the time, here and below."""
        waiter = asyncio.get_running_loop().create_future()
        self._enqueue(_Sync(at, waiter))
        self._bell.ring()
        await waiter

    def call(
        self,
        at: float,
        work: Callable[[sqlite3.Connection], T],
        watch: Callable[[T], RunHandle] | None = None,
        *,
        durable: bool = True,
    ) -> T:
        """Do some work in a transaction of its own, after everything put so far, and wait for its value.

        `watch` says which session of that value is alive from now on, as every commit will note.
        """
        done: ThreadFuture[T] = ThreadFuture()
        self._enqueue(_Call(at, work, watch, durable, done))
        self._bell.ring()
        return done.result()

    async def stop(self, at: float) -> None:
        """Write what is left and close the database; raises what the writer died of, if it did."""
        waiter = asyncio.get_running_loop().create_future()
        self._enqueue(_Stop(at, waiter))
        self._bell.ring()
        await waiter
        self._thread.join()

    def _enqueue(self, item: _Item) -> None:
        self.check()
        self._items.append(item)
        if self._ended is not None:
            # it died between the check and the put: nobody else will empty the queue
            _abandon(self._drained(), self._ended)

    def _live(self, connect: Callable[[], Transactions], opened: ThreadFuture[None]) -> None:
        """Run the thread; whatever ends it reaches everyone who waits."""
        broken = StoreError(f"The writer of the journal {self._path} broke.", hint="Please report this.")
        transactions: Transactions | None = None
        stop: _Stop | None = None
        try:
            with worded(self._path, "be opened"):
                transactions = connect()
            opened.set_result(None)
            with worded(self._path, "be written"):
                stop = self._serve(transactions)
        except StoreError as error:
            broken = error
        finally:
            if transactions is not None:
                transactions.close()
            self._ended = closed_journal if stop is not None else lambda: StoreError(broken.message, hint=broken.hint)
            if not opened.done():
                opened.set_exception(broken)
            if stop is not None:
                _tell([stop.waiter], None)
            _tell(self._group.waiters, self._ended)
            _abandon(self._drained(), self._ended)

    def _serve(self, transactions: Transactions) -> _Stop:
        """Write until told to stop; a call or a stop counts as waiting until it is done."""
        while True:
            self._wait(transactions)
            waiting = len(self._items)
            while waiting > 0:
                item = self._items[0]
                if isinstance(item, _Stop):
                    transactions.call(item.at, lambda _: None)
                    self._items.popleft()
                    return item
                if isinstance(item, _Call):
                    self._answer(transactions, item)
                    waiting -= 1
                else:
                    waiting -= self._take()
                    self._commit(transactions, self._group)
                    self._group = _Group()

    def _wait(self, transactions: Transactions) -> None:
        """Return when something should be written; when nothing comes for a while, tidy up meanwhile."""
        while not self._bell.due(_IDLE_SECONDS if transactions.log_grew else None):
            transactions.tidy()

    def _take(self) -> int:
        """Put all that waits into the group, up to the next call, and say how much it was."""
        group, taken = self._group, 0
        while self._items and len(group.records) < self._group_limit:
            item = self._items[0]
            if isinstance(item, _Call | _Stop):
                break
            if isinstance(item, Record):
                group.records.append(item)
                if item.table != "intents" and item.waiter is None:
                    self._bell.take()
            else:
                group.durable = True
            if item.waiter is not None:
                group.waiters.append(item.waiter)
            group.at = item.at
            self._items.popleft()
            taken += 1
        return taken

    def _commit(self, transactions: Transactions, group: _Group) -> None:
        for record in group.records:
            if record.encoded.blob is not None:
                self._blobs.write(record.encoded.blob)
        rows = [(record.table, record.encoded.row) for record in group.records]
        transactions.write(group.at, rows, durable=group.durable)
        self._committed(group.records)
        if self._after_append is not None:
            for _ in group.records:
                self._appended += 1
                self._after_append(self._appended)
        _tell(group.waiters, None)

    def _answer(self, transactions: Transactions, call: _Call) -> None:
        """Do a call; what it refuses concerns its caller only, and a trouble of the disk ends the writer."""
        try:
            value = transactions.call(call.at, call.work, durable=call.durable)
        except SkilloptError as error:
            self._items.popleft()
            call.done.set_exception(error)
            return
        if call.watch is not None:
            transactions.watch(call.watch(value))
        self._items.popleft()
        call.done.set_result(value)

    def _drained(self) -> list[_Item]:
        """Empty the queue."""
        items: list[_Item] = []
        with suppress(IndexError):
            while True:
                items.append(self._items.popleft())
        return items


def _abandon(items: Sequence[_Item], reason: Callable[[], StoreError]) -> None:
    """Tell everyone who waits for one of these that the writer has ended."""
    for item in items:
        if isinstance(item, _Call):
            item.done.set_exception(reason())
    _tell([item.waiter for item in items if not isinstance(item, _Call) and item.waiter is not None], reason)


def _tell(waiters: Sequence[asyncio.Future[None]], reason: Callable[[], StoreError] | None) -> None:
    """Wake those who wait, once for each event loop; a loop that is gone has nobody waiting."""
    by_loop: dict[asyncio.AbstractEventLoop, list[asyncio.Future[None]]] = defaultdict(list)
    for waiter in waiters:
        by_loop[waiter.get_loop()].append(waiter)
    for loop, mine in by_loop.items():
        with suppress(RuntimeError):
            loop.call_soon_threadsafe(_wake, mine, reason)


def _wake(waiters: Sequence[asyncio.Future[None]], reason: Callable[[], StoreError] | None) -> None:
    for waiter in waiters:
        if waiter.done():
            continue
        if reason is None:
            waiter.set_result(None)
        else:
            waiter.set_exception(reason())
