"""From graded answers to a candidate: reflect, aggregate, select and update, and what is told of each.
Owns how one stage's patches reach the next; refuses to know whether the candidate is any good."""

from __future__ import annotations

from collections.abc import Sequence

from skillopt.domain.progress.memory import Memory
from skillopt.domain.progress.state import Step
from skillopt.domain.skill import Candidate, Patch, Skill, apply
from skillopt.kernel.events import PatchProposed
from skillopt.phases.aggregate import aggregate
from skillopt.phases.reflect import Briefing, Graded, Proposal, reflect
from skillopt.phases.select import first_of
from skillopt.train.lab.parts import Parts, Teller, candidate_made, edit_fact
from skillopt.train.plan import Plan


class Proposing:
    """Turns what went wrong, and right, into a changed skill."""

    def __init__(self, parts: Parts, teller: Teller) -> None:
        self._run = parts.run
        self._staff = parts.staff
        self._settings = parts.reflect
        self._teller = teller

    async def reflect(
        self, plan: Plan, step: Step, skill: Skill, graded: Sequence[Graded], memory: Memory
    ) -> tuple[Proposal, ...]:
        """Ask the optimizer what to change; what could not be used is warned about."""
        briefing = Briefing(
            skill=skill,
            edit_budget=plan.edit_budget(step),
            memory=memory,
            reminders_from=plan.optimizer.skill_aware.kinds,
        )
        proposals = await reflect(self._run, self._staff.at("reflect"), self._settings, graded, briefing)
        for proposal in proposals:
            if proposal.unusable:
                self._teller.warn(f"Step {step.number}: no usable reflection: {proposal.unusable}")
            else:
                self._propose(step, "reflect", proposal.minibatch, proposal.source, proposal.patch)
        return proposals

    async def aggregate(
        self, _plan: Plan, step: Step, _skill: Skill, proposals: Sequence[Proposal], _memory: Memory
    ) -> Patch:
        """Merge what the minibatches proposed."""
        merged = aggregate([proposal.patch for proposal in proposals])
        self._propose(step, "aggregate", -1, "merged", merged)
        return merged

    async def select(self, plan: Plan, step: Step, _skill: Skill, merged: Patch, _memory: Memory) -> Patch:
        """Keep as many edits as the budget allows."""
        chosen = first_of(merged, plan.edit_budget(step))
        self._propose(step, "select", -1, "merged", chosen)
        return chosen

    async def update(self, _plan: Plan, step: Step, skill: Skill, chosen: Patch, _memory: Memory) -> Candidate:
        """Apply the chosen edits."""
        candidate = apply(skill, chosen)
        self._teller.keep(candidate.skill)
        self._run.emit(candidate_made(step, candidate))
        return candidate

    def _propose(self, step: Step, stage: str, minibatch: int, source: str, patch: Patch) -> None:
        self._run.emit(
            PatchProposed(
                step=step.number,
                stage=stage,
                minibatch=minibatch,
                source=source,
                reasoning=patch.reasoning,
                edits=tuple(edit_fact(edit, "proposed") for edit in patch.edits),
            )
        )
