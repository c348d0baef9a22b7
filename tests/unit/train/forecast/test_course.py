from __future__ import annotations

import pytest

from skillopt.kernel.view import RunView
from skillopt.train.forecast.course import USUAL, USUAL_FAILING, Begun, Course, begun, courses
from tests.simulation.house import house, live


def test_a_run_that_has_not_begun_goes_as_is_usual() -> None:
    start = begun(RunView(), {"rollout": 3})
    assert start == Begun(asked={"rollout": 3})
    ways = courses(start, None)
    assert [(way.lessons, way.tempted) for way in ways] == list(USUAL)
    assert {way.failing for way in ways} == {USUAL_FAILING}


def test_less_fails_the_fewer_lessons_are_left() -> None:
    course = Course(lessons=4, failing=0.8)
    assert [course.failing_at(left) for left in (0, 4)] == pytest.approx([0.0, 0.8])
    assert 0.0 < course.failing_at(1) < course.failing_at(2) < 0.8
    assert Course(lessons=0, failing=0.3).failing_at(0) == 0.3


def test_a_run_goes_on_from_where_it_stands() -> None:
    view = live(house(3)).view
    start = begun(view, {})
    assert (start.baseline, start.ended, start.steps) == (True, True, len(view.finished_steps))
    assert start.accepts == sum("accept" in step.gate.action for step in view.finished_steps if step.gate)
    assert start.learnt >= start.accepts > 0
    assert start.passed <= start.seen
    assert start.failing is not None
    for way, (lessons, _) in zip(courses(start, None), USUAL, strict=True):
        assert way.failing == start.failing
        assert way.lessons == (max(1, lessons - start.learnt) if start.failing else 0)


def test_where_nothing_fails_nothing_is_left_to_learn() -> None:
    assert {way.lessons for way in courses(Begun(baseline=True, failing=0.0), None)} == {0}
    assert {way.lessons for way in courses(Begun(baseline=True, failing=0.1, learnt=99), None)} == {1}


def test_an_earlier_run_counts_as_much_as_what_is_usual() -> None:
    view = live(house(3)).view
    ways = courses(Begun(), view)
    known, usual = ways[: len(ways) // 2], ways[len(ways) // 2 :]
    assert all(way == known[0] for way in known)
    assert [(way.lessons, way.tempted) for way in usual] == list(USUAL)
    assert known[0].lessons == begun(view, {}).learnt
    assert 0.0 < known[0].tempted < 1.0
    assert known[0].asked["merge"] == 0.0
