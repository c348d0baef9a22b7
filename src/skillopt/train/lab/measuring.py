"""Puts tasks to the target with a skill, grades the answers, and tells what was measured.
Owns the names of these phases; refuses to know what the scores decide."""

from __future__ import annotations

from collections.abc import Sequence

from skillopt.domain.progress.state import Step
from skillopt.domain.rollouts import Rollout
from skillopt.domain.scores import Scoreboard
from skillopt.domain.skill import Skill
from skillopt.domain.tasks import Task
from skillopt.kernel.events import AnswersJudged, BatchGraded, Measured, StepBegan
from skillopt.phases.grade import Grading, facts_of, grade, mean_of, means_by_type
from skillopt.phases.judging.marking import Judge
from skillopt.phases.reflect import Graded
from skillopt.phases.rollout import Rollouts, rollout
from skillopt.train.lab.parts import Parts, Teller
from skillopt.train.plan import Plan


class Measuring:
    """Measures skills on tasks, for training and for deciding."""

    def __init__(self, parts: Parts, teller: Teller) -> None:
        self._run = parts.run
        self._environment = parts.environment
        self._target = parts.staff.at("rollout")
        self._grading = Grading(
            environment=parts.environment, judge=Judge(asker=parts.staff.at("judge"), settings=parts.judge)
        )
        self._teller = teller

    async def measure(
        self, skill: Skill, tasks: Sequence[Task], *, label: str, split: str, trial: int = 0
    ) -> Scoreboard:
        """Score a skill on a split, and say so."""
        self._teller.keep(skill)
        board = (await self._graded(f"{label}/{split}", skill, tasks, trial))[1]
        types = {task.id: task.type for task in tasks if task.type is not None}
        self._run.emit(
            Measured(
                label=label,
                split=split,
                skill_digest=skill.digest,
                mean=mean_of(board),
                by_type=means_by_type(board, types),
                rows=facts_of(board),
            )
        )
        return board

    async def batches(self, plan: Plan, step: Step, skill: Skill) -> tuple[Graded, ...]:
        """Put the step's microbatches to the target and grade the answers."""
        self._run.emit(
            StepBegan(
                step=step.number,
                epoch=step.epoch,
                step_in_epoch=step.in_epoch,
                edit_budget=plan.edit_budget(step),
                skill_digest=skill.digest,
            )
        )
        graded = []
        for batch in plan.batches(step):
            rollouts, board = await self._graded(f"batch_{batch.index}", skill, batch.tasks, trial=0)
            graded.append(Graded(batch=batch, rollouts=rollouts, board=board))
            self._run.emit(
                BatchGraded(
                    step=step.number, batch=batch.index, seed=batch.seed, mean=mean_of(board), rows=facts_of(board)
                )
            )
        return tuple(graded)

    async def _graded(
        self, phase: str, skill: Skill, tasks: Sequence[Task], trial: int
    ) -> tuple[tuple[Rollout, ...], Scoreboard]:
        works = Rollouts(asker=self._target, environment=self._environment, skill=skill, tasks=tasks, trial=trial)
        rollouts = await rollout(self._run, phase, works, tasks, trial)
        judging = f"{phase}/judge"
        grades = await grade(self._run, judging, self._grading, tasks, rollouts)
        if grades.agreement is not None:
            self._run.emit(AnswersJudged(path=judging, agreement=grades.agreement))
        return rollouts, grades.board
