from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from skillopt.domain.errors import StoreError, UsageError
from skillopt.kernel.clock import SystemClock
from skillopt.kernel.events import Warned
from skillopt.kernel.journal import PhaseRecord, Ref
from skillopt.store.reader import SqliteReader
from skillopt.store.sqlite import SqliteJournal
from skillopt.testing.journals.stage import COST, FAILURE, PLAN, WORST, reply, send


def test_a_viewer_sees_a_live_run_and_then_a_finished_one(tmp_path: Path) -> None:
    path = tmp_path / "journal.sqlite3"

    async def main() -> None:
        journal = SqliteJournal(path, clock=SystemClock())
        run = journal.open_run("mine", PLAN)
        with SqliteReader(path) as viewer:
            assert viewer.events("mine") == ()
            used = await send(journal, run, run.next_attempt, b"a", reply("a"))
            await send(journal, run, run.next_attempt + 1, b"b", None)
            journal.append(run, 0, Warned(message="one"))
            journal.close_phase(run, PhaseRecord(path="z", outcomes=(used, FAILURE)))
            journal.close_phase(run, PhaseRecord(path="a", outcomes=()))
            await journal.sync()
            assert viewer.events("mine") == (Warned(message="one"),)
            assert viewer.numbered_events("mine") == ((0, Warned(message="one")),)
            assert [record.path for record in viewer.phases("mine")] == ["a", "z"]
            assert viewer.fetch([used])[used].answer == reply("a")
            assert [(row.name, row.status, row.held) for row in viewer.runs()] == [("mine", "running", True)]
            spent = viewer.spent("mine")
            assert (spent.attempts, spent.lost, spent.charged) == (2, 0, COST)
            assert viewer.seconds_a_call("mine").keys() == {"target"}
            assert 0 <= viewer.seconds_a_call("mine")["target"] < 60
            journal.end_session(run, "finished", "solved")
            await journal.close()
            assert [(row.status, row.reason, row.held) for row in viewer.runs()] == [("finished", "solved", False)]
            spent = viewer.spent("mine")
            assert (spent.lost, spent.charged) == (1, COST + WORST)
        with SqliteReader(path) as viewer:
            assert viewer.events("mine") == (Warned(message="one"),)

    asyncio.run(main())


def test_what_is_not_there_is_told_apart(tmp_path: Path) -> None:
    path = tmp_path / "journal.sqlite3"
    with pytest.raises(StoreError, match="There is no journal"):
        SqliteReader(path)

    async def main() -> None:
        journal = SqliteJournal(path, clock=SystemClock())
        journal.open_run("mine", PLAN)
        await journal.close()

    asyncio.run(main())
    with SqliteReader(path) as viewer:
        assert viewer.events("other") == ()
        assert viewer.phases("other") == ()
        assert viewer.phase(1, "rollout") is None
        assert viewer.find([b"key"]) == {}
        assert viewer.fetch([Ref(1, 1)]) == {}
        with pytest.raises(UsageError, match="Did you mean 'mine'"):
            viewer.spent("mina")


def test_a_closed_viewer_says_so(tmp_path: Path) -> None:
    path = tmp_path / "journal.sqlite3"
    asyncio.run(SqliteJournal(path, clock=SystemClock()).close())
    viewer = SqliteReader(path)
    viewer.close()
    with pytest.raises(StoreError, match="closed database"):
        viewer.runs()


def test_many_keys_are_looked_up(tmp_path: Path) -> None:
    path = tmp_path / "journal.sqlite3"
    count = 1_203

    async def main() -> None:
        journal = SqliteJournal(path, clock=SystemClock())
        run = journal.open_run("mine", PLAN)
        keys = [number.to_bytes(4, "big") for number in range(2 * count)]
        await asyncio.gather(*(send(journal, run, run.next_attempt + n, keys[n], reply(str(n))) for n in range(count)))
        await journal.close()
        with SqliteReader(path) as viewer:
            found = viewer.find(keys + keys[:10])
            assert {key: stored.answer.text for key, stored in found.items()} == {keys[n]: str(n) for n in range(count)}
            refs = [stored.ref for stored in found.values()]
            assert {ref: stored.key for ref, stored in viewer.fetch(refs).items()} == {
                stored.ref: key for key, stored in found.items()
            }

    asyncio.run(main())
