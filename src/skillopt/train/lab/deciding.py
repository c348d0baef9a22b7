"""Whether a candidate is kept, and what is told of the verdict.
Owns which trials a gate may use, and what alpha it has; refuses to know how the candidate came about."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from typing import Protocol

import msgspec

from skillopt.domain.evidence.alpha import Spending
from skillopt.domain.evidence.terms import Terms
from skillopt.domain.progress.standing import Standing
from skillopt.domain.progress.state import Gated, TrainState, action_of
from skillopt.domain.scores import Scoreboard
from skillopt.domain.seeds import dice
from skillopt.domain.skill import Candidate, Skill
from skillopt.domain.tasks import Task
from skillopt.domain.verdicts import Accept
from skillopt.kernel.events import GateDecided, GateEvidence
from skillopt.phases.gate import Compared, gate
from skillopt.train.lab.comparing import Comparing
from skillopt.train.lab.measuring import Measuring
from skillopt.train.lab.parts import Parts
from skillopt.train.plan import Plan

_BLOCK = 16  # more trials than one gate can ask of a task


class Foresee(Protocol):
    """Takes note of what a gate will come to, but for the fresh trials of what it accepts."""

    def __call__(self, plan: Plan, origin: str, candidate: Candidate, state: TrainState, gated: Gated) -> None:
        """Begin what follows whatever these trials are."""
        ...


class Deciding:
    """Holds candidates against the incumbent on val."""

    def __init__(self, parts: Parts, measuring: Measuring, foresee: Foresee) -> None:
        self._run = parts.run
        self._settings = parts.gate
        self._measuring = measuring
        self._comparing = Comparing(parts)
        self._foresee = foresee
        self._blocks: Counter[str] = Counter()
        self._tested = 0
        self._accepts: list[int] = []
        self._baseline: Scoreboard | None = None

    async def bar(self, plan: Plan, skill: Skill, label: str) -> Scoreboard:
        """Measure a skill on val as often as later candidates need to be compared with it, in trials of its own."""
        first = self._block(skill)
        repeats = self._settings.trials
        return await self._measuring.measure(skill, plan.val, label=label, split="val", trial=first, repeats=repeats)

    def can_wait(self, plan: Plan) -> bool:
        """Say whether the seed skill needs no score on val before the first gate: it asks for what it compares.

        That takes answers that do not vary, and that nothing but gates looks at the score before the end.
        """
        forced = "force" in {plan.optimizer.slow_update.accept, plan.optimizer.skill_aware.accept}
        alike = self._settings.rule == "paired" and self._settings.deterministic
        return alike and not forced and plan.stop.target is None and not plan.search.several

    async def baseline(self, plan: Plan) -> Scoreboard:
        """Return how the seed skill does on val; it is measured when this is first asked."""
        if self._baseline is None:
            self._baseline = await self.bar(plan, plan.seed_skill, "baseline")
        return self._baseline

    async def completed(self, plan: Plan, state: TrainState) -> TrainState:
        """Return the state with all of val measured; where answers do not vary, a gate may have left some out."""
        incumbent = await self._whole(plan, state.incumbent)
        if state.best.skill.rendered_digest == incumbent.skill.rendered_digest:
            best = msgspec.structs.replace(state.best, board=incumbent.board)
        else:
            best = await self._whole(plan, state.best)
        return msgspec.structs.replace(state, incumbent=incumbent, best=best)

    async def _whole(self, plan: Plan, standing: Standing) -> Standing:
        if len({row.task_id for row in standing.board.rows}) == len(plan.val):
            return standing
        seed = standing.skill.rendered_digest == plan.seed_skill.rendered_digest
        board = await (self.baseline(plan) if seed else self.bar(plan, standing.skill, standing.origin))
        return msgspec.structs.replace(standing, board=board)

    async def gate(
        self, plan: Plan, origin: str, candidate: Candidate, state: TrainState, *, forced: bool = False
    ) -> Gated:
        """Decide whether the candidate, named by its origin, takes the incumbent's place; forced, it is measured."""
        settings = msgspec.structs.replace(self._settings, rule="force") if forced else self._settings
        compared = Compared(
            metric=settings.compared, incumbent=state.incumbent, best=state.best, whole=plan.search.several
        )
        terms = self._terms(plan)
        foresee = partial(self._foresee, plan, origin, candidate, state)
        val = _Val(self, plan, origin, candidate.skill, foresee)
        gated = await gate(settings, val, terms, candidate, compared)
        if not forced:
            gated = await self._comparing.confirm(origin, candidate.skill, state.incumbent, gated, plan.val)
        if gated.finding is not None:
            self._tested += 1
            if isinstance(gated.verdict, Accept):
                self._accepts.append(self._tested)
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
                evidence=_evidence(gated, terms, plan.val),
            )
        )
        return gated

    async def some(self, phase: str, skill: Skill, tasks: Sequence[Task], trial: int) -> Scoreboard:
        """Put some tasks to a skill once."""
        return await self._measuring.score(phase, skill, tasks, (trial,))

    def first_trial(self, skill: Skill) -> int:
        """Return the first of a block of trials that nothing in this run was decided by."""
        return self._block(skill)

    def _block(self, skill: Skill) -> int:
        """Take the next block of trials of this text; where answers do not vary, there is but one."""
        if self._settings.rule != "paired" or self._settings.deterministic:
            return 0
        self._blocks[skill.rendered_digest] += 1
        return _BLOCK * (self._blocks[skill.rendered_digest] - 1)

    def _terms(self, plan: Plan) -> Terms:
        settings = self._settings
        spending = Spending(alpha=settings.alpha, control=settings.control, horizon=max(1, plan.total_steps))
        order = list(range(len(plan.val)))
        dice("the order of val", plan.train.seed).shuffle(order)
        return Terms(
            order=tuple(order),
            trials=settings.trials,
            alpha=spending.at(self._tested + 1, self._accepts),
            wave=settings.wave,
            block=settings.guard == "block",
        )


class _Val:
    """Val for one gate: names its phases, and keeps the candidate's trials apart from all others of its text."""

    def __init__(
        self, deciding: Deciding, plan: Plan, origin: str, skill: Skill, foresee: Callable[[Gated], None]
    ) -> None:
        self.foresee = foresee
        self._deciding = deciding
        self._plan = plan
        self._origin = origin
        self._candidate = skill
        self._first: int | None = None
        self._waves = 0

    @property
    def task_ids(self) -> tuple[str, ...]:
        """The ids of the tasks, by their place."""
        return tuple(task.id for task in self._plan.val)

    async def whole(self, skill: Skill) -> Scoreboard:
        """Measure a skill as a bar."""
        return await self._deciding.bar(self._plan, skill, self._origin)

    async def some(self, skill: Skill, places: tuple[int, ...], trial: int) -> Scoreboard:
        """Put one wave of tasks to a skill."""
        self._waves += 1
        if self._first is None:
            self._first = self._deciding.first_trial(self._candidate)
        tasks = [self._plan.val[place] for place in places]
        return await self._deciding.some(f"{self._origin}/wave_{self._waves:02d}", skill, tasks, self._first + trial)


def _evidence(gated: Gated, terms: Terms, val: Sequence[Task]) -> GateEvidence | None:
    finding = gated.finding
    if finding is None:
        return None
    effect = finding.effect
    return GateEvidence(
        procedure=finding.procedure,
        look=finding.look,
        wins=finding.wins,
        losses=finding.losses,
        known=terms.trials,
        p=finding.p,
        alpha=terms.alpha,
        spent=finding.spent,
        effect=None if effect is None else effect.mean,
        low=None if effect is None else effect.low,
        high=None if effect is None else effect.high,
        regressed=tuple(val[place].id for place in finding.regressed),
        needed=finding.needed,
    )
