"""Whether a candidate is kept, and what is told of the verdict.
Owns which val tasks are measured for it; refuses to know how the candidate came about."""

from __future__ import annotations

import msgspec

from skillopt.domain.progress.state import Gated, TrainState, action_of
from skillopt.domain.scores import Scoreboard
from skillopt.domain.skill import Candidate, Skill
from skillopt.kernel.events import GateDecided
from skillopt.phases.gate import gate
from skillopt.train.lab.comparing import Comparing
from skillopt.train.lab.measuring import Measuring
from skillopt.train.lab.parts import Parts
from skillopt.train.plan import Plan


class Deciding:
    """Holds candidates against the incumbent on val."""

    def __init__(self, parts: Parts, measuring: Measuring) -> None:
        self._run = parts.run
        self._settings = parts.gate
        self._measuring = measuring
        self._comparing = Comparing(parts)

    async def gate(
        self, plan: Plan, origin: str, candidate: Candidate, state: TrainState, *, forced: bool = False
    ) -> Gated:
        """Decide whether the candidate, named by its origin, takes the incumbent's place; forced, it is measured."""
        settings = msgspec.structs.replace(self._settings, rule="force") if forced else self._settings

        async def measure(skill: Skill) -> Scoreboard:
            return await self._measuring.measure(skill, plan.val, label=origin, split="val")

        gated = await gate(settings, measure, candidate, state.incumbent, state.best)
        if not forced:
            gated = await self._comparing.confirm(origin, candidate.skill, state.incumbent, gated, plan.val)
        verdict = gated.verdict
        self._run.emit(
            GateDecided(
                origin=origin,
                rule=settings.rule,
                metric=settings.metric,
                verdict=type(verdict).__name__.lower(),
                action=action_of(candidate, verdict),
                reason=verdict.reason,
                candidate=verdict.candidate,
                incumbent=verdict.incumbent,
                best=verdict.best,
                n=verdict.n,
                failed=0 if gated.board is None else gated.board.failed,
                calls=verdict.calls,
                skill_digest=candidate.skill.digest,
                parent_digest=state.skill.digest,
            )
        )
        return gated
