from __future__ import annotations

from skillopt.domain.rollouts import Answered
from skillopt.domain.scores import Score
from skillopt.domain.skill import Edit, EditOp, Skill
from skillopt.domain.tasks import Task
from skillopt.kernel.plugins.members import Attempted, Group
from skillopt.phases.prompting import Prompts
from skillopt.testing.environments.office import OFFICE_PROMPTS, Office
from skillopt.testing.worlds import RULES


def group(*said: str, wrong: bool = True, skill: str = "# Style\n") -> Group:
    attempts = tuple(
        Attempted(
            task=Task(id=f"t{place}", input="Q"),
            answer=Answered(task_id=f"t{place}", trial=0, text=text),
            score=Score(hard=0.0, soft=0.0),
        )
        for place, text in enumerate(said)
    )
    return Group(skill=Skill.from_text(skill), wrong=wrong, attempts=attempts, edit_budget=3)


def test_a_day_is_the_same_whenever_it_is_drawn_and_unlike_any_other() -> None:
    office = Office(1)
    assert office.draw(5, 4) == Office(2).draw(5, 4)
    inputs = [task.input for seed in range(9) for task in office.draw(seed, 4)]
    assert len({*inputs, *(task.input for task in office.tasks.val)}) == 9 * 4 + 8


def test_only_the_answer_in_the_tag_is_right() -> None:
    office = Office(1)
    task = office.tasks.val[0]
    (reference,) = task.references
    assert office.grade(task, f"So <answer>{reference}</answer>").hard == 1.0
    assert office.grade(task, reference).hard == 0.0
    assert reference not in office.grade(task, "no").feedback


def test_feedback_names_the_broken_rule_and_not_the_answer() -> None:
    office, rule = Office(1), RULES.rules[0]
    task = office.tasks.val[0]
    said = office.feedback(task, ["?", f"[violated: {rule.name}]"])
    assert said is not None
    assert rule.sentence in said
    assert task.references[0] not in said
    assert office.feedback(task, ["no rule was broken"]) is None


def test_the_logbook_shows_rules_and_what_did_harm_goes_at_once() -> None:
    office, harmful = Office(1), RULES.harmful
    assert harmful is not None
    shown = office.reflection(group("[violated: iso-date] secret words", "?"))
    assert (
        shown == "# The logbook\n\n- t0: [violated: iso-date], after 1 attempts\n- t1: no rule named, after 1 attempts"
    )
    assert office.reflection(group("right", wrong=False)) == ()
    spoilt = group(f"[hurt by: {harmful.name}]", skill=f"# Style\n\n{harmful.sentence}\n")
    assert office.reflection(spoilt) == (Edit(op=EditOp.DELETE, target=harmful.sentence),)


def test_its_prompts_hold_only_what_a_prompt_may_hold() -> None:
    assert Prompts.replacing(OFFICE_PROMPTS).digest
