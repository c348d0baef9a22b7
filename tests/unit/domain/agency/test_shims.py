from __future__ import annotations

from pathlib import PurePosixPath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillopt.domain.agency.shims import LONGEST_NAME, MOST_SHIMS, refusal

PLAIN = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"


@given(st.text(max_size=2 * LONGEST_NAME) | st.text(PLAIN, max_size=2 * LONGEST_NAME))
def test_a_name_that_passes_is_one_plain_part_of_a_path_and_one_word_of_a_shell(name: str) -> None:
    if refusal((name,)) is None:
        assert 1 <= len(name) <= LONGEST_NAME
        assert set(name) <= set(PLAIN)
        assert PurePosixPath("/tools", name).parts == ("/", "tools", name)


@pytest.mark.parametrize(
    "name",
    [
        *(
            "",
            " ",
            ".",
            "..",
            "a/b",
            "/etc/cron.d/x",
            "../x",
            "a.b",
            "$(id)",
            "`id`",
            "a b",
            "a\n",
            "a\0",
            "a;b",
            "%PATH%",
        ),
        *("%PATH%", "é", "\uff41", "\u0663", "a" * (LONGEST_NAME + 1), "'", '"', "a\\b", "C:x", "~", "*"),
    ],
)
def test_what_is_no_plain_name_is_refused(name: str) -> None:
    problem = refusal(("lookup", name))
    assert problem is not None
    assert "no name for a program" in problem


@pytest.mark.parametrize("name", ["sh", "bash", "cat", "git", "node", "python3", "env", "Read", "TEST", "time", "NUL"])
def test_what_a_shell_an_agent_or_windows_takes_for_something_else_is_refused(name: str) -> None:
    assert refusal((name,)) == f"a tool named {name!r}, which is a usual command already"


@pytest.mark.parametrize("name", ["lookup", "find_berth", "Tide-2", "search", "x", "42", "a" * LONGEST_NAME])
def test_plain_names_pass(name: str) -> None:
    assert refusal((name,)) is None


def test_two_spellings_of_one_name_are_refused_because_grading_takes_them_for_one() -> None:
    assert refusal(("lookup", "LookUp")) == "the tool 'lookup' in several spellings"


def test_there_is_a_bound_on_how_many() -> None:
    names = tuple(f"tool-{number}" for number in range(MOST_SHIMS + 1))
    assert refusal(names[:-1]) is None
    assert refusal(names) == f"{MOST_SHIMS + 1} tools, and a task has at most {MOST_SHIMS}"
