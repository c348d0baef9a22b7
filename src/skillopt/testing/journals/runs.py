"""What every journal promises about whole runs: who owns one, how it is listed, removed and let go.
Owns those tests; knows no journal."""

from __future__ import annotations

from functools import partial

from skillopt.domain.errors import StoreError, UsageError
from skillopt.domain.usage import NOTHING
from skillopt.kernel.events import Warned
from skillopt.kernel.journal import PhaseRecord, Result
from skillopt.testing.journals.stage import COST, PLAN, Disk, JournalSuite, refused, refused_later, reply, send, story


class RunPromises(JournalSuite):
    """Runs are owned, listed, removed and let go."""

    @story
    async def test_a_new_run_has_nothing(self, disk: Disk) -> None:
        """A run that never ran has no events, phases or cost."""
        journal = disk.open()
        run = journal.open_run("new", PLAN)
        assert journal.events("new") == ()
        assert journal.events("unknown") == ()
        assert (journal.plan("new"), journal.plan("unknown")) == (PLAN, None)
        assert journal.phase(run, "step-1/rollout") is None
        assert journal.find([b"key"]) == {}
        spent = journal.spent(run)
        assert (spent.attempts, spent.lost, spent.charged) == (0, 0, NOTHING), f"a new run has spent {spent}"

    @story
    async def test_another_plan_is_refused(self, disk: Disk) -> None:
        """The refusal names the run, and leaves it to whoever has the right plan."""
        journal = disk.open()
        journal.open_run("mine", PLAN)
        await journal.close()
        again = disk.open()
        refused(UsageError, lambda: again.open_run("mine", b"another plan"), "mine")
        assert again.plan("mine") == PLAN
        assert again.open_run("mine", PLAN).name == "mine"

    @story
    async def test_a_name_must_fit_a_file(self, disk: Disk) -> None:
        """A name with a path in it never reaches the disk."""
        journal = disk.open()
        for name in ("", ".", "..", "../up", "a/b", "a b", "-x", "x\n", "x" * 101):
            refused(UsageError, partial(journal.open_run, name, PLAN))

    @story
    async def test_one_owner_at_a_time(self, disk: Disk) -> None:
        """A run that is open is refused at once, here and elsewhere, until it is let go; other runs are free."""
        first, second = disk.open(), disk.open()
        run = first.open_run("mine", PLAN)
        refused(StoreError, lambda: second.open_run("mine", PLAN), "mine")
        refused(StoreError, lambda: first.open_run("mine", PLAN), "mine")
        assert second.open_run("other", PLAN).number != run.number
        await first.close()
        assert second.open_run("mine", PLAN).number == run.number

    @story
    async def test_only_open_runs_are_written(self, disk: Disk) -> None:
        """The handle of an earlier session, or of another journal, records nothing."""
        journal, other = disk.open(), disk.open()
        run = journal.open_run("mine", PLAN)
        refused(StoreError, lambda: other.append(run, 0, Warned(message="hello")), "mine")
        refused(StoreError, lambda: other.spent(run), "mine")
        await refused_later(send(other, run, run.next_attempt, b"key", reply("a")))
        assert journal.events("mine") == ()

    @story
    async def test_runs_are_listed(self, disk: Disk) -> None:
        """The list says how the last session ended and whether somebody has the run open."""
        journal = disk.open()
        assert journal.runs() == ()
        run = journal.open_run("first", PLAN)
        journal.open_run("second", PLAN)
        journal.end_session(run, "finished", "solved")
        await journal.close()
        journal = disk.open()
        journal.open_run("second", PLAN)
        first, second = journal.runs()
        assert (first.name, first.status, first.reason, first.sessions) == ("first", "finished", "solved", 1)
        assert (second.name, second.status, second.reason, second.sessions) == ("second", "running", "", 2)
        assert (first.held, second.held) == (False, True)
        assert first.started <= first.seen

    @story
    async def test_a_removed_run_leaves_what_others_used(self, disk: Disk) -> None:
        """It is gone with its own answers; no open run loses anything; an unknown name is an error."""
        journal = disk.open()
        old, new = journal.open_run("old", PLAN), journal.open_run("new", PLAN)
        used = await send(journal, old, old.next_attempt, b"used", reply("used"))
        unused = await send(journal, old, old.next_attempt + 1, b"unused", reply("unused"))
        later = await send(journal, new, new.next_attempt, b"unused", reply("later"))
        journal.append(old, 0, Warned(message="old"))
        journal.close_phase(old, PhaseRecord(path="rollout", outcomes=(used, unused)))
        journal.close_phase(new, PhaseRecord(path="rollout", outcomes=(used,)))
        refused(StoreError, lambda: journal.remove_run("old"))
        await journal.close()
        journal = disk.open()
        refused(UsageError, lambda: journal.remove_run("odl"), "old")
        journal.remove_run("old")
        assert [row.name for row in journal.runs()] == ["new"]
        assert journal.events("old") == ()
        assert journal.fetch([used])[used].answer == reply("used")
        assert {key: stored.ref for key, stored in journal.find([b"used", b"unused"]).items()} == {
            b"used": used,
            b"unused": later,
        }
        refused(StoreError, lambda: journal.fetch([unused]))
        run = journal.open_run("old", b"another plan")
        assert (journal.phase(run, "rollout"), journal.spent(run).attempts) == (None, 0)

    @story
    async def test_a_closed_journal_refuses_everything(self, disk: Disk) -> None:
        """Every call says that it is closed, but for closing it again."""
        journal = disk.open()
        run = journal.open_run("mine", PLAN)
        await send(journal, run, run.next_attempt, b"key", None)
        await journal.close()
        await journal.close()
        result = Result(attempt=run.next_attempt, key=b"key", charged=COST, value=reply("a"))
        for call in (
            lambda: journal.open_run("other", PLAN),
            journal.runs,
            lambda: journal.plan("mine"),
            lambda: journal.find([b"key"]),
            lambda: journal.fetch([]),
            lambda: journal.settle(run, result),
            lambda: journal.phase(run, "rollout"),
            lambda: journal.close_phase(run, PhaseRecord(path="rollout", outcomes=())),
            lambda: journal.append(run, 0, Warned(message="late")),
            lambda: journal.events("mine"),
            lambda: journal.spent(run),
            lambda: journal.end_session(run, "finished", ""),
            lambda: journal.remove_run("mine"),
        ):
            refused(StoreError, call)
        await refused_later(journal.sync())
        await refused_later(send(journal, run, run.next_attempt + 1, b"key", None))
