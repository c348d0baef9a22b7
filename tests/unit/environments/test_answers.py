from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillopt.domain.errors import UsageError
from skillopt.environments.answers import RegexAnswer, extractor


@pytest.mark.parametrize(
    ("reply", "answer"),
    [
        ("<answer>42</answer>", "42"),
        ("Thinking… <answer> 42 </answer> done", "42"),
        ("<answer>1</answer> no, <answer>2</answer>", "2"),
        ("<ANSWER>42</Answer>", "42"),
        ("<answer>two\nlines</answer>", "two\nlines"),
        ("<answer></answer>", ""),
        ("  no tag at all \n", "no tag at all"),
        ("", ""),
        ("cut off <answer>42", "cut off <answer>42"),
        ("42</answer>", "42</answer>"),
        ("</answer>42<answer>", "</answer>42<answer>"),
        ("<answer>1</answer> and <answer>cut off", "1"),
        ("<answer>the tag <answer>2</answer>", "2"),
        ("<answer>1</answer></answer>", "1"),
        ("<answers>1</answers>", "<answers>1</answers>"),
        ("</b> is HTML", "</b> is HTML"),
        ("İİİ <answer>42</answer>", "42"),
    ],
)
def test_tag(reply: str, answer: str) -> None:
    assert extractor("tag")(reply) == answer


@given(st.lists(st.sampled_from(["<answer>", "</answer>", "a", "b", "\n", "<", " "]), max_size=12))
def test_tag_agrees_with_a_plain_search_for_the_last_pair(parts: list[str]) -> None:
    reply = "".join(parts)
    expected = reply
    for start in range(len(reply)):
        if reply.startswith("<answer>", start):
            inside, closed, _ = reply[start + 8 :].partition("</answer>")
            if closed and "<answer>" not in inside:
                expected = inside
    assert extractor("tag")(reply) == expected.strip()


@pytest.mark.parametrize(
    ("reply", "answer"),
    [("a\nb\n\n  \n", "b"), ("only", "only"), ("", ""), ("\n \n", ""), ("a\r\n b \r\n", "b")],
)
def test_last_line(reply: str, answer: str) -> None:
    assert extractor("last_line")(reply) == answer


@pytest.mark.parametrize(
    ("reply", "answer"),
    [
        ("Here:\n```python\nprint(1)\n```\nDone.", "print(1)"),
        ("```\nfirst\n```\nbetter:\n```\nsecond\n```", "second"),
        ("~~~\na\n```\nb\n~~~", "a\n```\nb"),
        ("````md\n```\ninner\n```\n````", "```\ninner\n```"),
        ("```py\n    indented\n\nlast\n```", "    indented\n\nlast"),
        ("   ```\nx\n   ```  ", "x"),
        ("    ```\nno fence, it is indented\n    ```", "```\nno fence, it is indented\n    ```"),
        ("```py\ncut off", "cut off"),
        ("```py\n```", ""),
        ("  no fence at all\n", "no fence at all"),
        ("```inline``` code", "```inline``` code"),
        ("```\na\x0cb\u2028c\n```", "a\x0cb\u2028c"),
        ("", ""),
    ],
)
def test_code_is_what_the_last_fence_holds(reply: str, answer: str) -> None:
    assert extractor("code")(reply) == answer


@pytest.mark.parametrize("name", ["tag", "last_line", "full", "code"])
@pytest.mark.parametrize("piece", ["<answer>", "```\n", "`", "~~~x\n", "</answer>", "\n"])
def test_a_huge_reply_is_walked_once(name: str, piece: str) -> None:
    assert len(extractor(name)(piece * 200_000)) <= len(piece) * 200_000


def test_full_keeps_the_tags() -> None:
    assert extractor("full")(" so <answer>42</answer>\n") == "so <answer>42</answer>"


@pytest.mark.parametrize(
    ("pattern", "reply", "answer"),
    [
        (r"#### (.+)", "#### 1\n#### 42 ", "42"),
        (r"\d+", "1 then 23", "23"),
        (r"(a)|(b)", "b", ""),
        (r"#### (.+)", "no mark", ""),
        (r"(x)(y)", "xy", "x"),
        (r"Größe (\w+)", "ßßß Größe 5", "5"),
    ],
)
def test_regex_takes_the_first_group_of_the_last_match(pattern: str, reply: str, answer: str) -> None:
    assert extractor(RegexAnswer(regex=pattern))(reply) == answer


def test_an_unknown_mode_names_the_nearest() -> None:
    with pytest.raises(UsageError, match=r"Did you mean 'last_line'\? Valid: code, full, last_line, tag\."):
        extractor("last-line")


def test_a_broken_pattern_is_refused_at_once() -> None:
    with pytest.raises(UsageError, match="cannot be used"):
        extractor(RegexAnswer(regex="("))
