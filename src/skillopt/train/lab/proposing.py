"""From graded answers to a candidate: reflect, aggregate, select and update, and what is told of each.
Owns how one stage's patches reach the next; refuses to know whether the candidate is any good."""

from __future__ import annotations

from collections.abc import Sequence

from skillopt.domain.progress.memory import Memory
from skillopt.domain.progress.state import Step
from skillopt.domain.skill import Candidate, Patch, Skill
from skillopt.kernel.events import BudgetDecided, PatchProposed, PatternFact
from skillopt.phases.aggregate import aggregate
from skillopt.phases.budget import BudgetDecision, decide
from skillopt.phases.proposals.author import Briefing
from skillopt.phases.reflect import Graded, Proposal, reflect
from skillopt.phases.select import select
from skillopt.phases.update import UPDATES
from skillopt.train.lab.parts import Parts, Teller, candidate_made, edit_fact
from skillopt.train.plan import Plan


class Proposing:
    """Turns what went wrong, and right, into a changed skill."""

    def __init__(self, parts: Parts, teller: Teller) -> None:
        optimizer = parts.optimizer
        self._run = parts.run
        self._reflecting = parts.reflect
        self._own = parts.members.reflects
        self._aggregating = parts.aggregate
        self._teller = teller
        self._author = parts.author()
        self._update = UPDATES[optimizer.mode]
        self._budget = {"fixed": self._scheduled, "autonomous": self._decided, "none": self._scheduled}[
            optimizer.control
        ]
        self._files = optimizer.file_budgets
        self._graded: Sequence[Graded] = ()

    async def reflect(
        self, plan: Plan, step: Step, skill: Skill, graded: Sequence[Graded], memory: Memory
    ) -> tuple[Proposal, ...]:
        """Ask the optimizer what to change; what could not be used is warned about."""
        self._graded = graded
        briefing = self._briefing(plan, step, skill, memory)
        proposals = await reflect(self._author, self._reflecting, graded, briefing, self._own)
        for proposal in proposals:
            if proposal.unusable:
                self._warn(step, "no usable reflection", proposal.unusable)
            else:
                self._propose(step, "reflect", proposal)
        return proposals

    async def aggregate(
        self, plan: Plan, step: Step, skill: Skill, proposals: Sequence[Proposal], memory: Memory
    ) -> Patch:
        """Merge what the minibatches proposed."""
        failures = [proposal.patch for proposal in proposals if proposal.source == "failure"]
        successes = [proposal.patch for proposal in proposals if proposal.source == "success"]
        briefing = self._briefing(plan, step, skill, memory)
        merged = await aggregate(self._author, self._aggregating, failures, successes, briefing)
        for why in merged.unusable:
            self._warn(step, "proposals were put together without the optimizer", why)
        self._tell(step, "aggregate", merged.patch)
        return merged.patch

    async def select(self, plan: Plan, step: Step, skill: Skill, merged: Patch, memory: Memory) -> Patch:
        """Keep as many changes as the budget allows."""
        briefing = self._briefing(plan, step, skill, memory)
        budget = await self._budget(step, merged, briefing)
        selected = await select(self._author, merged, budget, briefing, self._files)
        if selected.unusable:
            self._warn(step, "the first proposals were taken without a ranking", selected.unusable)
        self._tell(step, "select", selected.patch)
        return selected.patch

    async def update(self, plan: Plan, step: Step, skill: Skill, chosen: Patch, memory: Memory) -> Candidate:
        """Make the chosen changes."""
        briefing = self._briefing(plan, step, skill, memory)
        updated = await self._update(self._author, chosen, briefing)
        candidate = updated.candidate
        if updated.unusable:
            self._warn(step, "no usable reply while changing the skill", updated.unusable)
        self._teller.keep(candidate.skill)
        self._run.emit(candidate_made(step.number, candidate))
        return candidate

    async def _scheduled(self, _step: Step, _merged: Patch, briefing: Briefing) -> int | None:
        return briefing.edit_budget

    async def _decided(self, step: Step, merged: Patch, briefing: Briefing) -> int | None:
        decision = await decide(self._author, merged, self._graded, briefing)
        if decision.error:
            self._warn(step, "nothing is changed, since the optimizer set no budget", decision.error)
        self._run.emit(_decision_fact(step, decision))
        return decision.budget

    def _briefing(self, plan: Plan, step: Step, skill: Skill, memory: Memory) -> Briefing:
        return Briefing(
            skill=skill,
            edit_budget=plan.edit_budget(step),
            memory=self._reflecting.told(memory),
            reminders_from=plan.optimizer.skill_aware.kinds,
        )

    def _warn(self, step: Step, what: str, why: str) -> None:
        self._teller.warn(f"Step {step.number}: {what}: {why}")

    def _propose(self, step: Step, stage: str, proposal: Proposal) -> None:
        self._run.emit(
            PatchProposed(
                step=step.number,
                stage=stage,
                minibatch=proposal.minibatch,
                source=proposal.source,
                reasoning=proposal.patch.reasoning,
                edits=tuple(edit_fact(change, "proposed") for change in proposal.patch.changes),
                tasks=proposal.tasks,
                patterns=tuple(PatternFact(words=seen.words, count=seen.count) for seen in proposal.patterns),
            )
        )

    def _tell(self, step: Step, stage: str, patch: Patch) -> None:
        self._run.emit(
            PatchProposed(
                step=step.number,
                stage=stage,
                minibatch=-1,
                source="merged",
                reasoning=patch.reasoning,
                edits=tuple(edit_fact(change, "proposed") for change in patch.changes),
            )
        )


def _decision_fact(step: Step, decision: BudgetDecision) -> BudgetDecided:
    return BudgetDecided(
        step=step.number,
        learning_rate=decision.budget,
        raw_learning_rate=decision.raw,
        available_update_items=decision.available,
        clamped=decision.clamped,
        fallback=decision.fallback,
        reasoning=decision.reasoning,
        confidence=decision.confidence,
        risk_notes=decision.risk_notes,
        error=decision.error,
    )
