"""Scores rollouts: an answer gets a score, by rules or by a judge; a failure keeps its cause and gets none.
Owns that distinction; refuses to know how an environment grades and what a judge is asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from skillopt.domain.errors import TaskError
from skillopt.domain.judging import Agreement, Unjudged
from skillopt.domain.rollouts import Failed, Rollout
from skillopt.domain.scores import Metric, MetricName, Scoreboard, Scored
from skillopt.domain.tasks import Task
from skillopt.kernel.boundary import Attributed
from skillopt.kernel.events import Mean, TaskScore
from skillopt.kernel.ports import Environment
from skillopt.kernel.run import Run
from skillopt.phases.judging.marking import Judge, Paper, agreement, mark

_HARD = Metric(name=MetricName.HARD)


class Grading(msgspec.Struct, frozen=True, kw_only=True):
    """What grades: the environment by its rules, and a judge where they leave an answer to one."""

    environment: Environment
    judge: Judge


class Grades(msgspec.Struct, frozen=True, kw_only=True):
    """The scoreboard of some rollouts, and how far a judge agreed with itself; None where none was asked."""

    board: Scoreboard
    agreement: Agreement | None = None


async def grade(run: Run, phase: str, grading: Grading, tasks: Sequence[Task], rollouts: Sequence[Rollout]) -> Grades:
    """Return the scores of these rollouts, in order. Where no answer needs a judge, there is no phase."""
    ruled = [_ruled(grading.environment, task, rollout) for task, rollout in zip(tasks, rollouts, strict=True)]
    left = [(place, each) for place, each in enumerate(ruled) if isinstance(each, Unjudged)]
    if not left:
        return Grades(board=Scoreboard(tuple(row for row in ruled if isinstance(row, Scored))))
    marked = await mark(run, phase, grading.judge, [Paper(tasks[place], case) for place, case in left])
    rows: dict[int, Scored] = {
        place: Scored(task_id=tasks[place].id, trial=rollouts[place].trial, score=each.score, cause=each.cause)
        for (place, _), each in zip(left, marked, strict=True)
    }
    board = Scoreboard(tuple(row if isinstance(row, Scored) else rows[place] for place, row in enumerate(ruled)))
    return Grades(board=board, agreement=agreement(marked))


def _ruled(environment: Environment, task: Task, rollout: Rollout) -> Scored | Unjudged:
    if isinstance(rollout, Failed):
        return Scored(task_id=task.id, trial=rollout.trial, cause=rollout.failure.kind)
    try:
        with Attributed(TaskError, f"Grading task {task.id!r}"):
            score = environment.grade(task, rollout.text)
    except TaskError as error:
        return Scored(task_id=task.id, trial=rollout.trial, cause=str(error))
    return score if isinstance(score, Unjudged) else Scored(task_id=task.id, trial=rollout.trial, score=score)


def mean_of(board: Scoreboard) -> Mean:
    """Return the board's means as a fact; the interval is that of the hard score."""
    interval = board.interval(_HARD)
    return Mean(
        hard=board.hard,
        soft=board.soft,
        n=board.n,
        failed=board.failed,
        low=None if interval is None else interval.low,
        high=None if interval is None else interval.high,
    )


def means_by_type(board: Scoreboard, types: Mapping[str, str]) -> dict[str, Mean]:
    """Return the means of each task type."""
    return {typed.type: mean_of(typed.board) for typed in board.by_type(types)}


def facts_of(board: Scoreboard) -> tuple[TaskScore, ...]:
    """Return the board row by row as facts."""
    return tuple(
        TaskScore(row.task_id, row.trial, None, None, "", row.cause if row.cause is not None else "")
        if row.score is None
        else TaskScore(row.task_id, row.trial, row.score.hard, row.score.soft, row.score.feedback)
        for row in board.rows
    )
