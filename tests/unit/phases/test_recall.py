from __future__ import annotations

import msgspec

from skillopt.domain.progress.memory import Fate, Memory, Pattern, Tried, TriedChange
from skillopt.phases.recall import advised, earlier_steps, recalled


def tried(step: int, *words: str, fate: Fate = "rejected", measured: bool = True) -> Tried:
    return Tried(
        step=step,
        epoch=1,
        action="reject",
        failed_tasks=2,
        tasks=6,
        changes=tuple(
            TriedChange(words=each, fate=fate, why="no such line" if fate == "refused" else "") for each in words
        ),
        patterns=(Pattern(words="units: none given"),),
        candidate=0.1 if measured else None,
        incumbent=0.2 if measured else None,
    )


def test_nothing_is_told_of_a_run_that_has_no_past() -> None:
    assert recalled(Memory()) == []


def test_a_step_is_told_with_its_numbers_its_patterns_and_what_became_of_its_changes() -> None:
    (told,) = recalled(
        Memory(tried=(tried(3, "append: Be brief."), tried(4, "delete: x", fate="refused", measured=False)))
    )
    assert told == (
        "# Earlier steps\n\n"
        "- step 3: reject, 2 of 6 tasks failed before it; the gate measured 0.200 before and 0.100 with it\n"
        "  - failures seen: units: none given\n"
        "  - rejected: append: Be brief.\n"
        "- step 4: reject, 2 of 6 tasks failed before it\n"
        "  - failures seen: units: none given\n"
        "  - refused (no such line): delete: x"
    )


def test_a_paired_test_tells_what_it_saw_go_better_and_worse() -> None:
    seen = msgspec.structs.replace(tried(3, measured=False), won=5, lost=1)
    (told,) = earlier_steps(Memory(tried=(seen,)))
    first = told.splitlines()[2]
    assert first.endswith("before it; of the tasks the gate tried, 5 went better with it and 1 worse")


def test_many_changes_are_counted_and_not_all_told() -> None:
    (told,) = earlier_steps(Memory(tried=(tried(1, *(f"append: {number}" for number in range(9))),)))
    assert told.endswith("  - rejected together with 8 more: append: 5\n  - and 3 more changes")


def test_advice_comes_before_the_steps_and_can_be_told_alone() -> None:
    memory = Memory(tried=(tried(1, "append: Be brief."),), advice="Short sentences stay.")
    advice, steps = recalled(memory)
    assert advice.endswith("Short sentences stay.")
    assert "step 1" in steps
    assert (advised(memory), earlier_steps(memory)) == ([advice], [steps])


def test_what_another_skill_has_is_not_told_as_if_this_one_had_it() -> None:
    kept = msgspec.structs.replace(tried(3, "append: Be brief.", fate="accepted"), action="accept_new_best")
    (here,) = earlier_steps(Memory(tried=(kept,), lineage=frozenset({3})))
    (elsewhere,) = earlier_steps(Memory(tried=(kept,), lineage=frozenset({1})))
    assert here == earlier_steps(Memory(tried=(kept,)))[0]
    assert "in another version of the skill" in elsewhere
    rejected = earlier_steps(Memory(tried=(tried(3, "append: Be brief."),), lineage=frozenset()))
    assert "another version" not in rejected[0]
