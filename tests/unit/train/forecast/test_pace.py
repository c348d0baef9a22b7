from __future__ import annotations

from skillopt.train.forecast.pace import Pace
from skillopt.train.forecast.walk import Walked

WALKED = Walked(
    calls={"rollout": 20.0, "reflect": 3.0}, steps=1, phases={"rollout": (5.0, 15.0), "reflect": (2.0, 1.0)}
)
PACE = Pace(seconds={"rollout": 1.0, "reflect": 10.0}, slots=(2, 4, 10))


def test_a_phase_takes_as_many_rounds_as_its_calls_need() -> None:
    assert PACE.likely(WALKED) == (2 + 4) * 1.0 + (1 + 1) * 10.0


def test_the_fewest_slots_on_a_slow_day_take_longest() -> None:
    assert PACE.most(WALKED) == 2 * ((3 + 8) * 1.0 + (1 + 1) * 10.0)


def test_all_slots_busy_on_a_fast_day_take_least() -> None:
    assert PACE.least(WALKED) == (20 * 1.0 + 3 * 10.0) / 10 / 2


def test_what_is_answered_already_takes_no_time() -> None:
    half = Walked(calls={"rollout": 10.0}, steps=1, phases={"rollout": (5.0, 15.0)})
    assert PACE.likely(half) == (2 + 4) * 1.0 / 2


def test_who_was_never_heard_is_not_guessed() -> None:
    judged = Walked(calls={"rollout": 1.0, "judge": 1.0}, steps=1, phases={"rollout": (1.0,), "judge": (1.0,)})
    assert PACE.knows(WALKED)
    assert not PACE.knows(judged)
