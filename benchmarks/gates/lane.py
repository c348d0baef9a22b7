"""Sends edits through `lab.gate`, one after another, on one run with a journal in memory.
Owns the run around the gate; refuses to know which edits help."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from benchmarks.gates.mixed import World, note
from skillopt.domain.evidence.course import Finding
from skillopt.domain.evidence.paired import paired
from skillopt.domain.evidence.terms import Terms as GateTerms
from skillopt.domain.progress.standing import Standing
from skillopt.domain.progress.state import TrainState
from skillopt.domain.seeds import Dice, dice
from skillopt.domain.skill import Edit, EditOp, Skill, apply
from skillopt.domain.verdicts import Accept
from skillopt.kernel.limits.terms import LimitSettings, Terms
from skillopt.kernel.memory import MemoryJournal, MemoryShelf
from skillopt.kernel.observers import Observers
from skillopt.kernel.run import Run
from skillopt.kernel.work import STAGES, Asker, Staff
from skillopt.phases.gate import GateSettings
from skillopt.testing.clock import VirtualClock, run_virtual
from skillopt.testing.scripted import ScriptedChat
from skillopt.train.lab import Lab, Parts
from skillopt.train.plan import Plan
from skillopt.train.settings import TrainSettings


class Decision(msgspec.Struct, frozen=True, kw_only=True):
    """What became of one edit: the verdict, its calls, and what is claimed of the incumbent afterwards."""

    accepted: bool
    calls: int
    claimed: float
    true: float


def decide(world: World, settings: GateSettings, edits: Sequence[int]) -> list[Decision]:
    """Hold each edit against the incumbent, through the lab's own gate."""

    async def live() -> list[Decision]:
        clock = VirtualClock()
        journal = MemoryJournal(MemoryShelf(), clock=clock)
        limits = LimitSettings(concurrency=64)
        handle = journal.open_run("gates", b"plan")
        run = Run(Terms(journal=journal, handle=handle, clock=clock, limits=limits, scrub=str), Observers(()))
        chat = ScriptedChat(world.brain, model="target")
        staff = Staff({stage: Asker(verb=stage, role="target", chat=chat, max_tokens=100) for stage in STAGES})
        environment = world.environment
        lab = Lab(Parts(run=run, environment=environment, staff=staff, gate=settings))
        plan = Plan(
            seed_skill=Skill.from_text("# Cases\n"),
            tasks=environment.tasks,
            train=TrainSettings(epochs=len(edits), batch_size=1, seed=world.seed),
        )
        decisions = await _through(lab, plan, world, edits)
        await run.close()
        return decisions

    return run_virtual(live())


async def _through(lab: Lab, plan: Plan, world: World, edits: Sequence[int]) -> list[Decision]:
    state = await lab.baseline(plan)
    notes: list[int] = []
    decisions = []
    for number, edit in enumerate(edits, 1):
        origin = f"step_{number:04d}"
        candidate = apply(state.skill, [Edit(op=EditOp.APPEND, content=note(edit))])
        gated = await lab.gate(plan, origin, candidate, state)
        standing = gated.standing(candidate, origin, number)
        if standing is not None:
            notes.append(edit)
            state = _with(state, standing)
        chances = world.chances(notes)
        value = state.incumbent.board.value(state.metric)
        decisions.append(
            Decision(
                accepted=isinstance(gated.verdict, Accept),
                calls=gated.verdict.calls,
                claimed=float("nan") if value is None else value,
                true=sum(chances) / len(chances),
            )
        )
    return decisions


def _with(state: TrainState, standing: Standing) -> TrainState:
    return msgspec.structs.replace(state, incumbent=standing, best=standing)


def alone(before: Sequence[float], after: Sequence[float], terms: GateTerms, *parts: object) -> tuple[Finding, int]:
    """Follow the course of one paired gate without a run: the same procedure, for tables of many thousand gates."""
    draw = dice("alone", *parts)
    known = [sum(draw.random() < chance for _ in range(terms.trials)) for chance in before]
    return follow(known, after, terms, draw)


def follow(known: Sequence[int], after: Sequence[float], terms: GateTerms, draw: Dice) -> tuple[Finding, int]:
    """Answer a course by these chances, and count what it asks."""
    course, calls = paired(terms, known), 0
    try:
        wave = next(course)
        while True:
            calls += len(wave.places)
            wave = course.send(tuple(float(draw.random() < after[place]) for place in wave.places))
    except StopIteration as end:
        finding: Finding = end.value
        return finding, calls
