"""Puts reminders of overlooked rules into the appendix: of the candidate, before the gate, or of what the gate left.
Owns when that happens and what is told of it; refuses to know what a reminder is and how a candidate is measured."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from skillopt.domain.progress.state import Step, TrainState
from skillopt.domain.skill import Candidate, Skill
from skillopt.kernel.events import NotesTaken
from skillopt.phases.consolidate.notes import Reminders, consolidated, gathered, with_notes
from skillopt.phases.reflect import Proposal
from skillopt.train.lab.deciding import Deciding
from skillopt.train.lab.parts import Parts, Teller, candidate_made
from skillopt.train.plan import Plan


class Noting:
    """Keeps the appendix."""

    def __init__(self, parts: Parts, teller: Teller, deciding: Deciding) -> None:
        self._run = parts.run
        self._author = parts.author()
        self._teller = teller
        self._deciding = deciding

    async def remind(self, plan: Plan, step: Step, candidate: Candidate, proposals: Sequence[Proposal]) -> Candidate:
        """Return the candidate with the step's reminders, so that the gate decides on both; not if they are forced."""
        if plan.optimizer.skill_aware.accept == "force":
            return candidate
        noted = await self._noted(plan, step, candidate.skill, proposals)
        if noted is candidate.skill:
            return candidate
        reminded = msgspec.structs.replace(candidate, skill=noted)
        self._run.emit(candidate_made(step.number, reminded))
        return reminded

    async def append(self, plan: Plan, step: Step, state: TrainState, proposals: Sequence[Proposal]) -> TrainState:
        """Put forced reminders into what the gate left, and measure that: no score outlives the text it is of."""
        if plan.optimizer.skill_aware.accept != "force":
            return state
        noted = await self._noted(plan, step, state.skill, proposals)
        if noted is state.skill:
            return state
        candidate = Candidate(skill=noted, parent_digest=state.skill.rendered_digest)
        origin = f"appendix_{step.origin}"
        gated = await self._deciding.gate(plan, origin, candidate, state, forced=True)
        return state.taking(candidate, gated, origin=origin, step=step.number)

    async def _noted(self, plan: Plan, step: Step, skill: Skill, proposals: Sequence[Proposal]) -> Skill:
        """Return the skill with the reminders that are new to it; the same skill where there are none."""
        proposed = tuple(note for proposal in proposals for note in proposal.patch.notes)
        if not proposed:
            return skill
        reminders = gathered(skill, proposed)
        most = plan.optimizer.skill_aware.consolidate_above
        if reminders.added and 0 < most < len(reminders.all):
            reminders = await consolidated(self._author, skill, reminders)
        noted = with_notes(skill, reminders.all) if reminders.added else skill
        self._tell(step, noted, proposed, reminders)
        return noted

    def _tell(self, step: Step, skill: Skill, proposed: tuple[str, ...], reminders: Reminders) -> None:
        for refused in reminders.refused:
            self._teller.warn(f"Step {step.number}: a reminder was refused: {refused.objection.detail}")
        self._teller.keep(skill)
        self._run.emit(
            NotesTaken(
                step=step.number,
                skill_digest=skill.digest,
                proposed=proposed,
                added=reminders.added,
                refused=tuple(refused.note for refused in reminders.refused),
                total=len(reminders.all),
                consolidated=reminders.consolidated,
            )
        )
