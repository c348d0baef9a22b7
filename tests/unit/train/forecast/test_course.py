from __future__ import annotations

from skillopt.kernel.view import RunView
from skillopt.train.forecast.course import USUAL, USUAL_FAILING, Begun, begun, courses
from tests.simulation.house import house, live


def test_a_run_that_has_not_begun_goes_as_is_usual() -> None:
    start = begun(RunView(), {"rollout": 3})
    assert start == Begun(asked={"rollout": 3})
    ways = courses(start, None)
    assert [(way.accepts, way.rejects) for way in ways] == list(USUAL)
    assert {way.failing for way in ways} == {USUAL_FAILING}


def test_a_run_goes_on_from_where_it_stands() -> None:
    view = live(house(3)).view
    start = begun(view, {})
    assert (start.baseline, start.ended, start.steps) == (True, True, len(view.finished_steps))
    assert start.accepts == sum("accept" in step.gate.action for step in view.finished_steps if step.gate)
    assert start.passed <= start.seen
    assert start.failing is not None
    assert 0.0 <= start.failing <= 1.0
    assert all(
        way.accepts == max(0, usual[0] - start.accepts) for way, usual in zip(courses(start, None), USUAL, strict=True)
    )


def test_an_earlier_run_says_how_runs_go_here() -> None:
    view = live(house(3)).view
    (way,) = courses(Begun(), view)
    candidates = {
        step.candidate.skill_digest
        for step in view.finished_steps
        if step.candidate is not None and step.candidate.changed
    }
    assert way.accepts == begun(view, {}).accepts
    assert way.accepts + way.rejects == len(candidates)
