"""Scores rollouts: an answer gets a score, by rules, a program or a judge; a failure keeps its cause and gets none.
Owns that distinction; refuses to know how an environment grades and what a judge is asked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import NamedTuple

import msgspec

from skillopt.domain.chat import Message
from skillopt.domain.errors import InternalError, SkilloptError, TaskError
from skillopt.domain.judging import Agreement, Unassessed, Unexamined, Unjudged, read_score
from skillopt.domain.rollouts import Answered, Failed, Failure, Rollout
from skillopt.domain.scores import Metric, MetricName, Score, Scoreboard, Scored
from skillopt.domain.tasks import Task
from skillopt.kernel.boundary import Attributed
from skillopt.kernel.events import Mean, TaskScore
from skillopt.kernel.plugins.members import SendsErrands
from skillopt.kernel.ports import Environment
from skillopt.kernel.run import Run
from skillopt.kernel.work import Asker, Assessor
from skillopt.phases.judging.marking import Judge, Paper, agreement, mark

_HARD = Metric(name=MetricName.HARD)


class Grading(msgspec.Struct, frozen=True, kw_only=True):
    """What grades: the environment by its rules, and a program and a judge where they leave an answer to one.

    `work` is the environment where it looks at what an agent did besides what it said.
    """

    environment: Environment
    judge: Judge
    assessor: Assessor | None = None
    work: SendsErrands | None = None

    def ruled(self, task: Task, answer: Answered) -> Score | Unjudged | Unassessed | Unexamined:
        """Return what the environment says of an answer."""
        if self.work is None or answer.transcript is None:
            return self.environment.grade(task, answer.text)
        return self.work.grade_work(task, answer.text, answer.transcript)


class Grades(msgspec.Struct, frozen=True, kw_only=True):
    """The scoreboard of some rollouts, and how far a judge agreed with itself; None where none was asked."""

    board: Scoreboard
    agreement: Agreement | None = None


async def grade(
    run: Run,
    phase: str,
    grading: Grading,
    tasks: Sequence[Task],
    rollouts: Sequence[Rollout],
    rulings: Rulings | None = None,
) -> Grades:
    """Return the scores of these rollouts of `phase`, in order; a phase of its own only where somebody is asked.

    `rulings` has seen some of these rollouts already.
    """
    rulings = Rulings(grading) if rulings is None else rulings
    pairs = zip(tasks, rollouts, strict=True)
    ruled = [rulings.of(place, task, rollout) for place, (task, rollout) in enumerate(pairs)]
    examined = await _examined(run, judging(phase), grading.judge.asker, tasks, rollouts, ruled)
    known = await _assessed(run, f"{phase}/command", grading, tasks, examined)
    left = [(place, each) for place, each in enumerate(known) if isinstance(each, Unjudged)]
    if not left:
        return Grades(board=_board(tasks, rollouts, known))
    marked = await mark(run, judging(phase), grading.judge, [Paper(tasks[place], case) for place, case in left])
    for (place, _), each in zip(left, marked, strict=True):
        known[place] = _Cause(str(each.cause)) if each.score is None else each.score
    return Grades(board=_board(tasks, rollouts, known), agreement=agreement(marked))


def judging(phase: str) -> str:
    """Return the name of the phase in which a judge marks the answers of this one."""
    return f"{phase}/judge"


class _Cause(NamedTuple):
    """Why an answer has no score."""

    words: str


_Known = Score | Unjudged | _Cause
_Ruled = _Known | Unassessed | Unexamined


class Rulings:
    """What the rules say of the answers of one phase; there is time to look at some while others are under way."""

    def __init__(self, grading: Grading) -> None:
        self._grading = grading
        self._known: dict[int, _Ruled] = {}

    def see(self, place: int, task: Task, rollout: Rollout) -> None:
        """Think ahead of the answer at this place; an error that ends the run waits until all are answered."""
        with suppress(SkilloptError):
            self._known[place] = self.of(place, task, rollout)

    def of(self, place: int, task: Task, rollout: Rollout) -> _Ruled:
        """Return what the rules say of the answer at this place."""
        known = self._known.get(place)
        return _ruled(self._grading, task, rollout) if known is None else known


def _board(tasks: Sequence[Task], rollouts: Sequence[Rollout], known: Sequence[_Known]) -> Scoreboard:
    return Scoreboard(
        tuple(
            Scored(task_id=task.id, trial=rollout.trial, score=each)
            if isinstance(each, Score)
            else Scored(task_id=task.id, trial=rollout.trial, cause=each.words)
            for task, rollout, each in zip(tasks, rollouts, known, strict=True)
            if not isinstance(each, Unjudged)
        )
    )


async def _assessed(
    run: Run, phase: str, grading: Grading, tasks: Sequence[Task], ruled: Sequence[_Known | Unassessed]
) -> list[_Known]:
    """Have the program score what is left to it; where it broke there is a cause and no score."""
    waiting = [(place, each) for place, each in enumerate(ruled) if isinstance(each, Unassessed)]
    known = {place: each for place, each in enumerate(ruled) if not isinstance(each, Unassessed)}
    if waiting:
        if grading.assessor is None:
            raise InternalError("An answer wants a program, and this run was given none.")
        works = [grading.assessor.work(tasks[place], each.answer, each.files) for place, each in waiting]
        outcomes = await run.do(phase, "assess", works)
        for (place, each), outcome in zip(waiting, outcomes, strict=True):
            if isinstance(outcome, Failure):
                known[place] = _Cause(f"command: {outcome.message}")
            else:
                known[place] = each.scored(read_score(outcome.text))
    return [known[place] for place in range(len(ruled))]


async def _examined(
    run: Run,
    phase: str,
    examiner: Asker,
    tasks: Sequence[Task],
    rollouts: Sequence[Rollout],
    ruled: Sequence[_Ruled],
) -> list[_Known | Unassessed]:
    """Have the caller's function mark what is left to it; one that fails leaves its answer without a score."""
    waiting = [place for place, each in enumerate(ruled) if isinstance(each, Unexamined)]
    known = {place: each for place, each in enumerate(ruled) if not isinstance(each, Unexamined)}
    if waiting:
        works = [examiner.ask(_paper(tasks[place], rollouts[place])) for place in waiting]
        outcomes = await run.do(phase, examiner.verb, works)
        for place, outcome in zip(waiting, outcomes, strict=True):
            if isinstance(outcome, Failure):
                known[place] = _Cause(f"grading: {outcome.kind}")
            else:
                known[place] = msgspec.json.decode(outcome.text, type=Score)
    return [known[place] for place in range(len(ruled))]


def _paper(task: Task, rollout: Rollout) -> tuple[Message, ...]:
    answer = rollout.text if isinstance(rollout, Answered) else ""
    return (Message("user", msgspec.json.encode(task).decode()), Message("assistant", answer))


def _ruled(grading: Grading, task: Task, rollout: Rollout) -> _Ruled:
    if isinstance(rollout, Failed):
        return _Cause(rollout.failure.kind)
    try:
        with Attributed(TaskError, f"Grading task {task.id!r}"):
            return grading.ruled(task, rollout)
    except TaskError as error:
        return _Cause(str(error))


def mean_of(board: Scoreboard) -> Mean:
    """Return the board's means as a fact, over its tasks; the interval is that of the hard score."""
    interval = board.interval(_HARD)
    return Mean(
        hard=board.hard,
        soft=board.soft,
        n=len(board.measured_tasks),
        failed=board.failed,
        low=None if interval is None else interval.low,
        high=None if interval is None else interval.high,
    )


def means_by_type(board: Scoreboard, types: Mapping[str, str]) -> dict[str, Mean]:
    """Return the means of each task type."""
    return {typed.type: mean_of(typed.board) for typed in board.by_type(types)}


def board_of(rows: Iterable[TaskScore]) -> Scoreboard:
    """Return the board that these facts tell of."""
    return Scoreboard(
        tuple(
            Scored(task_id=row.task_id, trial=row.trial, cause=row.cause)
            if row.hard is None or row.soft is None
            else Scored(task_id=row.task_id, trial=row.trial, score=Score(hard=row.hard, soft=row.soft))
            for row in rows
        )
    )


def facts_of(board: Scoreboard) -> tuple[TaskScore, ...]:
    """Return the board row by row as facts."""
    return tuple(
        TaskScore(row.task_id, row.trial, None, None, "", row.cause if row.cause is not None else "")
        if row.score is None
        else TaskScore(row.task_id, row.trial, row.score.hard, row.score.soft, row.score.feedback)
        for row in board.rows
    )
