"""What every journal promises about its records: intents, results, phases and events of a run.
Owns those tests; knows no journal."""

from __future__ import annotations

import asyncio

from skillopt.domain.errors import StoreError
from skillopt.domain.usage import NOTHING
from skillopt.kernel.events import Mean, Measured, Warned
from skillopt.kernel.journal import PhaseRecord, Ref, Result
from skillopt.testing.journals.stage import (
    COST,
    FAILURE,
    PLAN,
    WORST,
    Disk,
    JournalSuite,
    refused,
    refused_later,
    reply,
    send,
    story,
)


class RecordPromises(JournalSuite):
    """Records are kept once, in order, read back at once, and added up."""

    @story
    async def test_the_first_answer_wins(self, disk: Disk) -> None:
        """A second answer to a key is kept, but only the first is found: in this run, in others, and later."""
        journal = disk.open()
        run, other = journal.open_run("a", PLAN), journal.open_run("b", PLAN)
        await send(journal, run, run.next_attempt, b"key", FAILURE)
        first = await send(journal, run, run.next_attempt + 1, b"key", reply("first"))
        await journal.sync()
        second = await send(journal, other, other.next_attempt, b"key", reply("second"))
        third = await send(journal, run, run.next_attempt + 2, b"key", reply("third"))
        for _ in range(2):
            found = journal.find([b"key", b"no such key"])
            assert list(found) == [b"key"]
            assert (found[b"key"].ref, found[b"key"].answer) == (first, reply("first")), f"found {found[b'key']}"
            fetched = journal.fetch([third, second])
            assert [fetched[ref].answer.text for ref in (second, third)] == ["second", "third"]
            await journal.close()
            journal = disk.open()

    @story
    async def test_a_failure_is_never_an_answer(self, disk: Disk) -> None:
        """Neither its key nor its reference leads to anything."""
        journal = disk.open()
        run = journal.open_run("mine", PLAN)
        ref = await send(journal, run, run.next_attempt, b"key", FAILURE)
        for _ in range(2):
            assert journal.find([b"key"]) == {}, "a failure was found as an answer"
            refused(StoreError, lambda: journal.fetch([ref]))
            await journal.sync()

    @story
    async def test_a_missing_answer_is_an_error(self, disk: Disk) -> None:
        """`fetch` returns all or raises; it never leaves something out."""
        journal = disk.open()
        run = journal.open_run("mine", PLAN)
        ref = await send(journal, run, run.next_attempt, b"key", reply("here"))
        refused(StoreError, lambda: journal.fetch([ref, Ref(run.number, ref.attempt + 1)]))
        refused(StoreError, lambda: journal.fetch([Ref(run.number + 1, ref.attempt)]))
        assert journal.fetch([]) == {}

    @story
    async def test_records_are_read_back_at_once(self, disk: Disk) -> None:
        """What is recorded is seen before it is durable, also when there is a lot of it."""
        journal = disk.open()
        run = journal.open_run("mine", PLAN)
        ref = await send(journal, run, run.next_attempt, b"key", reply("long " * 20_000))
        record = PhaseRecord(path="step-1/rollout", outcomes=(ref, FAILURE) * 9_000)
        journal.close_phase(run, record)
        journal.append(run, 0, Warned(message="wide " * 20_000))
        for _ in range(2):
            assert journal.find([b"key"])[b"key"].answer == reply("long " * 20_000)
            assert journal.fetch([ref])[ref].key == b"key"
            assert journal.phase(run, "step-1/rollout") == record
            assert journal.events("mine") == (Warned(message="wide " * 20_000),)
            await journal.sync()

    @story
    async def test_everything_is_there_when_opened_again(self, disk: Disk) -> None:
        """`sync` and `close` both leave all records on the disk."""
        journal = disk.open()
        run = journal.open_run("mine", PLAN)
        synced = await send(journal, run, run.next_attempt, b"synced", reply("a"))
        await journal.sync()
        journal.append(run, 0, Warned(message="one"))
        closed = await send(journal, run, run.next_attempt + 1, b"closed", reply("b"))
        record = PhaseRecord(path="step-1/grade", outcomes=(closed, FAILURE, synced))
        journal.close_phase(run, record)
        journal.append(run, 1, Warned(message="two"))
        await journal.close()
        journal = disk.open()
        again = journal.open_run("mine", PLAN)
        assert (again.number, again.session) == (run.number, run.session + 1)
        assert journal.phase(again, "step-1/grade") == record
        assert journal.phase(again, "step-1/rollout") is None
        assert journal.events("mine") == (Warned(message="one"), Warned(message="two"))
        assert {key: stored.ref for key, stored in journal.find([b"synced", b"closed"]).items()} == {
            b"synced": synced,
            b"closed": closed,
        }

    @story
    async def test_numbers_of_attempts_go_up(self, disk: Disk) -> None:
        """A session begins above every number used before it, and none is used twice."""
        journal = disk.open()
        run = journal.open_run("mine", PLAN)
        await send(journal, run, run.next_attempt, b"key", reply("a"))
        await send(journal, run, run.next_attempt + 4, b"key", None)
        await refused_later(send(journal, run, run.next_attempt, b"key", None))
        await refused_later(send(journal, run, run.next_attempt + 4, b"key", None))
        await journal.close()
        again = disk.open().open_run("mine", PLAN)
        assert again.next_attempt > run.next_attempt + 4, f"attempt {again.next_attempt} is handed out twice"

    @story
    async def test_a_result_follows_its_intent(self, disk: Disk) -> None:
        """Without an intent of this session there is no result, and there is only one."""
        journal = disk.open()
        run = journal.open_run("mine", PLAN)
        settle = Result(attempt=run.next_attempt, key=b"key", charged=COST, value=reply("a"))
        refused(StoreError, lambda: journal.settle(run, settle), "mine")
        await send(journal, run, run.next_attempt, b"key", reply("a"))
        refused(StoreError, lambda: journal.settle(run, settle), "mine")
        await send(journal, run, run.next_attempt + 1, b"lost", None)
        await journal.close()
        journal = disk.open()
        run = journal.open_run("mine", PLAN)
        late = Result(attempt=run.next_attempt - 1, key=b"lost", charged=COST, value=reply("late"))
        refused(StoreError, lambda: journal.settle(run, late), "mine")
        assert journal.find([b"lost"]) == {}

    @story
    async def test_lost_requests_are_charged_in_full(self, disk: Disk) -> None:
        """An intent without result is under way until its session has ended, and then lost for good."""
        journal = disk.open()
        run = journal.open_run("mine", PLAN)
        await send(journal, run, run.next_attempt, b"a", None)
        await send(journal, run, run.next_attempt + 1, b"b", None, early=True)
        spent = journal.spent(run)
        assert (spent.attempts, spent.lost, spent.charged) == (2, 0, NOTHING), f"under way: {spent}"
        journal.end_session(run, "stopped", "the calls are used up")
        for session in range(3):
            spent = journal.spent(run)
            assert (spent.attempts, spent.lost) == (2, 2), f"session {session}: {spent}"
            assert (spent.charged, spent.lost_usage, spent.early) == (WORST + WORST, WORST + WORST, WORST)
            await journal.close()
            journal = disk.open()
            run = journal.open_run("mine", PLAN)

    @story
    async def test_spent_adds_up(self, disk: Disk) -> None:
        """Answers, failures, speculation and what no phase used are told apart, over all sessions."""
        journal = disk.open()
        run = journal.open_run("mine", PLAN)
        other = await send(journal, (rival := journal.open_run("other", PLAN)), rival.next_attempt, b"z", reply("z"))
        used = await send(journal, run, run.next_attempt, b"a", reply("a"))
        await send(journal, run, run.next_attempt + 1, b"b", FAILURE)
        await send(journal, run, run.next_attempt + 2, b"c", reply("c"), early=True)
        journal.close_phase(run, PhaseRecord(path="rollout", outcomes=(used, FAILURE, other, used)))
        for _ in range(2):
            spent = journal.spent(run)
            assert (spent.attempts, spent.answered, spent.failed, spent.lost) == (3, 2, 1, 0), f"{spent}"
            assert (spent.charged, spent.failed_usage, spent.lost_usage) == (COST + COST + COST, COST, NOTHING)
            assert (spent.early, spent.unused, spent.unused_usage) == (COST, 1, COST), f"{spent}"
            assert spent.seconds >= 0
            await journal.close()
            journal = disk.open()
            run = journal.open_run("mine", PLAN)

    @story
    async def test_a_phase_is_recorded_once(self, disk: Disk) -> None:
        """The second record is refused and changes nothing; another run's phase is another phase."""
        journal = disk.open()
        run, other = journal.open_run("mine", PLAN), journal.open_run("other", PLAN)
        record = PhaseRecord(path="step-1/rollout", outcomes=(FAILURE,))
        journal.close_phase(run, record)
        for _ in range(2):
            refused(StoreError, lambda: journal.close_phase(run, PhaseRecord(path=record.path, outcomes=())), "mine")
            assert journal.phase(run, record.path) == record
            await journal.sync()
        journal.close_phase(other, PhaseRecord(path=record.path, outcomes=()))
        assert journal.phase(other, record.path) == PhaseRecord(path=record.path, outcomes=())

    @story
    async def test_a_replay_says_the_same(self, disk: Disk) -> None:
        """An equal event is recorded once, whenever it comes; another one under its number is refused."""
        journal = disk.open()
        mean = Mean(hard=1, soft=None, n=3)
        measured = Measured(label="best", split="val", skill_digest="d", mean=mean, by_type={"x": mean}, rows=())
        run = journal.open_run("mine", PLAN)
        for session in range(3):
            journal.append(run, 0, measured)
            refused(StoreError, lambda: journal.append(run, 0, Warned(message="new")), "mine", "0")
            journal.append(run, session + 1, Warned(message=f"session {session}"))
            await journal.close()
            journal = disk.open()
            run = journal.open_run("mine", PLAN)
        expected = (measured, *(Warned(message=f"session {session}") for session in range(3)))
        assert journal.events("mine") == expected, f"the events are {journal.events('mine')}"

    @story
    async def test_many_at_once(self, disk: Disk) -> None:
        """Units that record at the same time do not mix, and nothing is left out."""
        journal = disk.open()
        run = journal.open_run("mine", PLAN)
        count = 300

        async def unit(number: int) -> Ref:
            key = str(number).encode()
            return await send(journal, run, run.next_attempt + number, key, reply(f"answer {number}"))

        refs = await asyncio.gather(*(unit(number) for number in range(count)))
        await journal.sync()
        fetched = journal.fetch(refs)
        assert [fetched[ref].answer.text for ref in refs] == [f"answer {number}" for number in range(count)]
        assert len(journal.find([str(number).encode() for number in range(2 * count)])) == count
        assert journal.spent(run).answered == count
