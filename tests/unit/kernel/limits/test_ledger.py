from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as some

from skillopt.domain.errors import BudgetReachedError
from skillopt.domain.usage import NOTHING, Caps, Usage
from skillopt.kernel.limits.ledger import Ledger
from skillopt.testing.clock import VirtualClock, run_virtual


def tokens(count: int) -> Usage:
    return Usage(calls=1, output_tokens=count)


def ledger_under(caps: Caps, spent: Usage = NOTHING, spent_seconds: float = 0.0) -> Ledger:
    return Ledger(caps=caps, spent=spent, spent_seconds=spent_seconds, clock=VirtualClock())


async def unit(ledger: Ledger, index: int, worst: Usage, cost: Usage, seconds: float, order: list[int]) -> None:
    """Reserve, note the order, work, settle."""
    with ledger.turn((1, index)):
        await ledger.reserve((1, index), worst)
        order.append(index)
        await asyncio.sleep(seconds)
        ledger.settle(worst, cost)


def outcomes(caps: Caps, units: Sequence[tuple[int, int, float]]) -> tuple[list[int], list[bool]]:
    """Start all units at once; return the order in which they got their reservation, and who was refused."""

    async def main() -> tuple[list[int], list[bool]]:
        ledger, order = ledger_under(caps), list[int]()
        ends = await asyncio.gather(
            *(
                unit(ledger, index, tokens(worst), tokens(cost), seconds, order)
                for index, (worst, cost, seconds) in enumerate(units)
            ),
            return_exceptions=True,
        )
        assert all(end is None or isinstance(end, BudgetReachedError) for end in ends)
        return order, [end is not None for end in ends]

    return run_virtual(main())


@pytest.mark.parametrize(
    ("cap", "units", "order", "refused"),
    [
        pytest.param(100, [(50, 10, 1), (50, 10, 1)], [0, 1], [False, False], id="both fit at once"),
        pytest.param(100, [(60, 10, 1), (60, 10, 1)], [0, 1], [False, False], id="the second waits and then fits"),
        pytest.param(100, [(60, 60, 1), (60, 60, 1)], [0], [False, True], id="the second waits in vain"),
        pytest.param(
            100,
            [(60, 60, 1), (101, 1, 1), (10, 1, 1)],
            [0],
            [False, True, True],
            id="nobody passes one that cannot fit",
        ),
        pytest.param(
            100, [(60, 10, 2), (60, 10, 1), (10, 1, 1)], [0, 1, 2], [False, False, False], id="nobody overtakes"
        ),
        pytest.param(0, [(1, 1, 1)], [], [True], id="a cap of nothing"),
    ],
)
def test_units_reserve_in_their_order_and_are_refused_only_when_nothing_can_help(
    cap: int, units: list[tuple[int, int, float]], order: list[int], refused: list[bool]
) -> None:
    assert outcomes(Caps(tokens=cap), units) == (order, refused)


def test_an_earlier_unit_that_tries_again_goes_before_those_who_wait() -> None:
    async def main() -> list[str]:
        ledger, order = ledger_under(Caps(calls=3)), list[str]()

        async def failing_first() -> None:
            with ledger.turn((1, 0)):
                await ledger.reserve((1, 0), tokens(1))
                ledger.settle(tokens(1), tokens(1))
                await asyncio.sleep(5.0)
                await ledger.reserve((1, 0), tokens(1))
                order.append("first, again")
                ledger.settle(tokens(1), tokens(1))

        async def later(index: int) -> None:
            with ledger.turn((1, index)):
                await asyncio.sleep(1.0)
                await ledger.reserve((1, index), tokens(1))
                order.append(f"unit {index}")
                await asyncio.sleep(10.0)
                ledger.settle(tokens(1), NOTHING)

        await asyncio.gather(failing_first(), later(3), later(2), later(1))
        return order

    assert run_virtual(main()) == ["unit 3", "unit 2", "first, again", "unit 1"]


@pytest.mark.parametrize(
    ("caps", "cap"),
    [
        (Caps(calls=0), "calls"),
        (Caps(tokens=9), "tokens"),
        (Caps(usd=0.000000001), "usd"),
        (Caps(seconds=0.0), "seconds"),
        (Caps(calls=0, tokens=0), "calls"),
    ],
)
def test_the_refusal_names_the_cap_and_how_to_go_on(caps: Caps, cap: str) -> None:
    async def main() -> None:
        await ledger_under(caps).reserve((1, 0), Usage(calls=1, output_tokens=10, nano_usd=2))

    with pytest.raises(BudgetReachedError, match=rf"limits\.{cap}.*Raise limits\.{cap}") as caught:
        run_virtual(main())
    assert caught.value.cap == cap


def test_what_earlier_sessions_spent_counts() -> None:
    async def main() -> float | None:
        ledger = ledger_under(Caps(calls=5, seconds=60.0), spent=Usage(calls=4), spent_seconds=50.0)
        await ledger.reserve((1, 0), Usage(calls=1))
        ledger.settle(Usage(calls=1), Usage(calls=1))
        with pytest.raises(BudgetReachedError):
            await ledger.reserve((1, 1), Usage(calls=1))
        return ledger.seconds_left()

    assert run_virtual(main()) == 10.0


def test_a_cap_on_seconds_ends_what_is_under_way_at_the_second() -> None:
    async def main() -> tuple[float, str]:
        ledger = ledger_under(Caps(seconds=7.0))
        try:
            async with ledger.within_time():
                await asyncio.sleep(100.0)
        except BudgetReachedError as error:
            return asyncio.get_running_loop().time(), error.cap
        return -1.0, ""

    assert run_virtual(main()) == (7.0, "seconds")


def test_somebody_elses_timeout_is_not_mistaken_for_the_cap() -> None:
    async def main() -> None:
        async with ledger_under(Caps(seconds=7.0)).within_time():
            raise TimeoutError

    with pytest.raises(TimeoutError):
        run_virtual(main())


def test_a_cancelled_wait_holds_nothing() -> None:
    async def main() -> Usage:
        ledger = ledger_under(Caps(calls=1))
        await ledger.reserve((1, 0), tokens(0))
        waiting = asyncio.ensure_future(ledger.reserve((1, 1), tokens(0)))
        await asyncio.sleep(1.0)
        ledger.settle(tokens(0), NOTHING)
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
        await ledger.reserve((1, 2), tokens(0))
        ledger.settle(tokens(0), tokens(0))
        return ledger.settled

    assert run_virtual(main()) == tokens(0)


a_unit = some.tuples(some.integers(0, 60), some.floats(0, 1), some.sampled_from([0.0, 1.0, 2.0, 5.0]))


@given(cap=some.integers(0, 200), units=some.lists(a_unit, max_size=12), width=some.integers(1, 12))
def test_no_schedule_overshoots_and_no_unit_waits_for_ever(
    cap: int, units: list[tuple[int, float, float]], width: int
) -> None:
    async def main() -> Usage:
        ledger, order = ledger_under(Caps(tokens=cap)), list[int]()
        gate = asyncio.Semaphore(width)

        async def one(index: int, worst: int, share: float, seconds: float) -> None:
            async with gate:
                await unit(ledger, index, tokens(worst), tokens(int(worst * share)), seconds, order)
                assert ledger.settled.tokens <= cap

        ends = await asyncio.gather(*(one(index, *each) for index, each in enumerate(units)), return_exceptions=True)
        assert all(end is None or isinstance(end, BudgetReachedError) for end in ends)
        return ledger.settled

    assert run_virtual(main()).tokens <= cap
