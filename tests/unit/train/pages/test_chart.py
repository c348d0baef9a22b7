"""The learning curve: what was measured, and nothing that was not."""

from __future__ import annotations

import re

import pytest

from skillopt.train.pages.chart import curve_of, drawn, point_words, shape_of, whisker
from tests.unit.train.written_runs import Course


@pytest.mark.parametrize(
    ("action", "kind"),
    [
        ("accept", "accept"),
        ("accept_new_best", "accept"),
        ("force_accept", "accept"),
        ("reject", "reject"),
        ("inconclusive", "inconclusive"),
        ("skip_no_patches", "skip"),
    ],
)
def test_every_action_has_its_shape(action: str, kind: str) -> None:
    assert shape_of(action) == kind


def test_an_unknown_action_has_none() -> None:
    with pytest.raises(ValueError, match="'applause'"):
        shape_of("applause")


def test_the_curve_follows_the_incumbent_and_shows_every_candidate() -> None:
    curve = curve_of(Course().step("accept_new_best", score=0.5).step("reject", score=0.3).view)
    assert [(level.step, level.value) for level in curve.levels] == [(0, 0.25), (1, 0.5), (2, 0.5)]
    assert [(point.kind, point.value) for point in curve.points] == [("accept", 0.5), ("reject", 0.3)]
    assert (curve.levels[2].low, curve.levels[2].high) == (0.4, 0.6)
    assert curve.points[1].n == 16


def test_intervals_are_drawn_for_the_score_they_belong_to() -> None:
    curve = curve_of(Course(metric="soft").step("accept_new_best", score=0.5).view)
    assert [(point.value, point.low) for point in curve.points] == [(0.5, None)]
    assert [(level.value, level.low) for level in curve.levels] == [(0.25, None), (0.5, None)]


def test_a_candidate_without_a_measurement_has_no_score() -> None:
    points = curve_of(Course().step("inconclusive", score=None).step("skip_no_patches").view).points
    assert [point.value for point in points] == [None, None]
    assert [point_words(point) for point in points] == [
        "Step 1: inconclusive, not measured",
        "Step 2: nothing to test",
    ]


def test_a_point_says_its_interval_and_n() -> None:
    point = curve_of(Course().step("reject", score=0.5).view).points[0]
    assert point_words(point) == "Step 1: rejected, 0.500 [0.40, 0.60] n=16"


def test_the_picture_describes_itself() -> None:
    course = Course().step("accept_new_best").step("reject").step("inconclusive")
    markup = drawn(curve_of(course.view)).markup
    assert 'role="img" aria-labelledby="curve-title curve-text"' in markup
    assert "goes from 0.250 to 0.500 over 3 steps: 1 accepted, 1 rejected, 1 inconclusive" in markup
    assert re.findall(r'href="#mark-(\w+)"', markup) == ["accept", "reject", "inconclusive"]


def test_a_higher_score_is_drawn_higher() -> None:
    course = Course().step("accept_new_best", score=0.9).step("reject", score=0.1)
    high, low = re.findall(r'<use [^>]* y="([\d.]+)"', drawn(curve_of(course.view)).markup)
    assert float(high) < float(low)


@pytest.mark.parametrize(("steps", "named"), [(1, "1"), (12, "12"), (13, "12"), (1_000, "1000")])
def test_the_axis_names_a_dozen_steps_at_most(steps: int, named: str) -> None:
    course = Course()
    for _ in range(steps):
        course.step("skip_no_patches")
    ticks = re.findall(r'class="tick middle">(\w+)<', drawn(curve_of(course.view)).markup)
    assert ticks[0] == "seed"
    assert ticks[-1] == named
    assert len(ticks) <= 13


def test_a_whisker_without_an_interval_is_a_dot() -> None:
    assert 'class="range"' in whisker(0.5, 0.4, 0.6).markup
    assert 'class="range"' not in whisker(0.5, None, None).markup
    assert 'class="dot"' in whisker(0.5, None, None).markup
