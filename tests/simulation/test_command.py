"""Whole runs whose answers a program grades, by the invariants of every run. Each is checked over many seeds:

1   A crash after any record, and the same command again: the same events and bytes, scores of the program included.
2   What was graded is not graded again: the program ran for no answer twice, but for those under way at the kill.
3   A program that breaks on a task leaves it without a score: never a 0, in no mean, and no reason to stop.
4   Grading counts for no cap and no role.
5   The same bytes at any number of workers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from hashlib import blake2b

import msgspec
import pytest

from skillopt.domain.agency.transcripts import LeftFile
from skillopt.domain.chat import Reply
from skillopt.domain.errors import CrashedError, StoreError
from skillopt.domain.judging import written
from skillopt.domain.scores import Score
from skillopt.domain.tasks import Task
from skillopt.domain.usage import NOTHING, Usage
from skillopt.environments.command.settings import CommandSettings
from skillopt.environments.dataset import Dataset, DatasetSettings
from skillopt.kernel.events import BatchGraded, Measured, PhaseEnded, TaskScore
from skillopt.kernel.memory import MemoryShelf
from skillopt.testing.clock import VirtualClock
from tests.simulation.house import House, Lived, appends, house, live


class Bench:
    """Stands where the sandbox stands: right when the answer holds the reference; some tasks break the program."""

    def __init__(self, broken: frozenset[str] = frozenset()) -> None:
        self.broken = broken
        self.ran: Counter[bytes] = Counter()

    def work(self, task: Task, answer: str, files: Sequence[LeftFile] = ()) -> Graded:
        """Return the work of grading an answer."""
        key = blake2b(f"{task.public_digest} {task.grading_digest} {answer}".encode(), digest_size=16).digest()
        return Graded(key, self, task, answer)


class Graded(msgspec.Struct, frozen=True):
    """Grading one answer."""

    key: bytes
    bench: Bench
    task: Task
    answer: str
    role: str = ""
    account: str = "command"

    def worst(self) -> Usage:
        """Nothing."""
        return NOTHING

    async def perform(self) -> Reply:
        """Take a little while, and say what it is worth."""
        self.bench.ran[self.key] += 1
        await VirtualClock().sleep(0.01 + self.key[0] / 1000)
        if self.task.id in self.bench.broken:
            raise CrashedError("The command grader ended with 3.")
        right = any(reference in self.answer for reference in self.task.references)
        score = Score(hard=1.0, soft=1.0) if right else Score(hard=0.0, soft=0.2, feedback="Not that.")
        return Reply(text=written(score), usage=NOTHING)


def commanded(seed: int, *, small: bool = False) -> House:
    """Return a house whose answers a program grades."""
    home = house(seed, train_size=8, val=4, test=3, epochs=1) if small else house(seed)
    settings = DatasetSettings(path="tasks", grader="command", command=CommandSettings(run=("sh",)))
    return home.but(environment=Dataset(settings, home.environment.tasks), assessor=Bench())


def fresh(home: House, broken: frozenset[str] = frozenset()) -> tuple[House, Bench]:
    """Return the house with a bench that has graded nothing yet."""
    bench = Bench(broken)
    return home.but(assessor=bench), bench


@pytest.mark.parametrize("seed", range(1, 9))
def test_a_run_learns_from_a_program_and_pays_for_nothing_but_the_models(seed: int) -> None:
    home, bench = fresh(commanded(seed))
    lived = live(home)
    assert lived.error is None, f"seed {seed}"
    assert lived.summary.accepts > 0, f"seed {seed}"
    assert lived.summary.usage.total.calls == lived.calls, f"seed {seed}"
    assert set(bench.ran.values()) == {1}, f"seed {seed}"
    capped = live(fresh(commanded(seed))[0].at_once(7, calls=lived.calls))
    assert capped.lasting == lived.lasting, f"seed {seed}"


@pytest.mark.parametrize("seed", [1, 2])
def test_a_crash_after_every_record_changes_no_score_and_grades_nothing_twice(seed: int) -> None:
    home = commanded(seed, small=True)
    whole = live(home)
    assert whole.error is None
    for kill in range(1, appends(home) + 1):
        (again, bench), shelf = fresh(home), MemoryShelf()
        killed, resumed = live(again, shelf, kill_at=kill), live(again, shelf)
        where = f"seed {seed}, killed after record {kill}"
        assert isinstance(killed.error, StoreError), where
        assert resumed.events == whole.events, where
        assert resumed.lasting == whole.lasting, where
        assert sum(count - 1 for count in bench.ran.values()) <= 7, where


@pytest.mark.parametrize("seed", range(1, 9))
def test_the_number_of_workers_changes_nothing(seed: int) -> None:
    whole = live(commanded(seed))
    for width in (1, 64):
        again = live(commanded(seed).at_once(width))
        assert again.events == whole.events, f"seed {seed}, {width} workers"


@pytest.mark.parametrize("seed", range(1, 13))
def test_a_program_that_breaks_gives_no_zero(seed: int) -> None:
    home = commanded(seed)
    tasks = home.plan.tasks
    broken = frozenset(task.id for task in (*tasks.train, *tasks.val, *tasks.test)[:: 3 + seed % 2])
    lived = live(fresh(home, broken)[0])
    assert lived.error is None, f"seed {seed}"
    for row in rows_of(lived):
        assert (row.hard is None) == (row.task_id in broken), f"seed {seed}, {row}"
        assert row.hard is not None or row.cause == "command: The command grader ended with 3."
    ended = [event for event in lived.events_of(PhaseEnded) if event.verb == "assess"]
    assert ended, f"seed {seed}"
    assert all(event.usage == NOTHING for event in ended), f"seed {seed}"


def rows_of(lived: Lived) -> list[TaskScore]:
    """Return every graded rollout of a run."""
    return [row for event in lived.events if isinstance(event, Measured | BatchGraded) for row in event.rows]
