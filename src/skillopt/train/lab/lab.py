"""The lab: does what the loop names, each verb by the part that knows how.
Owns how things stand at the seams of a step; refuses to know how any part does its work."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from skillopt.domain.errors import SkilloptError, UnavailableError
from skillopt.domain.progress.memory import Memory
from skillopt.domain.progress.state import Gated, Step, StepOutcome, TrainState
from skillopt.domain.scores import Scoreboard
from skillopt.domain.skill import Candidate, Patch, Skill
from skillopt.domain.verdicts import Reject
from skillopt.kernel.events import RunEnded, StepEnded
from skillopt.phases.reflect import Graded, Proposal
from skillopt.train.lab.bisecting import Bisecting
from skillopt.train.lab.deciding import Deciding
from skillopt.train.lab.hinting import Hinting
from skillopt.train.lab.measuring import Measuring
from skillopt.train.lab.noting import Noting
from skillopt.train.lab.parts import Parts, Teller, stand_of
from skillopt.train.lab.proposing import Proposing
from skillopt.train.lab.remembering import Remembering
from skillopt.train.lab.searching import Searching
from skillopt.train.plan import Plan


class _Underway(msgspec.Struct, frozen=True, kw_only=True):
    """What the step at hand came to so far."""

    step: Step | None = None
    graded: Sequence[Graded] = ()
    proposals: Sequence[Proposal] = ()
    merged: Patch = Patch.empty()


class Lab:
    """The strategies a loop is given, on the run they were made for."""

    def __init__(self, parts: Parts) -> None:
        teller = self._teller = Teller(parts.run)
        self._parts = parts
        self._run = parts.run
        self._compared = parts.gate.compared
        self._underway = _Underway()
        self.measuring = Measuring(parts, teller)
        self._hinting = Hinting(parts, self.measuring)
        self._proposing = Proposing(parts, teller)
        self.rollout = self.measuring.batches
        self.select = self._proposing.select
        deciding = Deciding(parts, self.measuring, self._foresee)
        noting = Noting(parts, teller, deciding)
        self.remind = noting.remind
        self.gate = Bisecting(parts, teller, deciding.gate).gate
        self._noting = noting
        self._deciding = deciding
        self._searching = Searching(parts, teller, deciding)
        self.choose = self._searching.choose
        self._consolidate = Remembering(parts, teller, self.measuring, deciding).consolidate

    async def begin(self, plan: Plan) -> TrainState:
        """Return the state before the first step; the seed skill is measured on val, unless that can wait."""
        if plan.total_steps and self._deciding.can_wait(plan):
            self._teller.keep(plan.seed_skill)
            self._hinting.before_first_step(plan)
            return TrainState.begin(plan.seed_skill, Scoreboard(()), self._compared)
        return await self.baseline(plan)

    async def baseline(self, plan: Plan) -> TrainState:
        """Measure the seed skill on val; a target that answers nothing there ends the run."""
        self._hinting.before_baseline(plan)
        if plan.surely_steps and not plan.search.several:
            unmeasured = TrainState.begin(plan.seed_skill, Scoreboard(()), self._compared)
            self._rehearse(plan, plan.step(1), unmeasured)
        board = await self._answered_baseline(plan)
        return TrainState.begin(plan.seed_skill, board, self._compared, plan.search.frontier)

    async def reflect(
        self, plan: Plan, step: Step, skill: Skill, graded: Sequence[Graded], memory: Memory
    ) -> tuple[Proposal, ...]:
        """Have the optimizer say what to change; the target has nothing to do meanwhile."""
        self._hinting.before_reflection(plan, step, skill)
        self._underway = _Underway(step=step, graded=graded)
        return await self._proposing.reflect(plan, step, skill, graded, memory)

    async def aggregate(
        self, plan: Plan, step: Step, skill: Skill, proposals: Sequence[Proposal], memory: Memory
    ) -> Patch:
        """Merge what the minibatches proposed."""
        merged = await self._proposing.aggregate(plan, step, skill, proposals, memory)
        self._underway = msgspec.structs.replace(self._underway, proposals=proposals, merged=merged)
        return merged

    async def update(self, plan: Plan, step: Step, skill: Skill, chosen: Patch, memory: Memory) -> Candidate:
        """Change the skill; the gate comes next."""
        candidate = await self._proposing.update(plan, step, skill, chosen, memory)
        self._hinting.before_gate(plan, step, candidate)
        return candidate

    @staticmethod
    def outcome(
        step: Step,
        graded: Sequence[Graded],
        proposals: Sequence[Proposal],
        merged: Patch,
        candidate: Candidate,
        gated: Gated,
    ) -> StepOutcome:
        """Put together what a step came to."""
        return StepOutcome(
            step=step,
            candidate=candidate if gated.part is None else gated.part.candidate,
            gated=gated,
            train=Scoreboard(tuple(row for each in graded for row in each.board.rows)),
            asked=len(proposals),
            answered=sum(1 for proposal in proposals if not proposal.unusable),
            proposed=merged.changes,
            patterns=tuple(seen for each in proposals if each.source == "failure" for seen in each.patterns),
        )

    async def go_on(self, plan: Plan, step: Step, state: TrainState) -> None:
        """Go through steps as far as nothing depends on what val says of the skill: up to a change to be held."""
        certain = True
        while certain:
            graded = await self.rollout(plan, step, state.skill)
            proposals = await self.reflect(plan, step, state.skill, graded, state.memory)
            merged = await self.aggregate(plan, step, state.skill, proposals, state.memory)
            chosen = await self.select(plan, step, state.skill, merged, state.memory)
            candidate = await self.update(plan, step, state.skill, chosen, state.memory)
            candidate = await self.remind(plan, step, candidate, proposals)
            idle = Gated(verdict=Reject(reason="nothing changed"))
            state = state.after(self.outcome(step, graded, proposals, merged, candidate, idle))
            certain = not candidate.changed and self._hinting.surely_goes_on(plan, step, state)
            step = plan.step(step.number + 1)

    def _rehearse(self, plan: Plan, step: Step, state: TrainState) -> None:
        """Have a step that is certain to come gone through beside the measurement that comes next."""
        parts = self._parts
        self._run.rehearse(lambda run: Lab(parts.on(run)).go_on(plan, step, state))

    def _foresee(self, plan: Plan, origin: str, candidate: Candidate, state: TrainState, gated: Gated) -> None:
        """Rehearse the next step with what is accepted now, where nothing can come between."""
        now = self._underway
        if now.step is None or origin != now.step.origin:
            return
        after = state.after(self.outcome(now.step, now.graded, now.proposals, now.merged, candidate, gated))
        if self._hinting.surely_goes_on(plan, now.step, after):
            self._rehearse(plan, plan.step(now.step.number + 1), after)

    async def append(self, plan: Plan, step: Step, state: TrainState, proposals: Sequence[Proposal]) -> TrainState:
        """Add to what the gate left: forced reminders, and the union of two skills where it is time for one.

        A seed skill that fails nowhere on train is measured: the run may be over.
        """
        state = await self._noting.append(plan, step, state, proposals)
        state = await self._searching.merge(plan, step, state)
        waiting = not state.incumbent.board.rows and len(state.passed) == len(plan.tasks.train)
        return await self._deciding.completed(plan, state) if waiting else state

    async def consolidate(self, plan: Plan, step: Step, state: TrainState) -> TrainState:
        """Look back on an epoch, from the best skill where there are several."""
        return await self._consolidate(plan, step, self._searching.lead(plan, state))

    def close(self, step: Step, state: TrainState) -> None:
        """Say that a step is whole, and how things stand after it."""
        self._run.emit(
            StepEnded(
                step=step.number,
                epoch=step.epoch,
                step_in_epoch=step.in_epoch,
                **stand_of(state),
            )
        )

    async def report(self, plan: Plan, state: TrainState, reason: str) -> TrainState:
        """Let the last skill compete for best; score the chosen ones on test, which decided nothing; end the run."""
        await self._answered_baseline(plan)
        state = (await self._deciding.completed(plan, state)).promoted()
        self._hinting.before_tests(plan, state)
        last, best = state.incumbent, state.best
        tested = {"initial": ("baseline", plan.seed_skill), "best": ("best", best.skill), "last": ("last", last.skill)}
        if plan.tasks.test:
            for name in plan.test:
                label, skill = tested[name]
                await self.measuring.measure(skill, plan.tasks.test, label=label, split="test")
        self._searching.conclude(plan, state)
        self._run.emit(
            RunEnded(
                stop_reason=reason,
                best_digest=best.skill.digest,
                last_digest=last.skill.digest,
                best_origin=best.origin,
                best_step=best.step,
                current_origin=last.origin,
                claimed_val=best.board.value(state.metric) if best.fresh else None,
            )
        )
        return state

    async def _answered_baseline(self, plan: Plan) -> Scoreboard:
        """Return how the seed skill does on val, whether that was measured at first or can only be told at the end."""
        board = await self._deciding.baseline(plan)
        if not board.n:
            raise _silent_target(len(plan.val), board.cause)
        return board


def _silent_target(tasks: int, cause: str | None) -> SkilloptError:
    return UnavailableError(
        f"None of the {tasks} val tasks has a score ({cause}), so there is nothing to compare with.",
        hint="Look at what failed there (skillopt doctor), then run it with --fresh: answers are kept.",
    )
