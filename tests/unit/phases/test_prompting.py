from __future__ import annotations

import hashlib
import re

import pytest

from skillopt.domain.errors import InternalError
from skillopt.phases.prompting import fill, shipped_prompt, shortened

# name: the placeholders it declares, and the digest of its text. A prompt that changes changes what every run asks, and
# with it every key: renew the digest only when you mean that, and say so in the changelog.
PROMPTS = {
    "reflect_failures": ({"edit_budget"}, "2629ce26141d0aea"),
    "reflect_successes": ({"edit_budget"}, "7b83455961c19fda"),
}


@pytest.mark.parametrize("name", PROMPTS)
def test_shipped_prompts_are_as_they_were_and_leave_no_placeholder(name: str) -> None:
    declared, digest = PROMPTS[name]
    text = shipped_prompt(name)
    assert set(re.findall(r"\{\{(.*?)\}\}", text)) == declared
    assert hashlib.sha256(text.encode()).hexdigest()[:16] == digest
    filled = fill(text, dict.fromkeys(declared, "7"))
    assert "{{" not in filled
    assert "7" in filled


@pytest.mark.parametrize("name", PROMPTS)
def test_shipped_prompts_say_their_task_first_and_show_the_reply_contract(name: str) -> None:
    text = shipped_prompt(name)
    assert text.startswith("Task: reflect\n")
    assert '"patch"' in text
    assert '"edits"' in text


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


@pytest.mark.parametrize("length", [0, 10, 99, 100])
def test_what_fits_is_shown_whole(length: int) -> None:
    assert shortened("x" * length, 100) == "x" * length


def test_what_does_not_fit_keeps_its_head_and_tail_and_says_what_is_missing() -> None:
    text = "a" * 500 + "z" * 500
    short = shortened(text, 90)
    assert short == "a" * 60 + "\n[… 910 characters left out …]\n" + "z" * 30
