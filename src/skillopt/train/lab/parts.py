"""What every part of the lab works with: the run, the environment, who is asked, and the settings of the phases.
Owns the facts that several parts tell; refuses to know the order of the phases."""

from __future__ import annotations

import msgspec

from skillopt.domain.progress.state import Step
from skillopt.domain.skill import Candidate, Edit, Skill
from skillopt.kernel.events import CandidateMade, EditFact, SkillKept, Warned
from skillopt.kernel.ports import Environment
from skillopt.kernel.run import Run
from skillopt.kernel.work import Staff
from skillopt.phases.gate import GateSettings
from skillopt.phases.judging.settings import JudgeSettings
from skillopt.phases.reflect import ReflectSettings


class Parts(msgspec.Struct, frozen=True, kw_only=True):
    """What a lab is made of."""

    run: Run
    environment: Environment
    staff: Staff
    reflect: ReflectSettings = ReflectSettings()
    gate: GateSettings = GateSettings()
    judge: JudgeSettings = JudgeSettings()


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


def candidate_made(step: Step, candidate: Candidate) -> CandidateMade:
    """Return what became of a step's edits as a fact."""
    applied = [edit_fact(each.edit, "applied", line=each.line) for each in candidate.applied]
    refused = [edit_fact(each.edit, each.reason.value, each.detail) for each in candidate.refused]
    return CandidateMade(
        step=step.number,
        skill_digest=candidate.skill.digest,
        changed=candidate.changed,
        edits=(*applied, *refused),
    )


def edit_fact(edit: Edit, status: str, detail: str = "", *, line: int | None = None) -> EditFact:
    """Return an edit as a fact, with what became of it and, where it was applied, the line of its words."""
    return EditFact(
        op=edit.op.value,
        content=edit.content,
        target=edit.target,
        file=edit.file,
        support=edit.support,
        source=edit.source,
        status=status,
        detail=detail,
        tasks=edit.tasks,
        line=line,
    )
