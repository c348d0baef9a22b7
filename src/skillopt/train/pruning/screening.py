"""Whether a skill does without some passages all that it did with them, on the val tasks that it reliably solves.
Owns who is asked again and when one may stop; refuses to know which passages are tried."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

import msgspec

from skillopt.domain.scores import Scoreboard
from skillopt.domain.skill import Skill
from skillopt.domain.tasks import Task

LOOKS = 2
_FIRST_WAVE = 8
_RIGHT = 1.0


class Measure(Protocol):
    """Scores a skill on val tasks under a name that is unique in the run."""

    async def __call__(self, skill: Skill, tasks: Sequence[Task], *, label: str, split: str, trial: int) -> Scoreboard:
        """Return the scoreboard, in the order of the tasks."""
        ...


class Screened(msgspec.Struct, frozen=True, kw_only=True):
    """What became of the reliably solved tasks: those lost, those without an answer, and what it took to know."""

    lost: tuple[str, ...] = ()
    unmeasured: tuple[str, ...] = ()
    calls: int = 0

    @property
    def harmless(self) -> bool:
        """Say whether each of these tasks was solved again; one without an answer says nothing, so it counts too."""
        return not self.lost and not self.unmeasured


class Screening:
    """Tries skills on the tasks that the original solved in all its trials."""

    def __init__(self, measure: Measure, solved: Sequence[Task]) -> None:
        self._measure = measure
        self._solved = tuple(solved)

    @classmethod
    async def of(cls, measure: Measure, skill: Skill, val: Sequence[Task]) -> Screening:
        """Find out which tasks the original solves reliably; only those can be lost."""
        solved = tuple(val)
        for look in range(LOOKS):
            board = await measure(skill, val, label=f"original_{look}", split="val", trial=look)
            right = {row.task_id for row in board.rows if row.score is not None and row.score.hard >= _RIGHT}
            solved = tuple(task for task in solved if task.id in right)
        return cls(measure, solved)

    @property
    def solved(self) -> tuple[Task, ...]:
        """The tasks that the original solves reliably."""
        return self._solved

    async def screen(self, skill: Skill, name: str) -> Screened:
        """Try a skill in waves, and stop at the first task that is lost; which wave a task is in depends on nothing.

        A task that fails is put once more before it counts as lost: one wrong answer may be chance.
        """
        calls = 0
        for number, wave in enumerate(_waves(self._solved)):
            found = Screened()
            tasks = wave
            for look in range(LOOKS):
                if tasks:
                    board = await self._measure(skill, tasks, label=f"{name}.{number}.{look}", split="val", trial=look)
                    calls += len(tasks)
                    found = _told(board)
                    failed = {*found.lost, *found.unmeasured}
                    tasks = tuple(task for task in tasks if task.id in failed)
            if not found.harmless:
                return msgspec.structs.replace(found, calls=calls)
        return Screened(calls=calls)


def _told(board: Scoreboard) -> Screened:
    return Screened(
        lost=tuple(row.task_id for row in board.rows if row.score is not None and row.score.hard < _RIGHT),
        unmeasured=tuple(row.task_id for row in board.rows if row.score is None),
    )


def _waves(tasks: Sequence[Task]) -> Iterator[tuple[Task, ...]]:
    """Yield a small wave first, since most losses show there, and then larger ones."""
    start, size = 0, _FIRST_WAVE
    while start < len(tasks):
        yield tuple(tasks[start : start + size])
        start, size = start + size, size * 2
