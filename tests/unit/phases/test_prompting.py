from __future__ import annotations

import hashlib
import re

import pytest

from skillopt.domain.errors import InternalError, UsageError
from skillopt.phases.prompting import DECLARED, Prompts, fill, shipped_prompt, shortened

# The digest of each prompt. One that changes changes what every run asks, and with it every key: renew a digest only
# when you mean that, and say so in the changelog.
DIGESTS = {
    "reflect_notes": "8db18ed25357604e",
    "slow_update": "77ca9a5b9dbecf53",
    "meta_skill": "29270f00e20db59b",
    "notes": "61725cc3838fe305",
    "reflect_failures": "3f26957b0ce9b0d7",
    "reflect_successes": "f8206bac4f365b79",
    "merge_failures": "463657b9bc7753b3",
    "merge_successes": "4098b12a04aa5c9d",
    "merge_final": "5619906f12d09cef",
    "rank": "c3d8357ac6443c10",
    "budget": "3f74a7913c5fde90",
    "rewrite": "929c31cb79d5be95",
    "repair": "4685a0715e274881",
    "rules_edits": "323431e41bcc55d6",
    "rules_suggestions": "d1eafc01d592f19c",
    "rules_drafts": "63832f2baf1f6910",
    "form_edits": "f43a86d4a8767649",
    "form_suggestions": "cb92de37efa95b68",
    "form_drafts": "f552afdfa3352a93",
}
TASKS = {
    "reflect_failures": "reflect",
    "reflect_successes": "reflect",
    "merge_failures": "merge",
    "merge_successes": "merge",
    "merge_final": "merge",
    "rank": "rank",
    "budget": "budget",
    "rewrite": "rewrite",
    "repair": "repair",
}
CONTRACTS = {
    "rank": "selected_indices",
    "budget": "learning_rate",
    "rewrite": "new_skill",
    "repair": '"edits"',
    "form_edits": '"edits"',
    "form_suggestions": '"revise_suggestions"',
    "form_drafts": '"skill_candidates"',
    "reflect_failures": "failure_summary",
    "reflect_successes": "success_patterns",
}


@pytest.mark.parametrize("name", DECLARED)
def test_shipped_prompts_are_as_they_were_and_leave_no_placeholder(name: str) -> None:
    text = shipped_prompt(name)
    assert set(re.findall(r"\{\{(.*?)\}\}", text)) == DECLARED[name]
    assert hashlib.sha256(text.encode()).hexdigest()[:16] == DIGESTS[name]
    filled = fill(text, dict.fromkeys(DECLARED[name], "7"))
    assert "{{" not in filled


@pytest.mark.parametrize("name", TASKS)
def test_shipped_prompts_say_their_task_first(name: str) -> None:
    assert shipped_prompt(name).startswith(f"Task: {TASKS[name]}\n")


@pytest.mark.parametrize("name", CONTRACTS)
def test_shipped_prompts_show_the_reply_contract(name: str) -> None:
    assert CONTRACTS[name] in shipped_prompt(name)


def test_values_are_never_expanded_again() -> None:
    values = {"one": "{{two}}", "two": "{{one}}"}
    assert fill("{{one}} and {{two}}", values) == "{{two}} and {{one}}"


def test_only_placeholders_are_touched() -> None:
    assert (
        fill('{"a": {"b": 1}} {{ one }} {{One}} \\1 \\g<0>', {"one": "x"})
        == '{"a": {"b": 1}} {{ one }} {{One}} \\1 \\g<0>'
    )


def test_a_placeholder_nobody_fills_and_a_missing_prompt_are_our_mistakes() -> None:
    with pytest.raises(InternalError, match="budget"):
        fill("{{budget}}", {})
    with pytest.raises((InternalError, FileNotFoundError)):
        shipped_prompt("no_such_prompt")


def test_a_prompt_can_be_replaced_and_the_others_stay() -> None:
    prompts = Prompts.replacing({"rank": "Task: rank\nTake {{edit_budget}}."})
    assert prompts.text("rank", {"edit_budget": "3"}) == "Task: rank\nTake 3."
    assert prompts.text("budget") == shipped_prompt("budget").rstrip()
    assert prompts.digest != Prompts.replacing({"rank": "Task: rank\nTake two."}).digest
    assert Prompts().digest == ""


def test_a_prompt_nobody_knows_is_an_error_that_names_the_valid_ones() -> None:
    with pytest.raises(UsageError) as raised:
        Prompts.replacing({"analyst_error": "Task: reflect"})
    assert "analyst_error" in raised.value.message
    assert "reflect_failures" in f"{raised.value.message} {raised.value.hint}"


@pytest.mark.parametrize("written", ["skill", "Edit_budget", " edit_budget ", "edit budget", ""])
def test_a_placeholder_nobody_fills_in_a_replaced_prompt_is_an_error_that_names_the_valid_ones(written: str) -> None:
    with pytest.raises(UsageError) as raised:
        Prompts.replacing({"rank": f"Task: rank\nKeep {{{{{written}}}}}."})
    assert "rank.md" in raised.value.message
    assert "{{edit_budget}}" in str(raised.value.hint)


@pytest.mark.parametrize("text", ["", " \n"])
def test_an_empty_prompt_is_an_error(text: str) -> None:
    with pytest.raises(UsageError, match="empty"):
        Prompts.replacing({"budget": text})


@pytest.mark.parametrize("length", [0, 10, 99, 100])
def test_what_fits_is_shown_whole(length: int) -> None:
    assert shortened("x" * length, 100) == "x" * length


def test_what_does_not_fit_keeps_its_head_and_tail_and_says_what_is_missing() -> None:
    text = "a" * 500 + "z" * 500
    short = shortened(text, 90)
    assert short == "a" * 60 + "\n[… 910 characters left out …]\n" + "z" * 30


def test_what_is_in_place_already_wins_over_what_comes_under_it() -> None:
    prompts = Prompts.replacing({"rank": "Mine."}).over({"rank": "Theirs.", "budget": "Theirs too."})
    assert (prompts.text("rank"), prompts.text("budget")) == ("Mine.", "Theirs too.")
    with pytest.raises(UsageError, match="rink"):
        Prompts().over({"rink": "Odd."})
