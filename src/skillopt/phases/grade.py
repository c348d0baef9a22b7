"""Scores rollouts: an answer gets a score, a failure keeps its cause and gets none.
Owns that distinction; refuses to know how an environment grades."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from skillopt.domain.errors import TaskError
from skillopt.domain.rollouts import Failed, Rollout
from skillopt.domain.scores import Metric, MetricName, Scoreboard, Scored
from skillopt.domain.tasks import Task
from skillopt.kernel.boundary import Attributed
from skillopt.kernel.events import Mean, TaskScore
from skillopt.kernel.ports import Environment

_HARD = Metric(name=MetricName.HARD)


def grade(environment: Environment, tasks: Sequence[Task], rollouts: Sequence[Rollout]) -> Scoreboard:
    """Return the scoreboard of these rollouts, in order."""
    return Scoreboard(tuple(_graded(environment, task, rollout) for task, rollout in zip(tasks, rollouts, strict=True)))


def _graded(environment: Environment, task: Task, rollout: Rollout) -> Scored:
    if isinstance(rollout, Failed):
        return Scored(task_id=task.id, trial=rollout.trial, cause=rollout.failure.kind)
    try:
        with Attributed(TaskError, f"Grading task {task.id!r}"):
            score = environment.grade(task, rollout.text)
    except TaskError as error:
        return Scored(task_id=task.id, trial=rollout.trial, cause=str(error))
    return Scored(task_id=task.id, trial=rollout.trial, score=score)


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
