"""What the contract suite cannot show: kills, broken disks, other processes. Run as a script, it is the victim."""

from __future__ import annotations

import asyncio
import os
import signal
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable, Coroutine
from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec
import pytest

from skillopt.domain.errors import StoreError
from skillopt.domain.usage import NOTHING
from skillopt.kernel.clock import SystemClock
from skillopt.kernel.events import Warned
from skillopt.kernel.journal import PhaseRecord, Ref
from skillopt.store.connection import open_to_write
from skillopt.store.export import export_run, import_run
from skillopt.store.reader import SqliteReader
from skillopt.store.sqlite import SqliteJournal
from skillopt.testing.journals.stage import COST, FAILURE, PLAN, WORST, reply, send

RECORDS = 8
WIDE = "wide " * 10_000


def run(main: Coroutine[Any, Any, None]) -> None:
    """Run a test, and end it if somebody waits for ever."""

    async def bounded() -> None:
        async with asyncio.timeout(60):
            await main

    asyncio.run(bounded())


async def tell(journal: SqliteJournal, acknowledged: list[int]) -> None:
    """Record eight things, and note how many are known to be on the disk."""
    mine = journal.open_run("mine", PLAN)
    journal.append(mine, 0, Warned(message=WIDE))
    first = await send(journal, mine, mine.next_attempt, b"first", reply("first"))
    await send(journal, mine, mine.next_attempt + 1, b"second", FAILURE)
    await journal.sync()
    acknowledged.append(5)
    journal.close_phase(mine, PhaseRecord(path="rollout", outcomes=(first, FAILURE)))
    await send(journal, mine, mine.next_attempt + 2, b"third", reply(WIDE))
    acknowledged.append(6)  # the intent, which may overtake the phase before it
    await journal.sync()
    acknowledged.append(RECORDS)


def victim(arguments: list[str]) -> None:
    """What a killed process was doing: `at K` dies at the K-th record, `storm` writes until it is killed."""
    path, kind, *more = arguments
    if kind == "at":
        last = int(more[0])

        def die(count: int) -> None:
            if count == last:
                os.kill(os.getpid(), signal.SIGKILL)

        asyncio.run(tell(SqliteJournal(Path(path), clock=SystemClock(), after_append=die, group_limit=1), []))
        return
    if kind == "noted":
        asyncio.run(noted(Path(path), int(more[0])))
    asyncio.run(storm(SqliteJournal(Path(path), clock=SystemClock()), more[0], int(more[1])))


async def noted(path: Path, count: int) -> None:
    """Record intents while somebody else holds the database, so that none gets there, and die."""
    journal = SqliteJournal(path, clock=SystemClock())
    mine = journal.open_run("mine", PLAN)
    sqlite3.connect(path).execute("BEGIN IMMEDIATE")
    for number in range(count):
        await send(journal, mine, mine.next_attempt + number, f"noted {number}".encode(), None)
    os.kill(os.getpid(), signal.SIGKILL)


async def storm(journal: SqliteJournal, name: str, batches: int) -> None:
    """Write 16 units at a time and say how many are on the disk."""
    mine = journal.open_run(name, PLAN)
    for batch in range(batches):
        start = mine.next_attempt + 16 * batch
        await asyncio.gather(
            *(send(journal, mine, start + n, f"{name} {start + n}".encode(), reply(str(start + n))) for n in range(16))
        )
        await journal.sync()
        sys.stdout.write(f"{16 * (batch + 1)}\n")
        sys.stdout.flush()
    await journal.close()


def start(path: Path, *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, __file__, str(path), *arguments],
        stdout=subprocess.PIPE,
        text=True,
        env={"PYTHONPATH": os.pathsep.join(sys.path)},
    )


@pytest.mark.parametrize("killed_at", range(1, RECORDS + 1))
def test_a_kill_after_any_record_loses_nothing_before_it(tmp_path: Path, killed_at: int) -> None:
    path = tmp_path / "journal.sqlite3"
    with start(path, "at", str(killed_at)) as child:
        assert child.wait() == -signal.SIGKILL
    with SqliteReader(path) as viewer:
        (row,) = viewer.runs()
        assert (row.status, row.held) == ("running", False)
        spent = viewer.spent("mine")
        events, phases = viewer.events("mine"), viewer.phases("mine")
    recorded = len(events) + len(phases) + spent.attempts + spent.answered + spent.failed
    assert recorded == killed_at
    # in order: event, intent, answer, intent, failure, phase, intent, answer
    assert len(events) == 1
    assert spent.attempts == sum(killed_at >= at for at in (2, 4, 7))
    assert (spent.answered, spent.failed) == (sum(killed_at >= at for at in (3, 8)), int(killed_at >= 5))
    assert len(phases) == int(killed_at >= 6)
    assert spent.lost == int(killed_at in (2, 4, 7))
    assert spent.lost_usage.calls == spent.lost

    async def go_on() -> None:
        journal = SqliteJournal(path, clock=SystemClock())
        again = journal.open_run("mine", PLAN)
        assert (again.session, again.next_attempt) == (2, spent.attempts + 1)
        assert (b"first" in journal.find([b"first"])) is (killed_at >= 3)
        if killed_at == RECORDS:
            assert journal.find([b"third"])[b"third"].answer.text == WIDE
        await journal.close()

    run(go_on())


def test_a_kill_in_a_storm_loses_only_what_was_in_flight(tmp_path: Path) -> None:
    path = tmp_path / "journal.sqlite3"
    with start(path, "storm", "mine", "100000") as child:
        assert child.stdout is not None
        told = [int(child.stdout.readline()) for _ in range(20)][-1]
        with pytest.raises(StoreError, match=f"process {child.pid} since"):
            SqliteJournal(path, clock=SystemClock()).open_run("mine", PLAN)
        child.kill()
        told = max([told, *(int(line) for line in child.stdout if line.endswith("\n"))])

    async def look() -> None:
        journal = SqliteJournal(path, clock=SystemClock())
        again = journal.open_run("mine", PLAN)
        spent = journal.spent(again)
        assert spent.answered >= told
        assert spent.attempts == again.next_attempt - 1
        assert spent.answered + spent.lost == spent.attempts
        assert spent.lost <= 16
        keys = [f"mine {attempt}".encode() for attempt in range(1, told + 1)]
        assert {stored.answer.text for stored in journal.find(keys).values()} == {str(n) for n in range(1, told + 1)}
        await journal.close()

    run(look())
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)


def test_processes_write_their_runs_side_by_side(tmp_path: Path) -> None:
    """They also meet while the database is being made."""
    path = tmp_path / "workspace" / "journal.sqlite3"
    names = ("a", "b", "c")
    children = [start(path, "storm", name, "25") for name in names]
    ends = [child.communicate() for child in children]
    assert [child.returncode for child in children] == [0, 0, 0], ends
    with SqliteReader(path) as viewer:
        assert sorted(row.name for row in viewer.runs()) == list(names)
        assert [viewer.spent(name).answered for name in names] == [400, 400, 400]


def test_records_are_seen_while_the_disk_is_busy(tmp_path: Path) -> None:
    path = tmp_path / "journal.sqlite3"

    async def main() -> None:
        journal = SqliteJournal(path, clock=SystemClock())
        mine = journal.open_run("mine", PLAN)
        intent = asyncio.ensure_future(send(journal, mine, 1, b"key", reply("a")))
        ref = await intent
        await journal.sync()
        with closing(sqlite3.connect(path)) as other:
            other.execute("BEGIN IMMEDIATE")
            later = await send(journal, mine, 2, b"later", reply("b"))
            journal.append(mine, 0, Warned(message="busy"))
            record = PhaseRecord(path="rollout", outcomes=(ref,))
            journal.close_phase(mine, record)
            assert journal.find([b"later"])[b"later"].answer == reply("b")
            assert journal.events("mine") == (Warned(message="busy"),)
            assert journal.phase(mine, "rollout") == record
            with pytest.raises(StoreError, match="recorded phase 'rollout' before"):
                journal.close_phase(mine, record)
            assert other.execute("SELECT count(*) FROM events").fetchone() == (0,)
            other.execute("ROLLBACK")
        assert journal.fetch([later])[Ref(1, 2)].answer == reply("b")
        await journal.close()

    run(main())


def test_an_intent_is_known_to_others_when_it_is_acknowledged_whoever_else_writes(tmp_path: Path) -> None:
    path = tmp_path / "journal.sqlite3"

    async def main() -> None:
        journal = SqliteJournal(path, clock=SystemClock())
        mine = journal.open_run("mine", PLAN)
        with closing(sqlite3.connect(path)) as other, SqliteReader(path) as viewer:
            other.execute("BEGIN IMMEDIATE")
            await send(journal, mine, 1, b"plain", None)
            await send(journal, mine, 2, b"early", None, early=True)
            assert other.execute("SELECT count(*) FROM intents").fetchone() == (0,)
            spent = viewer.spent("mine")
            assert (spent.attempts, spent.lost, spent.charged) == (2, 0, NOTHING)
            assert sum('"line":"intent"' in line for line in export_run(path, "mine")) == 2
            other.execute("ROLLBACK")
            await journal.sync()
            assert other.execute("SELECT count(*) FROM intents").fetchone() == (2,)
            assert viewer.spent("mine") == msgspec.structs.replace(spent, seconds=viewer.spent("mine").seconds)
        await journal.close()

    run(main())
    assert [each.name for each in (tmp_path / "locks").iterdir()] == ["mine.lock"]


def test_what_was_noted_and_not_committed_is_lost_after_a_kill_and_charged_once(tmp_path: Path) -> None:
    path = tmp_path / "journal.sqlite3"
    with start(path, "noted", "3") as child:
        assert child.wait() == -signal.SIGKILL
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("SELECT count(*) FROM intents").fetchone() == (0,)
    with SqliteReader(path) as viewer:
        spent = viewer.spent("mine")
        assert (spent.attempts, spent.lost, spent.charged) == (3, 3, WORST + WORST + WORST)
    exported = list(export_run(path, "mine"))
    assert import_run(exported, tmp_path / "other" / "journal.sqlite3") == "mine"
    assert list(export_run(tmp_path / "other" / "journal.sqlite3", "mine")) == exported

    async def go_on(expected: int) -> None:
        journal = SqliteJournal(path, clock=SystemClock())
        again = journal.open_run("mine", PLAN)
        assert again.next_attempt == expected + 1
        spent = journal.spent(again)
        assert (spent.attempts, spent.lost) == (expected, expected)
        await send(journal, again, again.next_attempt, b"more", None)
        await journal.close()

    run(go_on(3))
    run(go_on(4))
    with SqliteReader(path) as viewer:
        assert (viewer.spent("mine").attempts, viewer.spent("mine").lost) == (5, 5)


def test_notes_of_a_removed_run_are_not_those_of_another(tmp_path: Path) -> None:
    """The next run takes its number and its name, and would take its notes if they did not say whose they are."""
    path = tmp_path / "journal.sqlite3"
    with start(path, "noted", "3") as child:
        assert child.wait() == -signal.SIGKILL
    left = (tmp_path / "locks" / "mine.intents").read_bytes()

    async def main() -> None:
        journal = SqliteJournal(path, clock=SystemClock())
        journal.remove_run("mine")
        assert not (tmp_path / "locks" / "mine.intents").exists()
        (tmp_path / "locks" / "mine.intents").write_bytes(left)
        mine = journal.open_run("mine", PLAN)
        assert (mine.number, mine.next_attempt) == (1, 1)
        assert journal.spent(mine).attempts == 0
        await journal.close()

    run(main())


def test_an_answer_is_found_before_it_is_committed(tmp_path: Path) -> None:
    path = tmp_path / "journal.sqlite3"

    async def main() -> None:
        journal = SqliteJournal(path, clock=SystemClock())
        mine = journal.open_run("mine", PLAN)
        with closing(sqlite3.connect(path, timeout=30)) as other:
            # the answer is recorded in the same turn of the loop in which its intent is known to be on the disk
            ref = await send(journal, mine, 1, b"key", reply("a"))
            assert journal.find([b"key"])[b"key"].ref == ref
            assert journal.fetch([ref])[ref].answer == reply("a")
            await journal.sync()
            assert other.execute("SELECT count(*) FROM answers").fetchone() == (1,)
        assert journal.find([b"key"])[b"key"].ref == ref
        await journal.close()

    run(main())


class Failing(sqlite3.Connection):
    """A connection on which one statement finds the disk broken, and all after it too."""

    left = 0

    def execute(self, sql: str, parameters: sqlite3._Parameters = (), /) -> sqlite3.Cursor:
        self.left -= 1
        if self.left < 0:
            raise sqlite3.OperationalError("disk I/O error")
        return super().execute(sql, parameters)


def breaking_after(statements: int) -> Callable[[Path], sqlite3.Connection]:
    def connect(path: Path) -> sqlite3.Connection:
        open_to_write(path).close()
        connection = sqlite3.connect(path, isolation_level=None, factory=Failing)
        connection.left = statements
        return connection

    return connect


def test_a_disk_that_breaks_at_any_statement_is_an_error_and_never_a_hang(tmp_path: Path) -> None:
    """What was acknowledged before is there afterwards; a disk that breaks late enough lets the story end."""
    statements = 0
    while not asyncio.run(told_whole(tmp_path / str(statements) / "journal.sqlite3", breaking_after(statements))):
        statements += 1
    assert statements > 20


async def told_whole(path: Path, connect: Callable[[Path], sqlite3.Connection]) -> bool:
    """Tell the story on a disk that may break; return whether it held."""
    acknowledged = [0]
    broken = False
    try:
        async with asyncio.timeout(60):
            journal = SqliteJournal(path, clock=SystemClock(), connect=connect)
            try:
                await tell(journal, acknowledged)
            finally:
                await journal.close()
    except StoreError as error:
        broken = True
        assert "disk I/O error" in str(error)
    with SqliteReader(path) as viewer:
        recorded = len(viewer.events("mine")) + len(viewer.phases("mine"))
        for row in viewer.runs():
            spent = viewer.spent(row.name)
            recorded += spent.attempts + spent.answered + spent.failed
    assert acknowledged[-1] <= recorded <= RECORDS
    assert broken or recorded == RECORDS
    return not broken


def test_a_full_disk_is_said_and_keeps_what_was_committed(tmp_path: Path) -> None:
    path = tmp_path / "journal.sqlite3"

    def small(path: Path) -> sqlite3.Connection:
        connection = open_to_write(path)
        connection.execute("PRAGMA max_page_count = 60")
        return connection

    async def fill() -> None:
        journal = SqliteJournal(path, clock=SystemClock(), connect=small)
        mine = journal.open_run("mine", PLAN)
        attempt = 0
        with pytest.raises(StoreError, match=r"could not be written: .*full.*free some space"):
            while True:
                attempt += 1
                await send(journal, mine, attempt, str(attempt).encode(), reply("x" * 5_000))
                await journal.sync()
        for call in (lambda: journal.find([]), lambda: journal.append(mine, 0, Warned(message="late"))):
            with pytest.raises(StoreError, match="free some space"):
                call()
        with pytest.raises(StoreError, match="free some space"):
            await journal.sync()
        with pytest.raises(StoreError, match="free some space"):
            await journal.close()

    async def look() -> None:
        journal = SqliteJournal(path, clock=SystemClock())
        spent = journal.spent(journal.open_run("mine", PLAN))
        assert spent.answered > 5
        assert spent.attempts - spent.answered <= 1
        await journal.close()

    run(fill())
    run(look())


def test_a_full_disk_beside_the_database_is_said_too(tmp_path: Path) -> None:
    path = tmp_path / "journal.sqlite3"
    (tmp_path / "blobs").write_bytes(b"a file where the folder should be")

    async def main() -> None:
        journal = SqliteJournal(path, clock=SystemClock())
        mine = journal.open_run("mine", PLAN)
        journal.append(mine, 0, Warned(message=WIDE))
        with pytest.raises(StoreError, match="could not be written"):
            await journal.sync()
        with pytest.raises(StoreError, match="could not be written"):
            await journal.close()
        with SqliteReader(path) as viewer:
            assert viewer.events("mine") == ()

    run(main())


def test_a_failed_opening_lets_go_of_the_run(tmp_path: Path) -> None:
    (tmp_path / "locks").write_bytes(b"a file where the folder should be")

    async def main() -> None:
        journal = SqliteJournal(tmp_path / "journal.sqlite3", clock=SystemClock())
        with pytest.raises(StoreError, match="could not lock run 'mine'"):
            journal.open_run("mine", PLAN)
        (tmp_path / "locks").unlink()
        journal.open_run("mine", PLAN)
        await journal.close()

    run(main())


def test_two_loops_can_use_one_journal(tmp_path: Path) -> None:
    """Library calls may each bring a loop of their own."""
    journal = SqliteJournal(tmp_path / "journal.sqlite3", clock=SystemClock())
    mine = journal.open_run("mine", PLAN)

    async def unit(attempt: int) -> None:
        await send(journal, mine, attempt, b"key", reply("a"))

    for attempt in (1, 2):
        run(unit(attempt))
    thread = threading.Thread(target=run, args=(unit(3),))
    thread.start()
    thread.join()
    spent = journal.spent(mine)
    assert (spent.answered, spent.charged) == (3, COST + COST + COST)
    assert spent.lost_usage != WORST
    run(journal.close())


if __name__ == "__main__":
    victim(sys.argv[1:])
