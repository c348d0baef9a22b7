"""The score of one answer by what its task says of right and wrong: the reference is one part, each check another.
Owns how these parts join, and the public way to grade; refuses to know files, judges and programs."""

from __future__ import annotations

from collections.abc import Collection

from skillopt.domain.errors import TaskError, UsageError
from skillopt.domain.scores import Score, together
from skillopt.domain.tasks import Task
from skillopt.environments import checks
from skillopt.environments.answers import RegexAnswer, extractor
from skillopt.environments.graders import Grade, grader


def ruled(task: Task, answer: str, called: Collection[str], measure: Grade) -> Score:
    """Return the score by reference and checks; hard is 1 when all hold, soft the mean of the parts."""
    if task.reference is not None and not task.checks:
        return measure(answer, task.references)
    held = checked(task, answer, called)
    return held if task.reference is None else together(held, len(task.checks), measure(answer, task.references))


def checked(task: Task, answer: str, called: Collection[str]) -> Score:
    """Return the score by the checks alone."""
    return checks.grade(task.checks, answer, called)


def grade(reply: str, task: Task, *, grader: str = "exact", answer: str | RegexAnswer = "tag") -> Score:
    """Return the score that a run would give this reply; `grader` and `answer` are named as in a config.

    A task whose answers take a judge or a program is refused: those are asked by a run only.
    """
    if task.rubric is not None:
        raise UsageError(
            f"Task {task.id!r} has a rubric, which takes a judge.", hint="Use `skillopt eval`, or leave the rubric out."
        )
    problem = next((problem for problem in map(checks.problem, task.checks) if problem is not None), None)
    if problem is not None:
        raise TaskError(f"Task {task.id!r} cannot be graded: {problem}.", hint="Correct that check.")
    return ruled(task, extractor(answer)(reply), checks.called_tools(reply), _measure(grader))


def _measure(name: str) -> Grade:
    return grader(name).grade
