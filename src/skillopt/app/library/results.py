"""What the library's calls return: the skill and the scores, as values.
Owns their fields; refuses to know how they came about."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec

from skillopt.app.project.prepare import Prepared
from skillopt.app.session import Ended, Examined
from skillopt.domain.skill import Skill
from skillopt.kernel.events import Event, TaskScore
from skillopt.kernel.view import view_of, whole
from skillopt.train.history import StepRecord, history
from skillopt.train.summary import ScoreRow, Summary, score_row


class Optimized(msgspec.Struct, frozen=True, kw_only=True):
    """What an optimization came to: the best skill, the summary, a record of each step, and the run's folder if kept.

    `summary.status` says whether it was finished or stopped by a cap, `summary.scores` what was measured.
    """

    skill: Skill
    summary: Summary
    steps: tuple[StepRecord, ...]
    warnings: tuple[str, ...]
    folder: Path | None


class Evaluated(msgspec.Struct, frozen=True, kw_only=True):
    """How a skill did: the score with its interval, and what was found for each task."""

    score: ScoreRow
    failed: int
    tasks: tuple[TaskScore, ...]


def optimized(prepared: Prepared, events: Sequence[Event], ended: Ended) -> Optimized:
    """Return the result of a training session."""
    view = view_of(whole(events))
    steps = [step.ended for step in view.finished_steps if step.ended is not None]
    seed = prepared.plan.seed_skill
    best = seed
    if steps and steps[-1].best_digest != seed.digest:
        kept = view.skills[steps[-1].best_digest]
        best = Skill.from_files(kept.files, name=kept.name)
    return Optimized(
        skill=best,
        summary=ended.summary,
        steps=history(view),
        warnings=(*prepared.plan.tasks.warnings, *view.warnings),
        folder=None if prepared.in_memory else prepared.root / ended.summary.run_dir,
    )


def evaluated(examined: Examined) -> Evaluated:
    """Return the result of an exam of one trial."""
    (trial,) = examined.trials
    return Evaluated(score=score_row(trial.mean), failed=trial.mean.failed, tasks=trial.rows)
