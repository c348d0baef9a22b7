from __future__ import annotations

import pytest

from skillopt.domain.usage import Caps, Price
from skillopt.kernel.work import STAGES
from skillopt.train.forecast.bounds import least, most
from skillopt.train.forecast.course import Begun, Course
from skillopt.train.forecast.estimate import Asked, Estimate, Range, Size, estimate
from skillopt.train.forecast.pace import Pace
from tests.unit.train.forecast.plans import setup

WAYS = (Course(lessons=3, failing=0.5), Course(lessons=6, failing=0.5, tempted=0.3))
PRICE = Price(input=1.0, output=10.0)


def size(read: float, written: float, most_written: float) -> Size:
    return Size(
        read=read,
        least_read=read / 2,
        most_read=read * 2,
        written=written,
        least_written=1,
        most_written=most_written,
    )


def estimated(
    left: Caps = Caps(), price: Price | None = PRICE, start: Begun = Begun(), pace: Pace | None = None
) -> Estimate:
    optimizer = Asked(role="optimizer", size=size(1000, 100, 500), price=price)
    asked: dict[str, Asked] = {
        **dict.fromkeys(STAGES, optimizer),
        "rollout": Asked(role="target", size=size(100, 10, 50), price=PRICE),
    }
    return estimate(setup(), start, WAYS, asked, left, pace)


def test_the_ends_are_the_least_and_the_most() -> None:
    calls = estimated().total.calls
    assert (calls.low, calls.high) == (least(setup(), Begun()).total, most(setup(), Begun()).total)
    assert calls.low < calls.likely < calls.high


def test_roles_add_up_and_are_paid() -> None:
    found = estimated()
    target, optimizer = found.roles["target"], found.roles["optimizer"]
    assert target.calls + optimizer.calls == found.total.calls
    assert target.input_tokens.likely == 100 * target.calls.likely
    assert target.output_tokens.high == 50 * target.calls.high
    assert target.input_tokens.low == 50 * target.calls.low
    assert target.output_tokens.low == target.calls.low
    assert target.usd is not None
    assert target.usd.likely == pytest.approx(target.calls.likely * (100 * 1.0 + 10 * 10.0) / 1e6, rel=0.01)


def test_without_a_price_there_are_no_dollars() -> None:
    found = estimated(price=None)
    assert found.total.usd is None
    assert found.roles["target"].usd is not None


def test_a_cap_is_honoured_by_every_number() -> None:
    free = estimated()
    capped = estimated(Caps(calls=30))
    assert capped.cap == "calls"
    assert (capped.total.calls.likely, capped.total.calls.high) == pytest.approx((30, 30))
    assert sum(bill.calls.high for bill in capped.roles.values()) == pytest.approx(30)
    assert capped.total.input_tokens.likely < free.total.input_tokens.likely
    assert estimated(Caps(usd=0.001)).cap == "usd"
    assert estimated(Caps(tokens=500)).cap == "tokens"
    assert estimated(Caps(calls=10_000)).cap is None
    assert estimated(Caps(calls=0)).total.calls == Range(0, 0, 0)


def test_a_time_is_known_where_everybody_was_heard() -> None:
    assert estimated().seconds is None
    assert estimated(pace=Pace(seconds={"rollout": 1.0}, slots=(4, 4, 4))).seconds is None
    heard = Pace(seconds=dict.fromkeys(STAGES, 1.0), slots=(4, 4, 4))
    found = estimated(pace=heard)
    assert found.seconds is not None
    assert 0 < found.seconds.low < found.seconds.likely < found.seconds.high
    assert found.seconds.likely >= found.total.calls.likely / 4
    short = estimated(Caps(seconds=1.0), pace=heard)
    assert short.cap == "seconds"
    assert short.seconds is not None
    assert short.seconds.likely == pytest.approx(1.0)
    assert short.total.calls.likely < found.total.calls.likely


def test_a_finished_run_costs_nothing() -> None:
    found = estimated(start=Begun(baseline=True, ended=True, steps=4))
    assert found.total.calls == Range(0, 0, 0)
    assert found.roles == {}
