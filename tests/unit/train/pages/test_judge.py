from __future__ import annotations

from skillopt.domain.judging import Agreement
from skillopt.kernel.events import AnswersJudged, PairsCompared
from skillopt.train.pages.judge import flips, judged
from skillopt.train.pages.page import page
from tests.unit.train.written_runs import Course, summary_of

PAIRS = PairsCompared(origin="step_0001", new=5, old=2, neither=3, swayed=1, failed=4)


def test_the_flip_rate_is_told_with_what_it_rests_on() -> None:
    told = flips(Agreement(answers=40, compared=20, disagreed=3.0))
    assert "20 answers" in told
    assert "15.0%" in told


def test_a_flip_rate_that_was_not_measured_says_how_it_would_be() -> None:
    told = flips(Agreement(answers=40))
    assert "not measured" in told
    assert "judge.repeats" in told
    assert "0.0%" not in told


def test_answers_without_a_mark_are_counted_apart() -> None:
    (told,) = judged(Agreement(answers=40, unscored=3), ())
    assert "40 answers were marked" in told.markup
    assert "3 of them got no usable mark" in told.markup


def test_comparisons_have_a_row_each() -> None:
    _, rows = judged(Agreement(answers=1), [PAIRS])
    assert "step_0001" in rows.markup


def test_the_report_has_the_section_only_where_a_judge_was_asked() -> None:
    without = Course().step("accept_new_best").end()
    assert "Judge</h2>" not in page(without.view, summary_of(without.view))
    agreement = Agreement(answers=4, compared=4, disagreed=1.0)
    with_judge = Course().tell(AnswersJudged(path="baseline/val/judge", agreement=agreement), PAIRS).end()
    assert with_judge.view.judged == agreement
    assert "25.0%" in page(with_judge.view, summary_of(with_judge.view))
