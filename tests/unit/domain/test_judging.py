from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillopt.domain.judging import (
    Agreement,
    Comparison,
    Preference,
    Unassessed,
    Unjudged,
    disagreement,
    read_score,
    written,
)
from skillopt.domain.scores import Score


def test_a_mark_alone_is_the_whole_score() -> None:
    mark = Score(hard=1, soft=0.9, feedback="Kind.")
    assert Unjudged(answer="a", rubric="r").scored(mark) is mark


@pytest.mark.parametrize(
    ("ruled", "parts", "mark", "hard", "soft"),
    [
        (1.0, 1, 1.0, 1.0, 1.0),
        (0.0, 1, 1.0, 0.0, 0.5),
        (1.0, 1, 0.0, 0.0, 0.5),
        (1.0, 3, 0.0, 0.0, 0.75),
        (0.0, 3, 1.0, 0.0, 0.25),
    ],
)
def test_a_mark_is_one_part_beside_those_of_the_rules(
    ruled: float, parts: int, mark: float, hard: float, soft: float
) -> None:
    left = Unjudged(answer="a", rubric="r", ruled=Score(hard=ruled, soft=ruled), parts=parts)
    score = left.scored(Score(hard=mark, soft=mark))
    assert (score.hard, score.soft) == (hard, soft)


@pytest.mark.parametrize(
    ("passes", "share"),
    [
        ("", None),
        ("1", None),
        ("11", 0.0),
        ("00", 0.0),
        ("10", 1.0),
        ("110", 2 / 3),
        ("1100", 4 / 6),
        ("11110", 4 / 10),
    ],
)
def test_disagreement_is_the_share_of_pairs_that_differ(passes: str, share: float | None) -> None:
    assert disagreement(tuple(one == "1" for one in passes)) == share


def test_a_flip_rate_that_was_not_measured_is_unknown_and_not_zero() -> None:
    assert Agreement(answers=7).flip_rate is None
    assert Agreement(answers=7, compared=4).flip_rate == 0.0


def test_agreements_of_many_phases_add_up_to_one_rate() -> None:
    one = Agreement(answers=3, unscored=1, compared=2, disagreed=1.0)
    both = one + Agreement(answers=5, unscored=0, compared=2, disagreed=0.0)
    assert both == Agreement(answers=8, unscored=1, compared=4, disagreed=1.0)
    assert both.flip_rate == 0.25


@pytest.mark.parametrize(("preferred", "cause"), [(None, None), ("new", "judge: Unreadable")])
def test_a_comparison_has_a_preference_or_a_cause(preferred: Preference | None, cause: str | None) -> None:
    with pytest.raises(ValueError, match="a preference or a cause"):
        Comparison(task_id="a", preferred=preferred, cause=cause)


HALF = Score(hard=0.0, soft=0.5, feedback="Half of it.")
RIGHT = Score(hard=1.0, soft=1.0)


def test_a_program_is_one_part_beside_the_rules() -> None:
    assert Unassessed(answer="a").scored(HALF) == HALF
    both = Unassessed(answer="a", ruled=RIGHT, parts=3).scored(HALF)
    assert both == Score(hard=0.0, soft=0.875, feedback="Half of it.")


def test_a_judge_comes_after_the_program_and_sees_nothing_of_it() -> None:
    left = Unassessed(answer="a", ruled=RIGHT, parts=1, rubric="r", references=("b",))
    case = left.scored(HALF)
    assert isinstance(case, Unjudged)
    assert (case.answer, case.rubric, case.references, case.parts) == ("a", "r", ("b",), 2)
    assert case.scored(RIGHT) == Score(hard=0.0, soft=2.5 / 3, feedback="Half of it.")
    assert left.case == Unjudged(answer="a", rubric="r", references=("b",), ruled=RIGHT, parts=1)
    assert Unassessed(answer="a").case is None


@given(hard=st.sampled_from([0.0, 1.0]), soft=st.floats(0, 1), feedback=st.text(max_size=20))
def test_a_written_score_is_read_as_it_was(hard: float, soft: float, feedback: str) -> None:
    score = Score(hard=hard, soft=soft, feedback=feedback)
    assert read_score(written(score)) == score
