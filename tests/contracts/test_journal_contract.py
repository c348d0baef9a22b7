from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from skillopt.kernel.clock import SystemClock
from skillopt.kernel.journal import Journal
from skillopt.kernel.memory import MemoryJournal, MemoryShelf
from skillopt.store.sqlite import SqliteJournal
from skillopt.testing.broken_journals import BROKEN_JOURNALS
from skillopt.testing.journal_contract import JournalContract, broken_promises
from skillopt.testing.journals.records import RecordPromises
from skillopt.testing.journals.runs import RunPromises

BREAKS = {
    "FindsTheLatest": "test_the_first_answer_wins",
    "AnswersWithFailures": "test_a_failure_is_never_an_answer",
    "LeavesOutMissing": "test_a_missing_answer_is_an_error",
    "ForgivesLostRequests": "test_lost_requests_are_charged_in_full",
    "TakesAnyResult": "test_a_result_follows_its_intent",
    "ForgetsHowItEnded": "test_runs_are_listed",
    "WritesForAnyone": "test_only_open_runs_are_written",
    "ThinksItIsDone": "test_a_new_run_has_nothing",
    "CountsFromOne": "test_numbers_of_attempts_go_up",
    "ResumesAnyPlan": "test_another_plan_is_refused",
    "HandsOutTwice": "test_one_owner_at_a_time",
    "OverwritesPhases": "test_a_phase_is_recorded_once",
    "RewritesHistory": "test_a_replay_says_the_same",
    "RepeatsItself": "test_a_replay_says_the_same",
    "HidesTheUnsynced": "test_records_are_read_back_at_once",
    "ForgetsAtTheEnd": "test_everything_is_there_when_opened_again",
    "OutlivesItsClose": "test_a_closed_journal_refuses_everything",
    "MixesUpUnits": "test_many_at_once",
}


class TestMemoryJournal(JournalContract):
    def make(self, tmp_path: Path) -> Callable[[], Journal]:
        shelf = MemoryShelf()
        return lambda: MemoryJournal(shelf, clock=SystemClock())


class TestSqliteJournal(JournalContract):
    def make(self, tmp_path: Path) -> Callable[[], Journal]:
        return lambda: SqliteJournal(tmp_path / "workspace" / "journal.sqlite3", clock=SystemClock())


class TestSqliteJournalOneByOne(JournalContract):
    def make(self, tmp_path: Path) -> Callable[[], Journal]:
        return lambda: SqliteJournal(tmp_path / "journal.sqlite3", clock=SystemClock(), group_limit=1)


class Suspect(JournalContract):
    def __init__(self, factory: Callable[[MemoryShelf], Journal]) -> None:
        self.factory = factory

    def make(self, tmp_path: Path) -> Callable[[], Journal]:
        shelf = MemoryShelf()
        return lambda: self.factory(shelf)


@pytest.mark.parametrize("name", sorted(BROKEN_JOURNALS))
def test_each_broken_journal_is_caught_by_the_promise_it_breaks(name: str, tmp_path: Path) -> None:
    assert BREAKS[name] in broken_promises(Suspect(BROKEN_JOURNALS[name]), tmp_path)


def promises(suite: type) -> set[str]:
    return {name for name in dir(suite) if name.startswith("test_")}


def test_no_promise_hides_another() -> None:
    """A test of the same name in both halves would be run once."""
    assert promises(RecordPromises) & promises(RunPromises) == set()
    assert promises(JournalContract) == promises(RecordPromises) | promises(RunPromises)


def test_every_broken_journal_is_listed() -> None:
    assert set(BREAKS) == set(BROKEN_JOURNALS)


def test_a_sound_journal_breaks_nothing(tmp_path: Path) -> None:
    sound = Suspect(lambda shelf: MemoryJournal(shelf, clock=SystemClock()))
    assert broken_promises(sound, tmp_path) == ()


def test_every_promise_is_broken_by_some_journal(tmp_path: Path) -> None:
    noticed: set[str] = set()
    for name, factory in BROKEN_JOURNALS.items():
        own = tmp_path / name
        own.mkdir()
        noticed.update(broken_promises(Suspect(factory), own))
    assert noticed == promises(JournalContract)
