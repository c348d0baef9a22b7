"""What every part of the lab works with: the run, the environment, who is asked, and the settings of the phases.
Owns the facts that several parts tell; refuses to know the order of the phases."""

from __future__ import annotations

from typing import TypedDict

import msgspec

from skillopt.domain.progress.state import TrainState
from skillopt.domain.skill import SKILL_FILE, Candidate, Change, Draft, Edit, Skill, Suggestion
from skillopt.kernel.events import CandidateMade, EditFact, SkillKept, Warned
from skillopt.kernel.plugins.members import Members
from skillopt.kernel.ports import Agent, Environment
from skillopt.kernel.run import Run
from skillopt.kernel.work import Assessor, Staff
from skillopt.phases.aggregate import AggregateSettings
from skillopt.phases.attempts import Attempts, Prompted, Sent
from skillopt.phases.gate import GateSettings
from skillopt.phases.judging.settings import JudgeSettings
from skillopt.phases.prompting import Prompts
from skillopt.phases.proposals.author import Author, Permissions
from skillopt.phases.proposals.modes import MODES
from skillopt.phases.reflect import ReflectSettings
from skillopt.train.settings import OptimizerSettings


class Parts(msgspec.Struct, frozen=True, kw_only=True):
    """What a lab is made of; `varied` says that the target does not sample, so that repeats need variants of a text.

    `members` are what the environment brings of its own, told once where the run is wired; `agent` is who attempts the
    tasks where it sends errands.
    """

    run: Run
    environment: Environment
    staff: Staff
    prompts: Prompts = Prompts()
    reflect: ReflectSettings = ReflectSettings()
    aggregate: AggregateSettings = AggregateSettings()
    optimizer: OptimizerSettings = OptimizerSettings()
    gate: GateSettings = GateSettings()
    judge: JudgeSettings = JudgeSettings()
    varied: bool = True
    assessor: Assessor | None = None
    members: Members = Members()
    agent: Agent | None = None

    @property
    def attempts(self) -> Attempts:
        """How tasks are put to the target."""
        if self.agent is None or self.members.errands is None:
            return Prompted(asker=self.staff.at("rollout"), environment=self.environment, varied=self.varied)
        return Sent(self.agent, self.members.errands, version=self.environment.version)

    def on(self, run: Run) -> Parts:
        """Return the same on another run, such as a rehearsal."""
        return msgspec.structs.replace(self, run=run)

    def author(self) -> Author:
        """Return the optimizer at work on this run."""
        return Author(
            run=self.run,
            staff=self.staff,
            prompts=self.prompts,
            mode=MODES[self.optimizer.mode],
            permissions=Permissions(
                scripts=self.optimizer.edit_scripts,
                description=self.optimizer.edit_description,
                repair=self.optimizer.repair,
            ),
        )


class Stand(TypedDict):
    """What the end of a step and that of an epoch tell alike."""

    skill_digest: str
    best_digest: str
    current_score: float | None
    best_score: float | None
    best_step: int
    current_origin: str
    best_origin: str


def stand_of(state: TrainState) -> Stand:
    """Return how things stand."""
    return Stand(
        skill_digest=state.skill.digest,
        best_digest=state.best.skill.digest,
        current_score=state.incumbent.board.value(state.metric),
        best_score=state.best.board.value(state.metric),
        best_step=state.best.step,
        current_origin=state.incumbent.origin,
        best_origin=state.best.origin,
    )


class Teller:
    """Tells facts of a run; the text of a skill is told once, before anything names it."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._kept: set[str] = set()

    def keep(self, skill: Skill) -> None:
        """Tell the text of a skill, unless it was told before."""
        if skill.digest not in self._kept:
            self._kept.add(skill.digest)
            files = {file.path: file.text for file in skill.files}
            self._run.emit(SkillKept(digest=skill.digest, name=skill.name, files=files))

    def warn(self, message: str) -> None:
        """Tell something that the person should know and that does not stop the run."""
        self._run.emit(Warned(message=message))


def candidate_made(step: int, candidate: Candidate) -> CandidateMade:
    """Return what became of a step's changes as a fact."""
    made = [edit_fact(each.edit, "applied", line=each.line) for each in candidate.applied]
    worked_in = [edit_fact(each, "applied") for each in candidate.worked_in]
    refused = [edit_fact(each.edit, each.reason.value, each.detail) for each in candidate.refused]
    return CandidateMade(
        step=step,
        skill_digest=candidate.skill.digest,
        changed=candidate.changed,
        edits=(*made, *worked_in, *refused),
        summary=candidate.summary,
    )


def edit_fact(change: Change, status: str, detail: str = "", *, line: int | None = None) -> EditFact:
    """Return a change as a fact, with what became of it and, where it was applied, the line of its words."""
    op, content, target, file = _told(change)
    return EditFact(
        op=op,
        content=content,
        target=target,
        file=file,
        support=change.support,
        source=change.source,
        status=status,
        detail=detail,
        tasks=change.tasks,
        line=line,
    )


def _told(change: Change) -> tuple[str, str, str, str]:
    match change:
        case Edit():
            return change.op.value, change.content, change.target, change.file
        case Suggestion():
            return change.kind, change.instruction, change.title, SKILL_FILE
        case Draft():
            return "document", change.new_skill, change.title, SKILL_FILE
        case _:
            raise TypeError(f"{type(change).__name__} is no change that can be told")
