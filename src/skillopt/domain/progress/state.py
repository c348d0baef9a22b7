"""What a training run knows between steps: the incumbent, the best, and what was tried.
Owns how a step changes it; refuses to know how anything was measured or proposed."""

from __future__ import annotations

import msgspec

from skillopt.domain.evidence.course import Finding
from skillopt.domain.progress.frontier import Frontier
from skillopt.domain.progress.memory import Fate, Memory, Pattern, Tried, TriedChange
from skillopt.domain.progress.standing import Standing
from skillopt.domain.scores import Metric, Scoreboard
from skillopt.domain.skill import Candidate, Change, Skill
from skillopt.domain.verdicts import Accept, Inconclusive, Reject, Verdict, strict


class Step(msgspec.Struct, frozen=True, kw_only=True):
    """One step of a plan: numbered from 1 in the run and in its epoch."""

    number: int
    epoch: int
    in_epoch: int
    total: int
    closes_epoch: bool

    @property
    def origin(self) -> str:
        """The name of what this step produces."""
        return f"step_{self.number:04d}"


class Part(msgspec.Struct, frozen=True, kw_only=True):
    """Some of a candidate's edits, applied to the same parent, under a name of their own."""

    origin: str
    candidate: Candidate


class Gated(msgspec.Struct, frozen=True, kw_only=True):
    """A verdict and what the candidate scored on val; no board where nothing had to be measured.

    `finding` is the evidence of a paired test; `bar` an accepted candidate's fresh trials, which decided nothing.
    `part` is what was decided in the end, where a part of a rejected candidate was accepted in its stead.
    """

    verdict: Verdict
    board: Scoreboard | None = None
    finding: Finding | None = None
    bar: Scoreboard | None = None
    part: Part | None = None

    def standing(self, candidate: Candidate, origin: str, step: int) -> Standing | None:
        """Return how the candidate stands if it was accepted: by its fresh trials, where it has some."""
        board = self.board if self.bar is None else self.bar
        if board is None or not candidate.changed or not isinstance(self.verdict, Accept):
            return None
        return Standing(skill=candidate.skill, board=board, origin=origin, step=step, fresh=self.bar is not None)


class StepOutcome(msgspec.Struct, frozen=True, kw_only=True):
    """What a finished step came to; `proposed` is every change after merging, `patterns` what reflection saw."""

    step: Step
    candidate: Candidate
    gated: Gated
    train: Scoreboard
    asked: int
    answered: int
    proposed: tuple[Change, ...] = ()
    patterns: tuple[Pattern, ...] = ()

    @property
    def origin(self) -> str:
        """The name of what was decided."""
        return self.step.origin if self.gated.part is None else self.gated.part.origin


class TrainState(msgspec.Struct, frozen=True, kw_only=True):
    """Everything the next step depends on."""

    incumbent: Standing
    best: Standing
    metric: Metric
    frontier: Frontier = Frontier()
    memory: Memory = Memory()
    steps_done: int = 0
    since_accept: int = 0
    mute: int = 0
    silent: int = 0
    passed: frozenset[str] = frozenset()
    epoch_skill: Skill | None = None

    @classmethod
    def begin(cls, skill: Skill, baseline: Scoreboard, metric: Metric, width: int = 1) -> TrainState:
        """Return the state before the first step, with a frontier that may become so wide."""
        standing = Standing(skill=skill, board=baseline, origin="initial_skill")
        frontier = Frontier(width=width, members=(standing,))
        return cls(incumbent=standing, best=standing, metric=metric, frontier=frontier)

    @property
    def skill(self) -> Skill:
        """The skill that the next step starts from."""
        return self.incumbent.skill

    def after(self, outcome: StepOutcome) -> TrainState:
        """Return the state after a step: only an accepted candidate leaves a trace in the skill."""
        gated = outcome.gated
        accepted = gated.standing(outcome.candidate, outcome.origin, outcome.step.number)
        held = self if accepted is None else self._holding(accepted, outcome.candidate, gated.verdict)
        return msgspec.structs.replace(
            held,
            memory=self.memory.after(_tried(outcome)),
            steps_done=self.steps_done + 1,
            since_accept=self.since_accept + 1 if accepted is None else 0,
            mute=0 if outcome.answered else self.mute + (outcome.asked > 0),
            silent=0 if outcome.train.n else self.silent + 1,
            passed=self._passed(outcome.train) if accepted is None else frozenset(),
        )

    def taking(self, candidate: Candidate, gated: Gated, *, origin: str, step: int) -> TrainState:
        """Return the state after a gate between two steps: an accepted candidate takes the incumbent's place."""
        standing = gated.standing(candidate, origin, step)
        return self if standing is None else self._holding(standing, candidate, gated.verdict)

    def starting_from(self, standing: Standing) -> TrainState:
        """Return the state with this standing as incumbent; what another one passed is not its own."""
        passed = self.passed if standing.skill.digest == self.skill.digest else frozenset[str]()
        memory = msgspec.structs.replace(self.memory, lineage=standing.lineage)
        return msgspec.structs.replace(self, incumbent=standing, memory=memory, passed=passed)

    def trying(self, union: Skill) -> TrainState:
        """Return the state that knows this union of two members, so that it is not gated twice."""
        return msgspec.structs.replace(self, frontier=self.frontier.trying(union))

    def wearing(self, skill: Skill) -> TrainState:
        """Return the state with the incumbent's document written differently, which a model does not see."""
        worn = msgspec.structs.replace(self.incumbent, skill=skill)
        return msgspec.structs.replace(self, incumbent=worn, frontier=self.frontier.wearing(worn))

    def remembering(self, advice: str) -> TrainState:
        """Return the state at the end of an epoch: the skill it is compared by later, the advice for the next one."""
        return msgspec.structs.replace(
            self, memory=msgspec.structs.replace(self.memory, advice=advice), epoch_skill=self.skill
        )

    def promoted(self) -> TrainState:
        """Return the state with the incumbent as best where it measured better, on the tasks that both have."""
        incumbent, best = self.incumbent, self.best
        verdict = strict(incumbent.board, best.board, best.board, self.metric)
        if not isinstance(verdict, Accept):
            return self
        chosen = msgspec.structs.replace(incumbent, fresh=False)  # these trials have just chosen it
        return msgspec.structs.replace(self, best=chosen)

    def _holding(self, standing: Standing, candidate: Candidate, verdict: Verdict) -> TrainState:
        """Return the state with an accepted candidate in the incumbent's place, as best too where the gate says so.

        One that overtook the best without being compared with it was chosen by its own trials.
        """
        edits = (*self.incumbent.edits, *(each.edit for each in candidate.applied))
        lineage = self.incumbent.lineage | {standing.step}
        accepted = msgspec.structs.replace(standing, edits=edits, lineage=lineage)
        best = self.best
        if isinstance(verdict, Accept) and verdict.new_best:
            chosen_by_score = self.incumbent.skill.rendered_digest != best.skill.rendered_digest
            best = accepted = msgspec.structs.replace(accepted, fresh=accepted.fresh and not chosen_by_score)
        return msgspec.structs.replace(
            self,
            incumbent=accepted,
            best=best,
            frontier=self.frontier.entered(accepted, best, self.metric),
            since_accept=0,
            passed=frozenset(),
        )

    def _passed(self, train: Scoreboard) -> frozenset[str]:
        """The train tasks answered right since the last accept; one failure starts the count again."""
        right = frozenset(row.task_id for row in train.rows if row.score is not None and row.score.hard >= 1.0)
        return self.passed | right if len(right) == len(train.measured_tasks) else frozenset()


def action_of(candidate: Candidate, verdict: Verdict) -> str:
    """Return the published word for what a step did."""
    if not candidate.changed:
        return candidate.skip
    match verdict:
        case Accept(new_best=True):
            return "accept_new_best"
        case Accept():
            return "accept"
        case Reject():
            return "reject"
        case Inconclusive():
            return "inconclusive"


def _tried(outcome: StepOutcome) -> Tried:
    """Return what is remembered of a step: nothing that only the fresh trials of an accepted skill will tell."""
    candidate, gated, finding = outcome.candidate, outcome.gated, outcome.gated.finding
    compared = gated.board is not None and finding is None
    return Tried(
        step=outcome.step.number,
        epoch=outcome.step.epoch,
        action=action_of(candidate, gated.verdict),
        failed_tasks=sum(1 for score in outcome.train.scores if score.hard < 1.0),
        tasks=outcome.train.n,
        changes=_changes(outcome),
        patterns=outcome.patterns,
        candidate=gated.verdict.candidate if compared else None,
        incumbent=gated.verdict.incumbent if compared else None,
        won=None if finding is None else finding.wins,
        lost=None if finding is None else finding.losses,
    )


_FATES: dict[type[Verdict], Fate] = {Accept: "accepted", Reject: "rejected", Inconclusive: "inconclusive"}


def _changes(outcome: StepOutcome) -> tuple[TriedChange, ...]:
    """Return every change of a step with its fate: made and judged, refused, or not chosen."""
    candidate, verdict = outcome.candidate, outcome.gated.verdict
    made: list[Change] = [*(each.edit for each in candidate.applied), *candidate.worked_in]
    refused = [each.edit for each in candidate.refused]
    left = [change for change in outcome.proposed if change not in made and change not in refused]
    return (
        *(_tried_change(change, _FATES[type(verdict)]) for change in made),
        *(_tried_change(each.edit, "refused", each.detail) for each in candidate.refused),
        *(_tried_change(change, "not chosen") for change in left),
    )


def _tried_change(change: Change, fate: Fate, why: str = "") -> TriedChange:
    return TriedChange(words=change.words, fate=fate, why=why, support=change.support, tasks=change.tasks)
