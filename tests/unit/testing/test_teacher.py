from __future__ import annotations

import json
import re

import pytest

from skillopt.testing.brains import BRAINS
from skillopt.testing.conversation import Conversation, Turn
from skillopt.testing.worlds import HIDDEN_RULES, RULES, hidden_rules_world

SI = next(rule for rule in RULES.rules if rule.name == "si-units").sentence
ISO = next(rule for rule in RULES.rules if rule.name == "iso-date").sentence
HARM = RULES.harmful.sentence if RULES.harmful else ""


def say(system: str, user: str, brain: str = "rules", model: str = "the-optimizer") -> str:
    return BRAINS[brain](Conversation(model=model, system=system, turns=(Turn("user", user),))).text


def ask(system: str, user: str, brain: str = "rules") -> dict[str, object]:
    answer = json.loads(say(system, user, brain))
    assert isinstance(answer, dict)
    return answer


def contents(answer: dict[str, object]) -> list[str]:
    patch = answer["patch"]
    assert isinstance(patch, dict)
    return [edit["content"] for edit in patch["edits"]]


def calm(answer: dict[str, object]) -> list[str]:
    """Return what was proposed apart from the harmful rule, which comes for some prompts and not for others."""
    return [content for content in contents(answer) if content != HARM]


def test_reflect_answers_by_the_contract() -> None:
    answer = ask("Task: reflect\nEdit budget: 4", "<skill>Be kind.</skill> [violated: si-units]", "hidden-rules")
    assert answer == {"failure_summary": [], "patch": {"reasoning": "Nothing here calls for a change.", "edits": []}}
    answer = ask("Task: reflect\nEdit budget: 4", "<skill>Be kind.</skill> [violated: 3]", "hidden-rules")
    assert answer["failure_summary"] == [{"failure_type": "3", "count": 1, "description": "The answer failed on 3."}]
    assert answer["patch"] == {
        "reasoning": "Shown: 3.",
        "edits": [{"op": "append", "content": HIDDEN_RULES.rules[2].sentence, "target": ""}],
    }


def test_reflect_proposes_each_missing_rule_once_in_the_order_shown() -> None:
    shown = "[violated: 3] [violated: 1] [violated: 3] [violated: 99]"
    answer = ask("Task: reflect", f"<skill>Nothing</skill>{shown}", "hidden-rules")
    assert contents(answer) == [HIDDEN_RULES.rules[2].sentence, HIDDEN_RULES.rules[0].sentence]


def test_a_rule_that_the_skill_has_is_not_proposed_but_one_that_only_a_memory_quotes_is() -> None:
    prompt = f"<skill>{SI}</skill> Rejected before: {ISO} [violated: si-units] [violated: iso-date]"
    assert calm(ask("Task: reflect", prompt)) == [ISO]


def test_without_skill_tags_the_whole_prompt_counts_as_the_skill() -> None:
    prompt = f"# Skill\n{SI}\n[violated: si-units] [violated: iso-date]"
    assert calm(ask("Task: reflect", prompt)) == [ISO]


@pytest.mark.parametrize(
    ("line", "count"),
    [("Edit budget: 2", 2), ("EDIT BUDGET:  1", 1), ("Edit budget: 0", 0), ("Give at most 3 edits.", 3), ("", 8)],
)
def test_the_budget_is_read_from_the_prompt(line: str, count: int) -> None:
    shown = " ".join(f"[violated: {rule.name}]" for rule in HIDDEN_RULES.rules)
    answer = ask("Task: reflect on failures", f"{line}\n<skill>None.</skill>{shown}", "hidden-rules")
    assert len(contents(answer)) == count


def test_a_budget_line_wins_over_other_limits_in_the_prompt() -> None:
    shown = "[violated: 1] [violated: 2]"
    prompt = f"Use at most 1 line.\nEdit budget: 2\n<skill>-</skill>{shown}"
    assert len(contents(ask("Task: reflect", prompt, "hidden-rules"))) == 2


def test_the_harmful_rule_comes_for_about_one_prompt_in_four_and_within_the_budget() -> None:
    answers = [
        contents(ask("Task: reflect\nEdit budget: 1", f"<skill>{number}</skill>[violated: si-units]"))
        for number in range(200)
    ]
    assert {tuple(answer) for answer in answers} == {(SI,), (HARM,)}
    assert 30 < answers.count([HARM]) < 70


def test_the_harmful_rule_is_taken_out_again_once_it_is_seen_to_hurt() -> None:
    answer = ask("Task: reflect", f"<skill>Calm.\n{HARM}</skill>[hurt by: first-guess]")
    patch = answer["patch"]
    assert isinstance(patch, dict)
    assert patch["edits"] == [{"op": "delete", "content": "", "target": HARM}]


def test_success_prompts_get_success_patterns() -> None:
    assert "success_patterns" in ask("Task: reflect\nReply with success_patterns.", "<skill>a</skill>")


def test_suggestions_and_whole_skills_come_when_the_prompt_asks_for_them() -> None:
    shown = "<skill># Skill\nBe kind.\n</skill>[violated: 1]"
    patch = ask("Task: reflect\nReply with revise_suggestions.", shown, "hidden-rules")["patch"]
    assert isinstance(patch, dict)
    (suggestion,) = patch["revise_suggestions"]
    assert (suggestion["type"], suggestion["instruction"]) == ("add_rule", HIDDEN_RULES.rules[0].sentence)
    patch = ask("Task: reflect\nReply with skill_candidates.", shown, "hidden-rules")["patch"]
    assert isinstance(patch, dict)
    (candidate,) = patch["skill_candidates"]
    assert candidate["new_skill"] == f"# Skill\nBe kind.\n{HIDDEN_RULES.rules[0].sentence}\n"


def test_merge_keeps_each_different_edit_once_in_order() -> None:
    first = {"op": "append", "content": "a", "target": ""}
    copy = {"op": "append", "content": "a", "target": "", "support": 2}
    other = {"op": "replace", "content": "a", "target": "b"}
    patches = f"Patches: {json.dumps([{'reasoning': 'x', 'edits': [first, other]}, {'edits': [copy]}])} and [broken {{"
    assert ask("Task: merge", patches)["edits"] == [first, other]
    assert ask("Task: merge", json.dumps([first, copy]))["edits"] == [first]
    assert ask("Task: merge", "nothing")["edits"] == []


def test_merge_does_not_take_the_contract_in_the_system_prompt_for_an_edit() -> None:
    example = json.dumps({"edits": [{"op": "append", "content": "example", "target": ""}]})
    assert ask(f"Task: merge\nReply like {example}", "[]")["edits"] == []


def test_merge_joins_whole_skills() -> None:
    candidates = [{"title": "t", "new_skill": text} for text in ("# S\na", "# S\nb")]
    merged = ask("Task: merge", json.dumps({"skill_candidates": candidates}))["skill_candidates"]
    assert isinstance(merged, list)
    assert [candidate["new_skill"] for candidate in merged] == ["# S\na\nb"]


def test_rank_takes_the_widest_support_first_up_to_the_budget() -> None:
    edits = [{"op": "append", "content": text, "support": count} for text, count in (("a", 1), ("b", 3), ("c", 2))]
    assert ask("Task: rank\nEdit budget: 2", json.dumps({"edits": edits}))["selected_indices"] == [1, 2]


def test_rewrite_works_suggestions_into_the_skill() -> None:
    suggestions = [
        {"type": "add_rule", "title": "si", "instruction": SI},
        {"type": "remove_rule", "title": "old", "instruction": "Old."},
    ]
    answer = ask("Task: rewrite", f"<skill>New.\nOld.\n</skill>{json.dumps({'revise_suggestions': suggestions})}")
    assert answer == {"new_skill": f"New.\n\n{SI}\n", "change_summary": ["si", "old"]}


@pytest.mark.parametrize(
    ("task", "keys"),
    [
        ("slow update", {"reasoning", "slow_update_content"}),
        ("meta", {"reasoning", "meta_skill_content"}),
        ("meta skill", {"reasoning", "meta_skill_content"}),
        ("notes", {"appendix_notes"}),
        ("budget", {"learning_rate", "reasoning", "confidence", "risk_notes"}),
        ("judge", {"score", "reason"}),
    ],
)
def test_every_other_contract_has_its_keys(task: str, keys: set[str]) -> None:
    assert ask(f"Task: {task}", "<skill>x</skill> [violated: 1]", "hidden-rules").keys() == keys


def test_a_slow_update_advises_what_is_missing() -> None:
    answer = ask("Task: slow update", "<skill>x</skill> [violated: 2]", "hidden-rules")
    assert answer["slow_update_content"] == HIDDEN_RULES.rules[1].sentence


@pytest.mark.parametrize(("text", "score"), [("<answer>a</answer>", 1.0), ("[violated: si-units] <answer>", 0.0)])
def test_the_judge_goes_by_the_confession(text: str, score: float) -> None:
    assert ask("Task: judge", text)["score"] == score


def test_an_unknown_task_gets_prose_that_names_the_known_ones() -> None:
    assert "I do not know the task 'dance'; I know reflect, merge" in say("Task: dance", "")


def test_the_coin_teacher_appends_another_note_for_another_prompt() -> None:
    one, two = (contents(ask("Task: reflect\nEdit budget: 4", f"batch {number}", "coin")) for number in (1, 2))
    assert re.fullmatch(r"Note \d{6}: carry on as before\.", one[0])
    assert one != two


def test_the_memorising_teacher_appends_the_ids_it_was_shown() -> None:
    prompt = "<skill>[id: train-00001]</skill> [id: train-00001] [id: train-00007] [id: train-00007]"
    assert contents(ask("Task: reflect", prompt, "memorising")) == ["Items known by heart: [id: train-00007]."]


def test_teacher_and_target_reach_a_perfect_score_together() -> None:
    tasks = hidden_rules_world(1).train
    skill = "# Skill\n"
    for _ in range(10):
        replies = [say(skill, task.input, "hidden-rules", "target") for task in tasks]
        failures = [reply for reply in replies if "[violated:" in reply]
        if not failures:
            break
        shown = f"Edit budget: 4\n<skill>{skill}</skill>\n" + "\n".join(failures)
        skill += "".join(f"{content}\n" for content in contents(ask("Task: reflect", shown, "hidden-rules")))
    assert failures == []
    assert skill.count("\n") == 1 + len(HIDDEN_RULES.rules)
