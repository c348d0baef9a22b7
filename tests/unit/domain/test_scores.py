from __future__ import annotations

import math

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillopt.domain.errors import UsageError
from skillopt.domain.scores import Metric, MetricName, Score, Scoreboard, Scored

HARD, SOFT = Metric(name=MetricName.HARD), Metric(name=MetricName.SOFT)


def board(*values: float | None) -> Scoreboard:
    return Scoreboard(tuple(row(str(place), value) for place, value in enumerate(values)))


def row(task: str, value: float | None, trial: int = 0) -> Scored:
    if value is None:
        return Scored(task_id=task, trial=trial, cause="timed out")
    return Scored(task_id=task, trial=trial, score=Score(hard=value, soft=value))


@pytest.mark.parametrize(("hard", "soft"), [(-0.1, 0), (1.1, 0), (0, -0.1), (0, 2), (math.nan, 0), (0, math.inf)])
def test_a_score_outside_its_range_is_refused(hard: float, soft: float) -> None:
    with pytest.raises(ValueError, match="between 0 and 1"):
        Score(hard=hard, soft=soft)


def test_a_score_reads_back_as_it_was_written() -> None:
    score = Score(hard=True, soft=1)
    assert msgspec.json.encode(score) == b'{"hard":1.0,"soft":1.0,"feedback":""}'
    assert msgspec.json.encode(msgspec.json.decode(msgspec.json.encode(score), type=Score)) == msgspec.json.encode(
        score
    )


@pytest.mark.parametrize(
    ("metric", "value"),
    [
        (HARD, 1.0),
        (SOFT, 0.5),
        (Metric(name=MetricName.MIXED), 0.75),
        (Metric(name=MetricName.MIXED, weight=0.0), 1.0),
        (Metric(name=MetricName.MIXED, weight=1.0), 0.5),
        (Metric(name=MetricName.MIXED, weight=0.25), 0.875),
    ],
)
def test_metrics(metric: Metric, value: float) -> None:
    assert metric.of(Score(hard=1.0, soft=0.5)) == value


@pytest.mark.parametrize("weight", [-0.1, 1.1, math.nan])
def test_a_weight_outside_its_range_is_refused(weight: float) -> None:
    with pytest.raises(UsageError, match="weight"):
        Metric(name=MetricName.MIXED, weight=weight)


def test_an_unknown_metric_names_the_valid_ones() -> None:
    assert MetricName.parse("mixed") is MetricName.MIXED
    with pytest.raises(UsageError, match=r"Did you mean 'hard'\? Valid: hard, mixed, soft\."):
        MetricName.parse("hart")


def test_a_row_has_a_score_or_a_cause() -> None:
    with pytest.raises(ValueError, match="a score or a cause"):
        Scored(task_id="a")
    with pytest.raises(ValueError, match="a score or a cause"):
        Scored(task_id="a", score=Score(hard=0.0, soft=0.0), cause="timed out")


def test_failed_rows_are_counted_and_left_out_of_every_mean() -> None:
    scores = board(1.0, None, 0.0, None)
    assert (scores.n, scores.failed, scores.hard, scores.soft, scores.cause) == (2, 2, 0.5, 0.5, "timed out")


@pytest.mark.parametrize("scores", [board(), board(None, None)])
def test_nothing_measured_is_none_and_not_zero(scores: Scoreboard) -> None:
    assert (scores.n, scores.hard, scores.soft, scores.value(HARD), scores.interval(HARD)) == (
        0,
        None,
        None,
        None,
        None,
    )


def test_measured_zero_is_zero() -> None:
    assert board(0.0, 0.0).value(HARD) == 0.0


@given(st.lists(st.floats(0, 1), min_size=1, max_size=30))
def test_the_mean_does_not_depend_on_the_order(values: list[float]) -> None:
    assert board(*values).hard == board(*reversed(values)).hard == board(*sorted(values)).hard


@pytest.mark.parametrize(
    ("right", "n", "low", "high"),
    [
        (0, 10, 0.0, 0.2775),
        (10, 10, 0.7225, 1.0),
        (5, 10, 0.2366, 0.7634),
        (1, 1, 0.2065, 1.0),
        (81, 263, 0.2553, 0.3662),
    ],
)
def test_wilson_for_right_and_wrong(right: int, n: int, low: float, high: float) -> None:
    interval = board(*[1.0] * right, *[0.0] * (n - right)).interval(HARD)
    assert interval == pytest.approx((low, high), abs=5e-5)


def test_students_t_for_part_marks() -> None:
    half = 4.302653 * 0.1 / 3**0.5
    assert board(0.4, 0.5, 0.6).interval(SOFT) == pytest.approx((0.5 - half, 0.5 + half), abs=1e-6)
    half = 2.262157 * 0.0527046 / 10**0.5
    assert board(*[0.45, 0.55] * 5).interval(SOFT) == pytest.approx((0.5 - half, 0.5 + half), abs=1e-4)


def test_an_interval_without_spread_is_not_a_point() -> None:
    interval = board(0.7, 0.7, 0.7).interval(SOFT)
    assert interval is not None
    assert interval.low < 0.6
    assert interval.high > 0.8


def test_coin_flips_inside_every_task_do_not_make_the_mean_certain() -> None:
    rows = [row(str(task), value, trial) for task in range(3) for trial, value in enumerate((0.0, 1.0))]
    interval = Scoreboard(tuple(rows)).interval(HARD)
    assert interval is not None
    assert interval.low < 0.2
    assert interval.high > 0.8


def test_trials_of_one_task_are_not_independent_evidence() -> None:
    tasks = [0.0, 1.0] * 5
    once = board(*tasks).interval(HARD)
    copied = Scoreboard(tuple(row(str(n), value, trial) for n, value in enumerate(tasks) for trial in range(9)))
    repeated = copied.interval(HARD)
    assert once is not None
    assert repeated is not None
    assert repeated.high - repeated.low > 0.9 * (once.high - once.low)


@given(st.lists(st.one_of(st.none(), st.floats(0, 1), st.sampled_from([0.0, 1.0])), min_size=1, max_size=20))
def test_an_interval_holds_its_mean_and_stays_in_range(values: list[float | None]) -> None:
    scores = board(*values)
    interval, mean = scores.interval(HARD), scores.value(HARD)
    if interval is None or mean is None:
        assert scores.n == 0
    else:
        assert 0.0 <= interval.low <= mean + 1e-12
        assert mean - 1e-12 <= interval.high <= 1.0


def test_scores_by_type_are_in_order_and_leave_out_tasks_without_one() -> None:
    scores = board(1.0, 0.0, None, 1.0)
    maths, words = scores.by_type({"0": "words", "1": "maths", "2": "maths"})
    assert (maths.type, maths.board.n, maths.board.failed, maths.board.hard) == ("maths", 1, 1, 0.0)
    assert (words.type, words.board.n, words.board.hard) == ("words", 1, 1.0)


def test_only_some_tasks() -> None:
    scores = board(1.0, 0.0, None)
    assert scores.measured_tasks == {"0", "1"}
    assert scores.only({"0", "2"}).rows == (scores.rows[0], scores.rows[2])
