"""The training loop, on one screen. Owns the order of the phases; refuses to know how any of them is done."""

from __future__ import annotations

from skillopt.domain.progress.state import TrainState
from skillopt.kernel.run import Run
from skillopt.train.lab import Lab
from skillopt.train.plan import Plan


async def train(plan: Plan, lab: Lab, run: Run) -> TrainState:
    """Improve a skill step by step; only a change that passes the gate is kept."""
    with run.span("start"):
        state = await lab.begin(plan)
    reason = plan.stop_reason(state)
    for step in plan.steps():
        if reason is not None:
            break
        with run.span(step.origin):
            state = lab.choose(plan, step, state)
            graded = await lab.rollout(plan, step, state.skill)
            proposals = await lab.reflect(plan, step, state.skill, graded, state.memory)
            merged = await lab.aggregate(plan, step, state.skill, proposals, state.memory)
            chosen = await lab.select(plan, step, state.skill, merged, state.memory)
            candidate = await lab.update(plan, step, state.skill, chosen, state.memory)
            candidate = await lab.remind(plan, step, candidate, proposals)
            gated = await lab.gate(plan, step.origin, candidate, state)
            state = state.after(lab.outcome(step, graded, proposals, merged, candidate, gated))
            state = await lab.append(plan, step, state, proposals)
            lab.close(step, state)
        if step.closes_epoch:
            with run.span(f"epoch_{step.epoch:02d}"):
                state = await lab.consolidate(plan, step, state)
        reason = plan.stop_reason(state)
    with run.span("end"):
        return await lab.report(plan, state, "all steps done" if reason is None else reason)
