from __future__ import annotations

import json

import pytest

from skillopt.testing.brains import BRAINS
from skillopt.testing.conversation import Conversation, Turn
from skillopt.testing.worlds import (
    HIDDEN_RULES,
    NEEDS,
    RULES,
    TaskRow,
    coin_world,
    hidden_rules_world,
    memorising_world,
    mixed_world,
    planted_skill,
    remedy,
    rules_world,
)

EVERY_RULE = "\n".join(rule.sentence for rule in RULES.rules)


def attempt(task: TaskRow, skill: str, brain: str = "rules") -> str:
    return BRAINS[brain](Conversation(model="target", system=skill, turns=(Turn("user", task.input),))).text


def right(task: TaskRow, skill: str, brain: str = "rules") -> bool:
    return attempt(task, skill, brain).endswith(f"<answer>{task.reference}</answer>")


def needed(task: TaskRow) -> list[str]:
    tags = NEEDS.search(task.input)
    return tags[1].split(", ") if tags else []


def test_the_same_seed_gives_the_same_world_and_a_longer_split_starts_the_same() -> None:
    assert rules_world(3, 9, 5, 4) == rules_world(3, 9, 5, 4)
    assert rules_world(3, 9, 5, 4) != rules_world(4, 9, 5, 4)
    assert rules_world(3, 20, 5, 4).train[:9] == rules_world(3, 9, 5, 4).train


@pytest.mark.parametrize("make", [rules_world, hidden_rules_world, coin_world, memorising_world, mixed_world])
def test_ids_and_inputs_are_unique_and_never_show_the_reference(make: object) -> None:
    assert callable(make)
    world = make(1, 80, 40, 40)
    tasks = (*world.train, *world.val, *world.test)
    assert len({task.id for task in tasks}) == len({task.input for task in tasks}) == 160
    assert not [task for task in tasks if task.reference.casefold() in task.input.casefold()]
    assert [len(world.rows(split)) for split in ("train", "val", "test")] == [80, 40, 40]


def test_rows_are_the_rows_of_a_task_file() -> None:
    world = rules_world(1, 3, 1, 1)
    lines = [json.loads(line) for line in world.jsonl("train").splitlines()]
    assert lines == world.rows("train")
    assert list(lines[0]) == ["id", "input", "reference", "type"]


def test_about_a_fifth_of_hidden_rule_tasks_need_none_and_the_others_up_to_three() -> None:
    tasks = hidden_rules_world(5, 1000, 0, 0).train
    counts = [len(needed(task)) for task in tasks]
    assert 150 < counts.count(0) < 250
    assert set(counts) == {0, 1, 2, 3}
    assert {name for task in tasks for name in needed(task)} == {rule.name for rule in HIDDEN_RULES.rules}


def test_a_target_with_every_rule_is_right_and_one_without_misses_exactly_the_tasks_that_need_one() -> None:
    for task in rules_world(2, 60, 0, 0).train:
        assert right(task, EVERY_RULE)
        assert right(task, "") == (needed(task) == [])


@pytest.mark.parametrize("rule", RULES.rules, ids=lambda rule: rule.name)
def test_leaving_out_one_sentence_breaks_the_tasks_that_need_it_and_names_it(rule: object) -> None:
    assert isinstance(rule, type(RULES.rules[0]))
    skill = EVERY_RULE.replace(rule.sentence, rule.sentence.upper())
    broken = [task for task in rules_world(2, 60, 0, 0).train if not right(task, skill)]
    assert broken
    for task in broken:
        assert rule.name in needed(task)
        text = attempt(task, skill)
        assert f"[violated: {rule.name}]" in text
        assert f"<answer>{task.reference[:-2]}</answer>" in text


def test_the_harmful_rule_spoils_fragile_tasks_and_no_others() -> None:
    assert RULES.harmful is not None
    tasks = rules_world(2, 200, 0, 0).train
    spoiled = [task for task in tasks if not right(task, f"{EVERY_RULE}\n{RULES.harmful.sentence}")]
    assert spoiled == [task for task in tasks if "[fragile]" in task.input]
    assert 20 < len(spoiled) < 80
    assert "[hurt by: first-guess]" in attempt(spoiled[0], RULES.harmful.sentence)


def test_the_hidden_world_knows_its_own_sentences_only() -> None:
    skill = "\n".join(rule.sentence for rule in HIDDEN_RULES.rules)
    tasks = hidden_rules_world(1).val
    assert all(right(task, skill, "hidden-rules") for task in tasks)
    assert not all(right(task, EVERY_RULE, "hidden-rules") for task in tasks)


def test_a_skill_that_was_read_through_a_tool_counts() -> None:
    task = next(task for task in rules_world(2, 60, 0, 0).train if needed(task))
    turns = (Turn("user", task.input), Turn("tool", EVERY_RULE))
    text = BRAINS["rules"](Conversation(model="target", system="", turns=turns)).text
    assert text == f"<answer>{task.reference}</answer>"


def test_the_coin_falls_right_half_of_the_time_and_the_same_way_for_the_same_text() -> None:
    tasks = coin_world(1, 400, 0, 0).train
    falls = [right(task, "skill", "coin") for task in tasks]
    assert 160 < sum(falls) < 240
    assert falls == [right(task, "skill", "coin") for task in tasks]
    assert falls != [right(task, "skill.", "coin") for task in tasks]


def test_a_memorised_item_is_right_and_no_other() -> None:
    world = memorising_world(1, 3, 3, 0)
    skill = "Items known by heart: [id: train-00002]."
    assert [right(task, skill, "memorising") for task in world.train] == [False, True, False]
    assert not any(right(task, skill, "memorising") for task in world.val)


def test_a_question_without_a_task_gets_an_answer_that_is_no_answer() -> None:
    reply = BRAINS["rules"](Conversation(model="target", system="", turns=(Turn("user", "Hello?"),)))
    assert reply.text == "There is no case here to settle."


def test_the_mixed_world_has_its_shares_and_a_remedy_cures_its_share_for_good() -> None:
    tasks = mixed_world(1, 2000, 0, 0).train
    shares = {kind: sum(task.type == kind for task in tasks) / 2000 for kind in ("easy", "impossible", "coin")}
    assert shares == pytest.approx({"easy": 0.4, "impossible": 0.3, "coin": 0.3}, abs=0.03)

    def solved(kind: str, skill: str) -> float:
        own = [task for task in tasks if task.type == kind]
        return sum(right(task, skill, "mixed") for task in own) / len(own)

    for skill in ("", remedy(0)):
        assert (solved("easy", skill), solved("impossible", skill)) == (1.0, 0.0)
        assert solved("coin", skill) == pytest.approx(0.5, abs=0.06)
    cured = [task for task in tasks if right(task, remedy(20), "mixed") and task.type == "impossible"]
    assert len(cured) / 600 == pytest.approx(0.2, abs=0.05)
    assert all(right(task, remedy(20) + "Whatever else.", "mixed") for task in cured)


def test_a_coin_of_the_mixed_world_falls_anew_for_another_wording() -> None:
    tasks = [task for task in mixed_world(1, 400, 0, 0).train if task.type == "coin"]
    first, second = ([right(task, skill, "mixed") for task in tasks] for skill in ("Skill.\n", "Skill.\n\n"))
    assert first == [right(task, "Skill.\n", "mixed") for task in tasks]
    assert sum(one != other for one, other in zip(first, second, strict=True)) > len(tasks) / 4


def test_a_planted_skill_mixes_lines_that_are_needed_with_lines_that_do_nothing() -> None:
    planted = planted_skill(3, useless=5)
    tasks = rules_world(3, 200, 0, 0).train
    assert planted == planted_skill(3, useless=5)
    assert planted != planted_skill(4, useless=5)
    whole = [right(task, planted.text) for task in tasks]
    assert all(whole)
    for line in planted.useful:
        assert not all(right(task, planted.text.replace(line, "")) for task in tasks), line
    for line in planted.useless:
        assert line in planted.text
        assert [right(task, planted.text.replace(line, "")) for task in tasks] == whole
