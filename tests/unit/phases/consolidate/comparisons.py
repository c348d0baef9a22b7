"""Comparisons written down: tasks with marks for how they went before and now."""

from __future__ import annotations

from collections.abc import Sequence

from skillopt.domain.rollouts import Answered, Failed, Failure, Rollout
from skillopt.domain.scores import Score, Scoreboard, Scored
from skillopt.domain.tasks import Task
from skillopt.phases.consolidate.pairs import Comparison, Pair, Side, paired

MARKS = {"1": 1.0, "0": 0.0, "h": 0.5}


def tasks(count: int) -> tuple[Task, ...]:
    """Return so many tasks."""
    return tuple(Task(id=f"t{number}", input=f"<t{number}> asks", reference="x") for number in range(count))


def side(of: Sequence[Task], marks: str, name: str = "an answer") -> Side:
    """Return a side: 1 right, 0 wrong, h half right, x failed, u ungraded."""
    rollouts, rows = list[Rollout](), list[Scored]()
    for task, mark in zip(of, marks, strict=True):
        failure = Failure(kind="UnavailableError", who="provider", message="down")
        rollouts.append(
            Failed(task_id=task.id, trial=0, failure=failure)
            if mark == "x"
            else Answered(task_id=task.id, trial=0, text=f"{name} to {task.id}")
        )
        score = Score(hard=MARKS[mark], soft=MARKS[mark], feedback=f"{name} is {mark}") if mark in MARKS else None
        rows.append(Scored(task_id=task.id, score=score, cause=None if score else "down"))
    return Side(rollouts=tuple(rollouts), board=Scoreboard(tuple(rows)))


def comparison(before: str, now: str) -> Comparison:
    """Return a comparison whose pairs are all kept."""
    of = tasks(len(before))
    found = paired(of, (side(of, before, "then"), side(of, now, "now")))
    pairs = tuple(each for each in found if isinstance(each, Pair))
    return Comparison(pairs=pairs, kept=pairs, left_out=tuple(each for each in found if isinstance(each, str)))
