from __future__ import annotations

from typing import cast

import pytest

from skillopt.domain.errors import UsageError
from skillopt.domain.progress.memory import Memory
from skillopt.domain.rollouts import Turn
from skillopt.domain.scores import Score, Scored
from skillopt.domain.skill import Edit, EditOp, Patch, Skill, Suggestion
from skillopt.domain.tasks import Task
from skillopt.kernel.plugins.members import Group
from skillopt.phases.proposals.author import Author, Briefing
from skillopt.phases.proposals.modes import MODES, ModeName
from skillopt.phases.proposals.own import own_reflection
from skillopt.phases.proposals.transcripts import Case
from tests.unit.phases.authors import Replies, authored

BRIEFING = Briefing(skill=Skill.from_text("# Style\n"), edit_budget=3, memory=Memory())
TURN = Turn(feedback="no", text="B")
CASE = Case(Task(id="t", input="Q"), "A", Scored(task_id="t", score=Score(hard=0, soft=0.5)), (TURN,))
EDIT = Edit(op=EditOp.APPEND, content="New.")
SUGGESTION = Suggestion(kind="add_rule", instruction="New.")


class Says:
    """Reflects with what it was given, and keeps what it was asked about."""

    def __init__(self, said: object) -> None:
        self._said = said
        self.groups: list[Group] = []

    def reflection(self, group: Group) -> str:
        self.groups.append(group)
        return cast("str", self._said)


def reflected(own: Says, mode: ModeName = "patch") -> str | Patch:
    async def doing(author: Author) -> str | Patch:
        return own_reflection(own, author, BRIEFING, [CASE], wrong=True)

    return authored(Replies("unasked"), doing, mode=MODES[mode])


def test_it_is_told_of_every_answer_with_its_score_and_turns() -> None:
    own = Says("The page.")
    assert reflected(own) == "The page."
    (group,) = own.groups
    (attempt,) = group.attempts
    assert (group.wrong, group.edit_budget, group.skill) == (True, 3, BRIEFING.skill)
    assert (attempt.task, attempt.answer.replies, attempt.score) == (CASE.task, ("A", "B"), CASE.scored.score)


def test_changes_become_a_patch() -> None:
    assert reflected(Says([EDIT])) == Patch(edits=(EDIT,))
    assert reflected(Says(())) == Patch()
    assert reflected(Says((SUGGESTION,)), "rewrite_from_suggestions") == Patch(suggestions=(SUGGESTION,))


@pytest.mark.parametrize(
    ("said", "mode"), [((SUGGESTION,), "patch"), ((EDIT,), "full_rewrite_minibatch"), ([1], "patch")]
)
def test_changes_of_another_kind_are_refused(said: object, mode: ModeName) -> None:
    with pytest.raises(UsageError, match=r"reflection broke with TypeError: it proposed .* where optimizer.mode"):
        reflected(Says(said), mode)


def test_the_slip_of_a_plugin_is_its_own() -> None:
    with pytest.raises(UsageError, match="The environment's reflection broke with TypeError"):
        reflected(Says(None))
