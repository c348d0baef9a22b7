from __future__ import annotations

from skillopt.domain.progress.memory import Memory, Tried
from skillopt.phases.recall import recalled


def tried(step: int, *edits: str) -> Tried:
    return Tried(step=step, action="reject", failed_tasks=2, tasks=6, edits=edits, candidate=0.1, incumbent=0.2)


def test_nothing_is_told_of_a_run_that_has_no_past() -> None:
    assert recalled(Memory()) == []


def test_a_step_is_told_with_what_became_of_its_edits() -> None:
    (told,) = recalled(Memory(tried=(tried(3, "append: Be brief."), tried(4))))
    assert "step 3: reject, 2 of 6 tasks failed before it; edits: append: Be brief." in told
    assert told.endswith("edits: none")


def test_advice_comes_before_the_steps() -> None:
    advice, steps = recalled(Memory(tried=(tried(1, "append: Be brief."),), advice="Short sentences stay."))
    assert advice.endswith("Short sentences stay.")
    assert "step 1" in steps
