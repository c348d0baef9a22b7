"""The lab: the strategies a loop is given, made from phases and the ports they ask.
Owns which phase does which verb, and the facts told about each; refuses to know adapters and config files."""

from __future__ import annotations

from collections.abc import Sequence

from skillopt.domain.errors import SkilloptError, UnavailableError
from skillopt.domain.rollouts import Rollout
from skillopt.domain.scores import Scoreboard
from skillopt.domain.skill import Candidate, Edit, Patch, Skill, apply
from skillopt.domain.state import Gated, Memory, Standing, Step, StepOutcome, TrainState, action_of
from skillopt.domain.tasks import Task
from skillopt.kernel.events import (
    BatchGraded,
    CandidateMade,
    EditFact,
    GateDecided,
    Measured,
    PatchProposed,
    RunEnded,
    SkillKept,
    StepBegan,
    StepEnded,
    Warned,
)
from skillopt.kernel.ports import Environment
from skillopt.kernel.run import Run
from skillopt.kernel.work import Asker
from skillopt.phases.aggregate import aggregate
from skillopt.phases.gate import GateSettings, gate
from skillopt.phases.grade import facts_of, grade, mean_of, means_by_type
from skillopt.phases.reflect import Briefing, Graded, Proposal, ReflectSettings, reflect
from skillopt.phases.rollout import Rollouts, rollout
from skillopt.phases.select import first_of
from skillopt.train.plan import Plan


class Lab:
    """Does what the loop names, on the run it was made for."""

    def __init__(
        self,
        *,
        run: Run,
        environment: Environment,
        target: Asker,
        optimizer: Asker,
        reflect_settings: ReflectSettings,
        gate_settings: GateSettings,
    ) -> None:
        self._run = run
        self._environment = environment
        self._target = target
        self._optimizer = optimizer
        self._reflect = reflect_settings
        self._gate = gate_settings
        self._kept: set[str] = set()

    async def measure(
        self, skill: Skill, tasks: Sequence[Task], *, label: str, split: str, trial: int = 0
    ) -> Scoreboard:
        """Score a skill on a split, and say so."""
        self._keep(skill)
        rollouts = await self._rollouts(f"{label}/{split}", skill, tasks, trial)
        board = grade(self._environment, tasks, rollouts)
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

    async def baseline(self, plan: Plan) -> TrainState:
        """Measure the seed skill on val; a target that answers nothing there ends the run."""
        board = await self.measure(plan.seed_skill, plan.val, label="baseline", split="val")
        if not board.n:
            raise _silent_target(len(plan.val), board.cause)
        return TrainState.begin(plan.seed_skill, board, self._gate.compared)

    async def rollout(self, plan: Plan, step: Step, skill: Skill) -> tuple[Graded, ...]:
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
            rollouts = await self._rollouts(f"batch_{batch.index}", skill, batch.tasks)
            board = grade(self._environment, batch.tasks, rollouts)
            graded.append(Graded(batch=batch, rollouts=rollouts, board=board))
            self._run.emit(
                BatchGraded(
                    step=step.number, batch=batch.index, seed=batch.seed, mean=mean_of(board), rows=facts_of(board)
                )
            )
        return tuple(graded)

    async def reflect(
        self, plan: Plan, step: Step, skill: Skill, graded: Sequence[Graded], memory: Memory
    ) -> tuple[Proposal, ...]:
        """Ask the optimizer what to change; what could not be used is warned about."""
        briefing = Briefing(skill=skill, edit_budget=plan.edit_budget(step), memory=memory)
        proposals = await reflect(self._run, self._optimizer, self._reflect, graded, briefing)
        for proposal in proposals:
            if proposal.unusable:
                self._run.emit(Warned(message=f"Step {step.number}: no usable reflection: {proposal.unusable}"))
            else:
                self._propose(step, "reflect", proposal.minibatch, proposal.source, proposal.patch)
        return proposals

    async def aggregate(self, step: Step, proposals: Sequence[Proposal]) -> Patch:
        """Merge what the minibatches proposed."""
        merged = aggregate([proposal.patch for proposal in proposals])
        self._propose(step, "aggregate", -1, "merged", merged)
        return merged

    async def select(self, plan: Plan, step: Step, merged: Patch) -> Patch:
        """Keep as many edits as the budget allows."""
        chosen = first_of(merged, plan.edit_budget(step))
        self._propose(step, "select", -1, "merged", chosen)
        return chosen

    async def update(self, step: Step, skill: Skill, chosen: Patch) -> Candidate:
        """Apply the chosen edits."""
        candidate = apply(skill, chosen)
        self._keep(candidate.skill)
        applied = [_edit_fact(each.edit, "applied") for each in candidate.applied]
        refused = [_edit_fact(each.edit, each.reason.value, each.detail) for each in candidate.refused]
        self._run.emit(
            CandidateMade(
                step=step.number,
                skill_digest=candidate.skill.digest,
                changed=candidate.changed,
                edits=(*applied, *refused),
            )
        )
        return candidate

    async def gate(self, plan: Plan, step: Step, candidate: Candidate, incumbent: Standing, best: Standing) -> Gated:
        """Decide whether the candidate is kept."""

        async def measure(skill: Skill) -> Scoreboard:
            return await self.measure(skill, plan.val, label=step.origin, split="val")

        gated = await gate(self._gate, measure, candidate, incumbent, best)
        verdict = gated.verdict
        self._run.emit(
            GateDecided(
                step=step.number,
                rule=self._gate.rule,
                metric=self._gate.metric,
                verdict=type(verdict).__name__.lower(),
                action=action_of(candidate, verdict),
                reason=verdict.reason,
                candidate=verdict.candidate,
                incumbent=verdict.incumbent,
                best=verdict.best,
                n=verdict.n,
                failed=0 if gated.board is None else gated.board.failed,
                calls=verdict.calls,
            )
        )
        return gated

    @staticmethod
    def outcome(
        step: Step, graded: Sequence[Graded], proposals: Sequence[Proposal], candidate: Candidate, gated: Gated
    ) -> StepOutcome:
        """Put together what a step came to."""
        return StepOutcome(
            step=step,
            candidate=candidate,
            gated=gated,
            train=Scoreboard(tuple(row for each in graded for row in each.board.rows)),
            asked=len(proposals),
            answered=sum(1 for proposal in proposals if not proposal.unusable),
        )

    def close(self, step: Step, state: TrainState) -> None:
        """Say that a step is whole, and how things stand after it."""
        self._run.emit(
            StepEnded(
                step=step.number,
                epoch=step.epoch,
                step_in_epoch=step.in_epoch,
                skill_digest=state.skill.digest,
                best_digest=state.best.skill.digest,
                current_score=state.incumbent.board.value(state.metric),
                best_score=state.best.board.value(state.metric),
                best_step=state.best.step,
                current_origin=state.incumbent.origin,
                best_origin=state.best.origin,
            )
        )

    async def report(self, plan: Plan, state: TrainState, reason: str) -> TrainState:
        """Score the chosen skills on test, which decided nothing, and end the run."""
        last, best = state.incumbent, state.best
        tested = {"initial": ("baseline", plan.seed_skill), "best": ("best", best.skill), "last": ("last", last.skill)}
        if plan.tasks.test:
            for name in plan.test:
                label, skill = tested[name]
                await self.measure(skill, plan.tasks.test, label=label, split="test")
        untouched = best.step == 0
        self._run.emit(
            RunEnded(
                stop_reason=reason,
                best_digest=best.skill.digest,
                last_digest=last.skill.digest,
                best_origin=best.origin,
                current_origin=last.origin,
                claimed_val=best.board.value(state.metric) if untouched else None,
            )
        )
        return state

    async def _rollouts(self, phase: str, skill: Skill, tasks: Sequence[Task], trial: int = 0) -> tuple[Rollout, ...]:
        works = Rollouts(asker=self._target, environment=self._environment, skill=skill, tasks=tasks, trial=trial)
        return await rollout(self._run, phase, works, tasks, trial)

    def _keep(self, skill: Skill) -> None:
        if skill.digest not in self._kept:
            self._kept.add(skill.digest)
            files = {file.path: file.text for file in skill.files}
            self._run.emit(SkillKept(digest=skill.digest, name=skill.name, files=files))

    def _propose(self, step: Step, stage: str, minibatch: int, source: str, patch: Patch) -> None:
        self._run.emit(
            PatchProposed(
                step=step.number,
                stage=stage,
                minibatch=minibatch,
                source=source,
                reasoning=patch.reasoning,
                edits=tuple(_edit_fact(edit, "proposed") for edit in patch.edits),
            )
        )


def _edit_fact(edit: Edit, status: str, detail: str = "") -> EditFact:
    return EditFact(
        op=edit.op.value,
        content=edit.content,
        target=edit.target,
        file=edit.file,
        support=edit.support,
        source=edit.source,
        status=status,
        detail=detail,
    )


def _silent_target(tasks: int, cause: str | None) -> SkilloptError:
    return UnavailableError(
        f"The target answered none of the {tasks} val tasks ({cause}), so there is nothing to compare with.",
        hint="Look at models.target (skillopt doctor), then run it with --fresh: answers are kept.",
    )
