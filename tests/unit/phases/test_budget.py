from __future__ import annotations

import pytest

from skillopt.domain.progress.batches import BatchSpec
from skillopt.domain.progress.memory import Memory, Tried
from skillopt.domain.scores import Score, Scoreboard, Scored
from skillopt.domain.skill import Edit, EditOp, Patch, Skill
from skillopt.phases.budget import BudgetDecision, decide, whole_number
from skillopt.phases.proposals.author import Briefing
from skillopt.phases.reflect import Graded
from tests.unit.phases.authors import Replies, authored

MERGED = Patch(edits=tuple(Edit(op=EditOp.APPEND, content=word) for word in ("a", "b", "c")))
TRIED = Tried(step=1, epoch=1, action="reject", failed_tasks=1, tasks=2)
BOARD = Scoreboard(
    (Scored(task_id="a", score=Score(hard=1, soft=1)), Scored(task_id="b", score=Score(hard=0, soft=0.5)))
)
GRADED = Graded(batch=BatchSpec(epoch=1, step=1, index=0, seed=1, tasks=()), rollouts=(), board=BOARD)


def decided(reply: str, merged: Patch = MERGED) -> tuple[BudgetDecision, Replies]:
    brain = Replies(reply)
    briefing = Briefing(skill=Skill.from_text("# R\n"), edit_budget=2, memory=Memory(tried=(TRIED,), advice="Few."))
    return authored(brain, lambda author: decide(author, merged, [GRADED], briefing)), brain


@pytest.mark.parametrize(
    ("said", "number"),
    [
        (0, 0),
        (3, 3),
        (-2, -2),
        (2.0, 2),
        (2.5, None),
        (float("nan"), None),
        (float("inf"), None),
        (True, None),
        (False, None),
        ("2", 2),
        ("about 3 of 5", 3),
        ("none", None),
        ("", None),
    ],
)
def test_how_a_number_of_changes_is_read(said: float | str, number: int | None) -> None:
    assert whole_number(said) == number


@pytest.mark.parametrize(
    ("said", "budget", "clamped", "fallback"),
    [
        ("0", 0, False, False),
        ("2", 2, False, False),
        ("99", 3, True, False),
        ("-1", 0, True, False),
        ('"just 1"', 1, False, False),
        ("true", 0, False, True),
        ('"many"', 0, False, True),
        ("1.5", 0, False, True),
    ],
)
def test_the_decision_is_cut_to_what_there_is_and_without_a_number_nothing_is_changed(
    said: str, budget: int, clamped: bool, fallback: bool
) -> None:
    decision, _ = decided(f'{{"learning_rate": {said}, "reasoning": "r", "confidence": "low"}}')
    assert (decision.budget, decision.clamped, decision.fallback) == (budget, clamped, fallback)
    assert (decision.available, decision.reasoning, decision.confidence) == (3, "r", "low")
    assert bool(decision.error) is fallback


@pytest.mark.parametrize("reply", ["fail", "Hm."])
def test_without_a_usable_reply_nothing_is_changed(reply: str) -> None:
    decision, _ = decided(reply)
    assert (decision.budget, decision.raw, decision.fallback) == (0, None, True)
    assert decision.error


def test_nobody_is_asked_about_nothing() -> None:
    decision, brain = decided("no", Patch.empty())
    assert (decision.budget, decision.fallback, brain.shown) == (0, False, [])


def test_the_question_shows_how_it_went_and_no_schedule() -> None:
    _, brain = decided('{"learning_rate": 1, "risk_notes": ["a", "b"]}')
    (shown,) = brain.shown
    assert "2 tasks: hard score 0.500, soft score 0.750." in shown.asked
    assert "step 1: reject" in shown.asked
    assert "Few." in shown.asked
    assert "3 proposals" in shown.asked
    assert "budget:" not in shown.asked.casefold()
