"""Puts tasks to the target with a skill, grades the answers, and tells what was measured.
Owns the names of these phases; refuses to know what the scores decide."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from skillopt.domain.progress.batches import BatchSpec
from skillopt.domain.progress.state import Step
from skillopt.domain.rollouts import Rollout
from skillopt.domain.scores import Scoreboard
from skillopt.domain.skill import Skill
from skillopt.domain.tasks import Task
from skillopt.kernel.events import AnswersJudged, BatchGraded, Measured, StepBegan
from skillopt.kernel.work import Work
from skillopt.phases.consolidate.pairs import Side
from skillopt.phases.feedback import Lesson, taught
from skillopt.phases.grade import Grading, Rulings, facts_of, grade, judging, mean_of, means_by_type
from skillopt.phases.judging.marking import Judge
from skillopt.phases.reflect import Graded
from skillopt.phases.rollout import Rollouts, agents_worked, rollout
from skillopt.train.lab.parts import Parts, Teller
from skillopt.train.plan import Plan

_TRAINING = "rollout"


class Measuring:
    """Measures skills on tasks, for training and for deciding."""

    def __init__(self, parts: Parts, teller: Teller) -> None:
        self._run = parts.run
        self._environment = parts.environment
        self._target = parts.staff.at("rollout")
        self._grading = Grading(
            environment=parts.environment,
            judge=Judge(asker=parts.staff.at("judge"), settings=parts.judge),
            assessor=parts.assessor,
            work=parts.members.errands,
        )
        self._attempts = parts.attempts
        self._coach = parts.members.feedback
        self._teller = teller

    async def measure(
        self, skill: Skill, tasks: Sequence[Task], *, label: str, split: str, trial: int = 0, repeats: int = 1
    ) -> Scoreboard:
        """Score a skill on a split, in so many trials from the first one on, and say so."""
        self._teller.keep(skill)
        board = await self.score(f"{label}/{split}", skill, tasks, range(trial, trial + repeats))
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

    async def score(self, phase: str, skill: Skill, tasks: Sequence[Task], trials: Sequence[int]) -> Scoreboard:
        """Score a skill without a word: part of a measurement that somebody else tells."""
        return (await self._graded(phase, skill, tasks, trials))[1]

    async def batches(self, plan: Plan, step: Step, skill: Skill) -> tuple[Graded, ...]:
        """Put the step's microbatches to the target and grade the answers."""
        self._run.emit(
            StepBegan(
                step=step.number,
                epoch=step.epoch,
                step_in_epoch=step.in_epoch,
                edit_budget=plan.edit_budget(step),
                skill_digest=skill.digest,
                control=plan.optimizer.control,
                mode=plan.optimizer.mode,
            )
        )
        tasks = plan.tasks_of(step)
        rollouts, board = await self._graded(_TRAINING, skill, tasks, (0,))
        if self._coach is not None:
            lesson = Lesson(
                asker=self._target, environment=self._environment, coach=self._coach, skill=skill, tasks=tasks
            )
            rollouts = await taught(self._run, "feedback", lesson, rollouts)
        return tuple(self._cut(step, plan.batches(step), rollouts, board))

    def works(self, skill: Skill, tasks: Sequence[Task], trials: Sequence[int] = (0,)) -> Rollouts:
        """Return what is asked when a skill is measured on these tasks."""
        return Rollouts(attempts=self._attempts, skill=skill, tasks=tasks, trials=trials)

    def _cut(
        self, step: Step, batches: Sequence[BatchSpec], rollouts: Sequence[Rollout], board: Scoreboard
    ) -> Iterator[Graded]:
        """Cut what was asked together into its microbatches again, and tell of each."""
        start = 0
        for batch in batches:
            end = start + len(batch.tasks)
            own = Scoreboard(board.rows[start:end])
            self._run.emit(
                BatchGraded(step=step.number, batch=batch.index, seed=batch.seed, mean=mean_of(own), rows=facts_of(own))
            )
            yield Graded(batch=batch, rollouts=tuple(rollouts[start:end]), board=own)
            start = end

    async def side_by_side(self, phase: str, skills: tuple[Skill, Skill], tasks: Sequence[Task]) -> tuple[Side, Side]:
        """Put the same tasks to the target with two skills, all at once, and grade the answers."""
        works = [work for skill in skills for work in self.works(skill, tasks)]
        rollouts, board = await self._answered(phase, works, [(task, 0) for task in (*tasks, *tasks)])
        half = len(tasks)
        return (
            Side(rollouts=rollouts[:half], board=Scoreboard(board.rows[:half])),
            Side(rollouts=rollouts[half:], board=Scoreboard(board.rows[half:])),
        )

    async def _graded(
        self, phase: str, skill: Skill, tasks: Sequence[Task], trials: Sequence[int]
    ) -> tuple[tuple[Rollout, ...], Scoreboard]:
        works = self.works(skill, tasks, trials)
        return await self._answered(phase, works, tuple(works.whose()))

    async def _answered(
        self, phase: str, works: Sequence[Work], whose: Sequence[tuple[Task, int]]
    ) -> tuple[tuple[Rollout, ...], Scoreboard]:
        rulings = Rulings(self._grading)
        rollouts = await rollout(self._run, phase, works, whose, rulings.see)
        worked = agents_worked(phase, rollouts, each=phase == _TRAINING)
        if worked is not None:
            self._run.emit(worked)
        grades = await grade(self._run, phase, self._grading, [task for task, _ in whose], rollouts, rulings)
        if grades.agreement is not None:
            self._run.emit(AnswersJudged(path=judging(phase), agreement=grades.agreement))
        return rollouts, grades.board
