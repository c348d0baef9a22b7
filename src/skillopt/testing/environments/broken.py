"""Environments that each break one promise of the port, to show that the contract suite notices.
Owns the mistakes, each a small step from an office without them. Knows no test."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import count
from types import MappingProxyType

import msgspec

from skillopt.domain.chat import Message
from skillopt.domain.scores import Score
from skillopt.domain.skill import Change
from skillopt.domain.tasks import Task, TaskSet
from skillopt.kernel.plugins.members import Group
from skillopt.testing.environments.office import Office


class _Moody(Office):
    """An office that remembers how often it was asked, as a clock or a file does."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.asked = count()


class LeaksTheReference(Office):
    """Lets the target see what its answer is compared with."""

    def messages(self, task: Task, rendered_skill: str) -> tuple[Message, ...]:
        """Put the answer behind the question."""
        return (*super().messages(task, rendered_skill), Message("user", f"(Key: {task.reference})"))


class ForgetsTheSkill(Office):
    """Puts the task alone."""

    def messages(self, task: Task, rendered_skill: str) -> tuple[Message, ...]:
        """Leave out what comes first."""
        return super().messages(task, rendered_skill)[1:]


class NumbersItsMessages(_Moody):
    """Puts the same task in other words each time, so that no answer is ever found again."""

    def messages(self, task: Task, rendered_skill: str) -> tuple[Message, ...]:
        """Put a number before the rest."""
        return (Message("system", f"Request {next(self.asked)}"), *super().messages(task, rendered_skill))


class GradesByMood(_Moody):
    """Lets the first answers of the day pass."""

    def grade(self, task: Task, reply: str) -> Score:
        """Look at something else than the answer."""
        if next(self.asked) < 10:
            return Score(hard=1.0, soft=1.0)
        return super().grade(task, reply)


class StumblesOverSilence(Office):
    """Breaks where there is no answer to grade."""

    def grade(self, task: Task, reply: str) -> Score:
        """Take for granted that there are words."""
        assert reply.split(maxsplit=1)[0]
        return super().grade(task, reply)


class TellsTheAnswer(Office):
    """Says in its feedback what would have been right."""

    def grade(self, task: Task, reply: str) -> Score:
        """Mean well."""
        return msgspec.structs.replace(super().grade(task, reply), feedback=f"It should be {task.reference}.")


class CoachesTheAnswer(Office):
    """Sends the target back with the answer in its hand."""

    def feedback(self, task: Task, replies: Sequence[str]) -> str | None:
        """Leave nothing to be found out."""
        return f"{len(replies)} attempts, and it is {task.reference}."


class DrawsByTheClock(_Moody):
    """Draws other tasks whenever it is asked."""

    def draw(self, seed: int, count: int) -> tuple[Task, ...]:
        """Take the seed for a hint."""
        return super().draw(seed + next(self.asked), count)


class DrawsTooFew(Office):
    """Gives less than it was asked for."""

    def draw(self, seed: int, count: int) -> tuple[Task, ...]:
        """Keep one back."""
        return super().draw(seed, count)[1:]


class TeachesWhatItTests(Office):
    """Draws train tasks that val has too."""

    def draw(self, seed: int, count: int) -> tuple[Task, ...]:
        """Begin with a task that everybody knows."""
        return (*self.tasks.val[:1], *super().draw(seed, count)[1:])


class ShufflesItsTasks(_Moody):
    """Has another task first whenever it is looked at."""

    @property
    def tasks(self) -> TaskSet:
        """Begin at another place."""
        val, turn = super().tasks.val, next(self.asked) % 3
        return TaskSet(val=(*val[turn:], *val[:turn]), test=super().tasks.test)


class ForgetsWhatItKnew(_Moody):
    """Draws another lesson from the same answers."""

    def reflection(self, group: Group) -> str | tuple[Change, ...]:
        """Look at the page number."""
        return f"# Page {next(self.asked)} of {len(group.attempts)}"


BROKEN_ENVIRONMENTS: Mapping[str, type[Office]] = MappingProxyType(
    {
        broken.__name__: broken
        for broken in (
            LeaksTheReference,
            ForgetsTheSkill,
            NumbersItsMessages,
            GradesByMood,
            StumblesOverSilence,
            TellsTheAnswer,
            CoachesTheAnswer,
            DrawsByTheClock,
            DrawsTooFew,
            TeachesWhatItTests,
            ShufflesItsTasks,
            ForgetsWhatItKnew,
        )
    }
)
