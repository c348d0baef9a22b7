"""Has old and new answers compared side by side before a change is kept, where the config asks for it.
Owns which answers are compared; refuses to know how a judge is asked and how the change got this far."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from skillopt.domain.judging import Unassessed, Unjudged
from skillopt.domain.progress.standing import Standing
from skillopt.domain.progress.state import Gated
from skillopt.domain.rollouts import Answered, Rollout
from skillopt.domain.skill import Skill
from skillopt.domain.tasks import Task
from skillopt.domain.verdicts import Accept, confirmed
from skillopt.kernel.events import PairsCompared
from skillopt.phases.grade import Grading
from skillopt.phases.judging.comparing import Pair, compare
from skillopt.phases.judging.marking import Judge
from skillopt.phases.rollout import Rollouts, rollout
from skillopt.train.lab.parts import Parts


class Comparing:
    """The second opinion on a change that the gate would keep."""

    def __init__(self, parts: Parts) -> None:
        self._run = parts.run
        # each text is put as it is, whoever answers: no variant of it is compared
        self._attempts = msgspec.structs.replace(parts, varied=False).attempts
        self._judge = Judge(asker=parts.staff.at("judge"), settings=parts.judge)
        self._grading = Grading(environment=parts.environment, judge=self._judge, work=parts.members.errands)
        self._wanted = parts.judge.mode == "pairwise" and parts.gate.rule != "force"

    async def confirm(
        self, origin: str, candidate: Skill, incumbent: Standing, gated: Gated, tasks: Sequence[Task]
    ) -> Gated:
        """Return the gate's word, or a rejection of what it would accept; the answers compared are in the journal."""
        judged = [task for task in tasks if task.rubric is not None]
        if not self._wanted or not judged or not isinstance(gated.verdict, Accept):
            return gated
        old = await self._answers(f"{origin}/old", incumbent.skill, judged)
        new = await self._answers(f"{origin}/new", candidate, judged)
        pairs = [
            Pair(task=task, old=before, new=after)
            for task, before, after in zip(judged, old, new, strict=True)
            if before is not None and after is not None
        ]
        found = await compare(self._run, f"{origin}/compare", self._judge, pairs)
        preferred = [each.preferred for each in found]
        compared = PairsCompared(
            origin=origin,
            new=preferred.count("new"),
            old=preferred.count("old"),
            neither=preferred.count("neither"),
            swayed=sum(each.swayed for each in found),
            failed=preferred.count(None),
        )
        self._run.emit(compared)
        verdict = confirmed(gated.verdict, new=compared.new, old=compared.old, neither=compared.neither)
        return msgspec.structs.replace(gated, verdict=verdict)

    async def _answers(self, phase: str, skill: Skill, tasks: Sequence[Task]) -> list[Unjudged | None]:
        works = Rollouts(attempts=self._attempts, skill=skill, tasks=tasks)
        rollouts = await rollout(self._run, phase, works, tuple(works.whose()))
        return [self._open(task, each) for task, each in zip(tasks, rollouts, strict=True)]

    def _open(self, task: Task, answer: Rollout) -> Unjudged | None:
        """Return what a judge would be shown of an answer; None where there is none, or rules settle it."""
        if not isinstance(answer, Answered):
            return None
        found = self._grading.ruled(task, answer)
        if isinstance(found, Unassessed):
            return found.case
        return found if isinstance(found, Unjudged) else None
