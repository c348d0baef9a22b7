"""What a run does when an epoch closes: looks back on it, writes guidance for the target, advice for the optimizer.
Owns the order of these and what is told of them; refuses to know how a candidate is measured."""

from __future__ import annotations

from collections.abc import Sequence

from skillopt.domain.progress.state import Gated, Step, TrainState, action_of
from skillopt.domain.skill import Candidate
from skillopt.domain.tasks import Task
from skillopt.domain.verdicts import Accept
from skillopt.kernel.events import EpochCompared, EpochEnded, MetaSkillWritten, PairFact, SlowUpdated
from skillopt.phases.consolidate.meta_skill import Advice, Epoch, meta_skill
from skillopt.phases.consolidate.pairs import Comparison, Pair, Side, compare, drawn
from skillopt.phases.consolidate.slow_update import Guidance, placeholder, slow_update
from skillopt.phases.proposals.transcripts import CHARACTERS_A_TOKEN
from skillopt.train.lab.deciding import Deciding
from skillopt.train.lab.measuring import Measuring
from skillopt.train.lab.parts import Parts, Teller, stand_of
from skillopt.train.plan import Plan


class Remembering:
    """Draws from an epoch what the next ones need."""

    def __init__(self, parts: Parts, teller: Teller, measuring: Measuring, deciding: Deciding) -> None:
        self._run = parts.run
        self._parts = parts
        self._author = parts.author()
        self._reflecting = parts.reflect
        self._characters = parts.reflect.transcript_tokens * CHARACTERS_A_TOKEN
        self._teller = teller
        self._measuring = measuring
        self._deciding = deciding

    async def consolidate(self, plan: Plan, step: Step, state: TrainState) -> TrainState:
        """Look back on the epoch that a step closed, unless the run ends with it for a reason of its own."""
        advice = ""
        if plan.stop_reason(state) is None:
            settings, before = plan.optimizer, state
            comparison = await self._compared(plan, step, state)
            if settings.slow_update.enabled and settings.meta_skill:
                self._run.rehearse(lambda run: self._advice(self._parts.on(run), before, comparison))
            if settings.slow_update.enabled:
                state = await self._guided(plan, step, state, comparison)
            if settings.meta_skill:
                advice = await self._advised(step, before, comparison)
        state = state.remembering(advice)
        self._close(step, state)
        return state

    async def _compared(self, plan: Plan, step: Step, state: TrainState) -> Comparison:
        """Put the same train tasks to the skill of an epoch ago and to that of now; nothing in the first epoch."""
        settings, before, now = plan.optimizer, state.epoch_skill, state.skill
        if before is None or not (settings.slow_update.enabled or settings.meta_skill):
            return Comparison()
        slow = settings.slow_update
        if slow.pairs == "changed" and before.rendered_digest == now.rendered_digest:
            return Comparison()  # the same text gives the same answers, on however many tasks
        order = drawn(plan.tasks.train, plan.train.seed, step.epoch)

        async def measure(phase: str, tasks: Sequence[Task]) -> tuple[Side, Side]:
            return await self._measuring.side_by_side(phase, (before, now), tasks)

        comparison = await compare(order, slow.pairs, slow.samples, measure)
        self._run.emit(
            EpochCompared(
                epoch=step.epoch,
                policy=slow.pairs,
                before_digest=before.digest,
                now_digest=now.digest,
                before_hard=_mean([pair.before.score.hard for pair in comparison.pairs]),
                now_hard=_mean([pair.after.score.hard for pair in comparison.pairs]),
                pairs=tuple(_fact(pair, kept=pair in comparison.kept) for pair in comparison.pairs),
                left_out=comparison.left_out,
            )
        )
        return comparison

    async def _guided(self, plan: Plan, step: Step, state: TrainState, comparison: Comparison) -> TrainState:
        """Write the guidance anew and let the gate decide, or keep it by force; the first epoch makes its place."""
        before = state.epoch_skill
        if before is None:
            made = state.wearing(placeholder(state.skill))
            self._teller.keep(made.skill)
            origin = f"slow_update_placeholder_epoch_{step.epoch:02d}"
            self._tell(step, origin, "inject_placeholder", Guidance(candidate=Candidate.unchanged(made.skill)))
            return made
        guidance = await slow_update(self._author, before, state.skill, comparison, self._characters)
        self._warn(step, guidance)
        origin = f"slow_update_epoch_{step.epoch:02d}"
        if not guidance.candidate.changed:
            self._tell(step, origin, _idle(guidance), guidance)
            return state
        self._teller.keep(guidance.candidate.skill)
        forced = plan.optimizer.slow_update.accept == "force"
        gated = await self._deciding.gate(plan, origin, guidance.candidate, state, forced=forced)
        self._tell(step, origin, _action(guidance, gated, forced=forced), guidance)
        return state.taking(guidance.candidate, gated, origin=origin, step=step.number)

    async def _advice(self, parts: Parts, state: TrainState, comparison: Comparison) -> Advice:
        """Ask what the next epoch should know; that depends on nothing that the guidance beside it comes to."""
        if state.epoch_skill is None:
            return Advice()
        memory = self._reflecting.told(state.memory)
        epoch = Epoch(before=state.epoch_skill, after=state.skill, comparison=comparison, memory=memory)
        return await meta_skill(parts.author(), epoch, self._characters)

    async def _advised(self, step: Step, state: TrainState, comparison: Comparison) -> str:
        """Write down what the optimizer of the next epoch should know; the first epoch has nothing to look back on."""
        if state.epoch_skill is None:
            self._run.emit(MetaSkillWritten(epoch=step.epoch, action="skip_first_epoch", reasoning="", content=""))
            return ""
        advice = await self._advice(self._parts, state, comparison)
        if advice.unusable:
            self._teller.warn(f"Epoch {step.epoch}: no usable meta skill: {advice.unusable}")
        self._run.emit(
            MetaSkillWritten(
                epoch=step.epoch,
                action="write_meta_skill" if advice.content else "no_content",
                reasoning=advice.reasoning,
                content=advice.content,
            )
        )
        return advice.content

    def _warn(self, step: Step, guidance: Guidance) -> None:
        if guidance.unusable:
            self._teller.warn(f"Epoch {step.epoch}: no usable slow update: {guidance.unusable}")
        if guidance.refused is not None:
            self._teller.warn(f"Epoch {step.epoch}: the slow update was refused: {guidance.refused.detail}")

    def _tell(self, step: Step, origin: str, action: str, guidance: Guidance) -> None:
        self._run.emit(
            SlowUpdated(
                epoch=step.epoch,
                origin=origin,
                action=action,
                reasoning=guidance.reasoning,
                content=guidance.content,
                skill_digest=guidance.candidate.skill.digest,
            )
        )

    def _close(self, step: Step, state: TrainState) -> None:
        self._run.emit(
            EpochEnded(
                epoch=step.epoch,
                step=step.number,
                **stand_of(state),
            )
        )


def _action(guidance: Guidance, gated: Gated, *, forced: bool) -> str:
    """Return the published word for what a slow update did."""
    if forced and isinstance(gated.verdict, Accept):
        return "force_accept"
    return action_of(guidance.candidate, gated.verdict)


def _idle(guidance: Guidance) -> str:
    """Return why there is nothing to decide on."""
    if guidance.refused is not None:
        return "refused"
    return "unchanged" if guidance.content else "no_content"


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None


def _fact(pair: Pair, *, kept: bool) -> PairFact:
    before, now = pair.before.score, pair.after.score
    return PairFact(
        task_id=pair.task.id,
        category=pair.category,
        before_hard=before.hard,
        before_soft=before.soft,
        now_hard=now.hard,
        now_soft=now.soft,
        kept=kept,
    )
