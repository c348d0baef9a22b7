"""Answers that rules alone cannot score: what a program or a judge is still to say, and what judges made of answers.
Owns how their word joins what rules found; refuses to know who judges and how it is asked."""

from __future__ import annotations

from itertools import combinations
from typing import Literal

import msgspec

from skillopt.domain.errors import TaskError
from skillopt.domain.scores import Score, together
from skillopt.domain.tasks import Task
from skillopt.domain.transcripts import LeftFile


class Unjudged(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """An answer that wants a judge: what the judge is shown of it, and what the rules found, as so many parts."""

    answer: str
    rubric: str
    references: tuple[str, ...] = ()
    ruled: Score | None = None
    parts: int = 0

    def scored(self, mark: Score) -> Score:
        """Return the whole score: the judge's mark is one part more beside those of the rules."""
        return mark if self.ruled is None else together(self.ruled, self.parts, mark)


class Unassessed(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """An answer that wants a program: what the rules found, as so many parts, and what a judge is still to see.

    `files` are what an agent left, for the program to look at.
    """

    answer: str
    files: tuple[LeftFile, ...] = ()
    ruled: Score | None = None
    parts: int = 0
    rubric: str | None = None
    references: tuple[str, ...] = ()

    @property
    def case(self) -> Unjudged | None:
        """What a judge is shown, without the word of the program; None where there is no rubric."""
        if self.rubric is None:
            return None
        return Unjudged(
            answer=self.answer, rubric=self.rubric, references=self.references, ruled=self.ruled, parts=self.parts
        )

    def scored(self, mark: Score) -> Score | Unjudged:
        """Return the score with the program's mark as one part more, or what a judge is to add to it."""
        whole = mark if self.ruled is None else together(self.ruled, self.parts, mark)
        case = self.case
        return whole if case is None else msgspec.structs.replace(case, ruled=whole, parts=self.parts + 1)


class Unexamined(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """An answer that a function of the caller's marks, which asks somebody itself: it is called as a judge is asked."""

    answer: str


class Agreement(msgspec.Struct, frozen=True, kw_only=True):
    """How far judgings of the same answers agree on right or wrong.

    `compared` counts the answers judged more than once; `disagreed` adds up, over them, the share of pairs of judgings
    that differ. Sums, so that many phases add up to one rate.
    """

    answers: int = 0
    unscored: int = 0
    compared: int = 0
    disagreed: float = 0.0

    @property
    def flip_rate(self) -> float | None:
        """How often two judgings of one answer differ; None where no answer was judged twice."""
        return self.disagreed / self.compared if self.compared else None

    def __add__(self, other: Agreement) -> Agreement:
        """Return what both found."""
        return Agreement(
            answers=self.answers + other.answers,
            unscored=self.unscored + other.unscored,
            compared=self.compared + other.compared,
            disagreed=self.disagreed + other.disagreed,
        )


def disagreement(passes: tuple[bool, ...]) -> float | None:
    """Return the share of pairs of judgings of one answer that differ; None for fewer than two judgings."""
    pairs = list(combinations(passes, 2))
    return sum(one != other for one, other in pairs) / len(pairs) if pairs else None


Preference = Literal["old", "new", "neither"]


class Comparison(msgspec.Struct, frozen=True, kw_only=True):
    """Which of two answers to a task a judge prefers; None with the cause where it could not be had.

    `swayed` says that the choices of the judge cancelled out, as when it goes by which answer stands first.
    """

    task_id: str
    preferred: Preference | None
    swayed: bool = False
    cause: str | None = None

    def __post_init__(self) -> None:
        if (self.preferred is None) == (self.cause is None):
            raise ValueError(f"The comparison on task {self.task_id!r} needs a preference or a cause, and not both.")


def written(score: Score) -> str:
    """Return a score as the text of a reply: the numbers on a line, then the feedback as it is, for the scrubber."""
    return f"{score.hard!r} {score.soft!r}\n{score.feedback}"


def read_score(text: str) -> Score:
    """Return a written score."""
    numbers, _, feedback = text.partition("\n")
    hard, soft = map(float, numbers.split())
    return Score(hard=hard, soft=soft, feedback=feedback)


def score_said(task: Task, said: object) -> Score:
    """Read what a function says of an answer: right or wrong, part marks from 0 to 1, or a whole Score."""
    if isinstance(said, Score):
        return said
    if isinstance(said, bool | int | float) and 0.0 <= said <= 1.0:
        return Score(hard=1.0 if said >= 1.0 else 0.0, soft=float(said))
    raise TaskError(
        f"The grading of task {task.id!r} returned {said!r:.40}.",
        hint="It must return a Score, True or False, or a number from 0 to 1.",
    )
