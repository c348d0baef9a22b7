from __future__ import annotations

import pytest

from skillopt.domain.errors import StoreError, UsageError
from skillopt.kernel import journal
from skillopt.kernel.journal import Ref, checked_name


@pytest.mark.parametrize("name", ["a", "A1", "0f3c9", "my-run_2.v3", "x" * 100, "CON", "a..b"])
def test_names_that_fit_a_file_are_kept(name: str) -> None:
    assert checked_name(name) == name


@pytest.mark.parametrize(
    "name",
    ["", ".", "..", ".hidden", "-flag", "_x", "a/b", "a\\b", "a:b", "a b", "a\n", "a\0", "é", "\uff11", "x" * 101],
)
def test_names_that_do_not_are_refused_with_the_rule(name: str) -> None:
    with pytest.raises(UsageError, match="letters, digits, dots, dashes and underscores") as refusal:
        checked_name(name)
    assert repr(name) in str(refusal.value)


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (journal.held_run("mine", "process 7"), ["'mine'", "process 7"]),
        (journal.not_open("mine"), ["'mine'"]),
        (journal.used_attempt("mine", 7), ["'mine'", "7"]),
        (journal.no_intent("mine", 7), ["'mine'", "7"]),
        (journal.finished_phase("mine", "step-1/grade"), ["'mine'", "'step-1/grade'"]),
        (journal.diverged("mine", 7), ["'mine'", "diverged", "7", "--fresh"]),
        (journal.missing_answer(Ref(3, 7)), ["3", "7", "--fresh"]),
        (journal.closed_journal(), ["closed"]),
    ],
)
def test_refusals_say_what_and_what_next(error: StoreError, words: list[str]) -> None:
    assert error.hint
    assert [word for word in words if word not in str(error)] == []


def test_another_plan_is_for_the_person_to_mend() -> None:
    error = journal.another_plan("mine")
    assert isinstance(error, UsageError)
    assert error.exit_code == 2
    assert "'mine'" in str(error)
