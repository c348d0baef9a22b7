"""Improves several skills side by side: draws the one a step starts from, and puts two together now and then.
Owns what is told of that; refuses to know who enters a frontier and how a skill is measured."""

from __future__ import annotations

from skillopt.domain.progress.frontier import Pair, places
from skillopt.domain.progress.state import Step, TrainState
from skillopt.domain.seeds import dice
from skillopt.domain.skill import Candidate, apply
from skillopt.kernel.events import FrontierMerged, FrontierStood, MemberFact
from skillopt.train.lab.deciding import Deciding
from skillopt.train.lab.parts import Parts, Teller, candidate_made
from skillopt.train.plan import Plan


class Searching:
    """Keeps to one skill where the config asks for no more."""

    def __init__(self, parts: Parts, teller: Teller, deciding: Deciding) -> None:
        self._run = parts.run
        self._scripts = parts.optimizer.edit_scripts
        self._description = parts.optimizer.edit_description
        self._teller = teller
        self._deciding = deciding

    def choose(self, plan: Plan, step: Step, state: TrainState) -> TrainState:
        """Return the state with the skill whose turn it is as incumbent; who is drawn depends on seed and step only."""
        if not plan.search.several:
            return state
        luck = dice("the parent of a step", plan.train.seed, step.number)
        parent = state.frontier.drawn(luck, state.metric)
        self._tell(step.number, parent.origin, state)
        return state.starting_from(parent)

    def lead(self, plan: Plan, state: TrainState) -> TrainState:
        """Return the state with the best skill as incumbent: an epoch is looked back on, and added to, from there."""
        return state.starting_from(state.frontier.as_it_stands(state.best)) if plan.search.several else state

    async def merge(self, plan: Plan, step: Step, state: TrainState) -> TrainState:
        """Where it is time, put two skills that complement each other together, and let the gate decide."""
        if not plan.merges_after(step):
            return state
        found = self._union(state)
        if found is None:
            return state
        pair, union = found
        origin = f"merge_{step.origin}"
        self._teller.keep(union.skill)
        self._run.emit(
            FrontierMerged(
                origin=origin,
                better=pair.better.origin,
                better_digest=pair.better.skill.digest,
                other=pair.other.origin,
                other_digest=pair.other.skill.digest,
                made=candidate_made(step.number, union),
            )
        )
        before = state.starting_from(pair.parent)
        gated = await self._deciding.gate(plan, origin, union, before)
        after = before.taking(union, gated, origin=origin, step=step.number)
        return (state if after is before else after).trying(union.skill)

    def conclude(self, plan: Plan, state: TrainState) -> None:
        """Tell how the frontier stands at the end."""
        if plan.search.several:
            self._tell(state.steps_done, "", state)

    def _union(self, state: TrainState) -> tuple[Pair, Candidate] | None:
        """Return the first two that complement each other and make a skill that was not tried before."""
        for pair in state.frontier.complements(state.metric):
            union = apply(
                pair.better.skill, pair.lacking, edit_scripts=self._scripts, edit_description=self._description
            )
            if union.changed and not state.frontier.knows(union.skill):
                return pair, union
        return None

    def _tell(self, step: int, parent: str, state: TrainState) -> None:
        members = tuple(
            MemberFact(
                origin=place.standing.origin,
                skill_digest=place.standing.skill.digest,
                score=place.standing.board.value(state.metric),
                best_on=len(place.best_on),
            )
            for place in places(state.frontier.members, state.metric)
        )
        self._run.emit(FrontierStood(step=step, parent=parent, members=members))
