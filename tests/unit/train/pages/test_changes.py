"""Diffs, flips and untaken edits."""

from __future__ import annotations

import msgspec

from skillopt.kernel.events import TaskScore
from skillopt.train.pages.changes import (
    accepted_changes,
    diff_lines,
    drawn_diff,
    flips,
    paired,
    untaken_edits,
    whole_change,
)
from tests.unit.train.written_runs import Course, measured


def test_a_diff_covers_every_file() -> None:
    before = {"SKILL.md": "one\ntwo\n", "old.md": "gone\n", "same.md": "same\n"}
    after = {"SKILL.md": "one\nthree\n", "new.md": "come\n", "same.md": "same\n"}
    lines = diff_lines(before, after)
    assert [line for line in lines if line[:3] in {"---", "+++"}] == [
        "--- SKILL.md (before)",
        "+++ SKILL.md (after)",
        "--- /dev/null",
        "+++ new.md (after)",
        "--- old.md (before)",
        "+++ /dev/null",
    ]
    assert [line for line in lines if line[:1] in "+-" and line[:3] not in {"---", "+++"}] == [
        "-two",
        "+three",
        "+come",
        "-gone",
    ]


def test_equal_skills_have_no_diff() -> None:
    assert diff_lines({"SKILL.md": "x"}, {"SKILL.md": "x"}) == ()


def test_a_removed_rule_of_dashes_is_no_heading_of_a_diff() -> None:
    markup = drawn_diff(diff_lines({"SKILL.md": "---\n"}, {"SKILL.md": "++ x\n"})).markup
    assert "<del>----\n</del>" in markup
    assert "<ins>+++ x\n</ins>" in markup
    assert markup.count('class="meta"') == 3


def test_a_long_diff_says_what_it_left_out() -> None:
    markup = drawn_diff([f"+{'x' * 99}"] * 100).markup
    assert "40 more lines of this diff" in markup
    assert len(markup) < 8_000


def test_one_line_cannot_fill_the_page() -> None:
    assert len(drawn_diff([f"+{'<' * 1_000_000}"]).markup) < 30_000


def test_an_accepted_step_shows_diff_reasoning_and_evidence() -> None:
    markup = accepted_changes(Course().step("reject", "No.").step("accept_new_best", "Yes.").view).markup
    assert markup.count("<article>") == 1
    assert "<summary>Step 2</summary>" in markup
    assert "<ins>+Yes.\n</ins>" in markup
    assert "<blockquote><p>Because: Yes.</p></blockquote>" in markup
    assert "0.250 → 0.500 (hard) on 16 val tasks, 16 calls. Gate (strict): gate said: Yes.." in markup


def test_many_accepted_steps_are_folded() -> None:
    course = Course()
    for number in range(10):
        course.step("accept_new_best", f"Rule {number}.")
    assert accepted_changes(course.view).markup.count("<details open") == 6


def test_untaken_edits_have_their_reason() -> None:
    markup = untaken_edits(Course().step("reject", "No.").step("inconclusive", "Perhaps.").view).markup
    assert "append: No." in markup
    assert "rejected: gate said: No." in markup
    assert "inconclusive: gate said: Perhaps." in markup


def test_an_accepted_edit_is_not_among_the_untaken() -> None:
    assert "Every edit" in untaken_edits(Course().step("accept_new_best").view).markup


def test_flips_go_both_ways_and_tell_what_grading_said() -> None:
    markup = flips(
        measured("baseline", "val", 0.5, [False, False, True, True]),
        measured("best", "val", 0.5, [True, False, False, True]),
    ).markup
    assert "better with the best skill than with the seed: 1" in markup
    assert "worse with the best skill than with the seed: 1" in markup
    assert "task-0</th><td>0.000 → 1.000</td><td>Not that." in markup
    assert "task-2</th><td>1.000 → 0.000</td><td>Not that." in markup


def test_what_was_not_measured_both_times_did_not_flip() -> None:
    broken = TaskScore("task-0", 0, None, None, "", "timeout")
    before = measured("baseline", "val", 0.5, [False, True])
    after = msgspec.structs.replace(before, rows=(broken, *before.rows[1:]))
    assert [old.task_id for old, _ in paired(before, after)] == ["task-1"]
    assert "No val task came out better" in flips(before, after).markup


def test_the_seed_may_stay_the_best() -> None:
    assert "nothing was changed" in whole_change(Course().step("reject").view, "seed").markup
    assert "No skill was measured" in whole_change(Course().view, "unheard of").markup
