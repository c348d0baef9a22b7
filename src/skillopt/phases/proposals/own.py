"""Lets an environment draw the lessons from its own tasks, in the place of what the optimizer is shown of cases.
Owns reading what it says; refuses to know what becomes of it: it is bounded and paid for like any other reflection."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from skillopt.domain.errors import UsageError
from skillopt.domain.rollouts import Answered
from skillopt.domain.skill import Patch
from skillopt.domain.texts import with_texts
from skillopt.kernel.boundary import Attributed
from skillopt.kernel.plugins.members import Attempted, Group, Reflects
from skillopt.phases.proposals.author import Author, Briefing
from skillopt.phases.proposals.transcripts import Case


def own_reflection(
    own: Reflects, author: Author, briefing: Briefing, cases: Sequence[Case], *, wrong: bool
) -> str | Patch:
    """Return what the optimizer is shown of these cases, or the changes that the environment proposes itself."""
    group = Group(
        skill=briefing.skill, wrong=wrong, attempts=tuple(_attempted(cases)), edit_budget=briefing.edit_budget
    )
    with Attributed(UsageError, "The environment's reflection"):
        said = own.reflection(group)
        if isinstance(said, str):
            return author.run.scrub(said)
        changes = tuple(said)
        kind = author.mode.kind
        for change in changes:
            if not isinstance(change, kind):
                raise TypeError(
                    f"it proposed {type(change).__name__} where optimizer.mode {author.mode.name} wants {kind.__name__}"
                )
        return Patch().having(with_texts(change, author.run.scrub) for change in changes)


def _attempted(cases: Sequence[Case]) -> Iterator[Attempted]:
    for case in cases:
        if case.scored.score is not None:
            answer = Answered(task_id=case.task.id, trial=case.scored.trial, text=case.answer, turns=case.turns)
            yield Attempted(task=case.task, answer=answer, score=case.scored.score)
