"""The first sentences claim what was measured, and no more."""

from __future__ import annotations

import msgspec
import pytest

from skillopt.kernel.view import RunView
from skillopt.train.pages.headline import headline, lede
from skillopt.train.summary import Status
from tests.unit.train.written_runs import Course, summary_of


def told(course: Course, status: Status = "finished", reason: str = "") -> tuple[str, str]:
    summary = summary_of(course.view, status, reason)
    return headline(course.view, summary), lede(course.view, summary)


def test_a_gain_on_test_is_the_headline() -> None:
    first, second = told(Course().step("accept_new_best").step("reject").end())
    assert first == (
        "1 of 2 steps passed the gate, and the test score rose from 0.250 to 0.750 on 16 tasks that decided nothing."
    )
    assert second == (
        "The val tasks chose the winner, so its val score, 0.500 [0.40, 0.60] n=16, tends to flatter it. "
        "The test tasks decided nothing: of 16 measured with both skills, 8 came out better and 0 worse."
    )


@pytest.mark.parametrize(
    ("best", "words"),
    [(0.1, "the test score fell from 0.250 to 0.100"), (0.25, "the test score is where it was: 0.250")],
)
def test_a_loss_or_a_draw_is_said_as_plainly(best: float, words: str) -> None:
    first, _ = told(Course().step("accept_new_best").end(best=best))
    assert words in first


@pytest.mark.parametrize(("best", "certain"), [(0.44, False), (0.46, True)])
def test_overlapping_intervals_are_no_certain_gain(best: float, *, certain: bool) -> None:
    _, second = told(Course().step("accept_new_best").end(best=best))
    assert ("The two intervals overlap" in second) is not certain


def test_no_accepted_change_is_no_gain() -> None:
    first, second = told(Course().step("reject").step("skip_no_patches").end(best=0.25))
    assert first == "After 2 steps the seed skill is still the best: no change beat it on val."
    assert second == "On test, which decided nothing, it scores 0.250 [0.15, 0.35] n=16."


def test_a_stopped_run_says_how_far_it_came() -> None:
    first, second = told(Course().step("accept_new_best"), "stopped", "calls")
    assert first == "1 of 1 step passed the gate; how the skill does on tasks that chose nothing was not measured."
    assert second.startswith("The run stopped after step 1 of 12 (calls); this is how far it came. The val tasks chose")


def test_without_test_tasks_nothing_is_claimed_about_new_ones() -> None:
    _, second = told(Course(test=0).step("accept_new_best"))
    assert second.endswith("There are no test tasks, so nothing here says how the skill does on new ones.")


def test_a_run_without_a_gate_does_not_speak_of_passing_it() -> None:
    first, second = told(Course(rule="force").step("accept_new_best").end())
    assert first.startswith("1 of 1 step changed the skill with no gate to pass, and")
    assert second.startswith("Every change that was measured was kept, as configured (gate rule force).")


def test_before_the_first_step_there_is_little_to_say() -> None:
    assert told(Course())[0] == "The seed skill was measured, and no training step was finished."
    summary = summary_of(RunView(), "failed", "StoreError")
    assert headline(RunView(), summary).startswith("Nothing was measured")
    assert "failed after step 0 (StoreError)" in lede(RunView(), summary)


def test_a_claimed_val_score_is_said_to_be_of_fresh_trials() -> None:
    course = Course().step("accept_new_best").end()
    summary = msgspec.structs.replace(summary_of(course.view, "finished", ""), claimed_val=0.5)
    words = lede(course.view, summary)
    assert "On val it scores 0.500 [0.40, 0.60] n=16, in trials made after it was accepted" in words
