from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator

import pytest

from skillopt.kernel.payment.pool import Halt, HaltedError, work_through
from skillopt.testing.clock import VirtualClock, run_virtual


def through(handle: Callable[[int], Awaitable[None]], *, units: int, width: int, halt: Halt | None = None) -> None:
    halt = Halt() if halt is None else halt
    run_virtual(work_through(iter(range(units)), handle, width=width, halt=halt))


@pytest.mark.parametrize(("units", "width", "peak"), [(10, 1, 1), (10, 3, 3), (2, 5, 2), (0, 3, 0)])
def test_units_are_taken_in_order_and_no_more_than_the_width_at_once(units: int, width: int, peak: int) -> None:
    taken, under_way, most = list[int](), set[int](), [0]

    async def handle(unit: int) -> None:
        taken.append(unit)
        under_way.add(unit)
        most[0] = max(most[0], len(under_way))
        await asyncio.sleep(1.0 + unit % 2)
        under_way.remove(unit)

    through(handle, units=units, width=width)
    assert taken == list(range(units))
    assert most == [peak]


def test_the_first_error_stops_the_taking_and_the_rest_finishes() -> None:
    finished = list[int]()

    async def handle(unit: int) -> None:
        await asyncio.sleep(1.0 if unit == 1 else 5.0)
        if unit == 1:
            raise ValueError("one")
        finished.append(unit)

    with pytest.raises(ValueError, match="one"):
        through(handle, units=9, width=3)
    assert finished == [0, 2]


def test_of_errors_at_the_same_moment_the_first_in_order_counts() -> None:
    async def handle(unit: int) -> None:
        await asyncio.sleep(1.0)
        raise ValueError(f"unit {unit}")

    with pytest.raises(ValueError, match="unit 0"):
        through(handle, units=9, width=9)


def test_an_error_stops_the_others_before_they_can_go_on() -> None:
    halt, seen = Halt(), list[bool]()
    failed = asyncio.Event()

    async def handle(unit: int) -> None:
        if unit == 0:
            await asyncio.sleep(1.0)
            failed.set()
            raise ValueError("zero")
        await failed.wait()
        seen.append(halt.reason is not None)

    with pytest.raises(ValueError, match="zero"):
        through(handle, units=3, width=3, halt=halt)
    assert seen == [True, True]


def test_units_that_cannot_be_made_are_an_error_as_well() -> None:
    def units() -> Iterator[int]:
        yield 0
        raise OSError("no more")

    async def handle(unit: int) -> None:
        await asyncio.sleep(1.0)

    with pytest.raises(OSError, match="no more"):
        run_virtual(work_through(units(), handle, width=2, halt=Halt()))


def test_who_is_told_to_stop_is_told_the_first_reason() -> None:
    halt = Halt()

    async def handle(unit: int) -> None:
        halt.stop(KeyError("first"))
        halt.stop(ValueError("second"))

    with pytest.raises(KeyError):
        through(handle, units=9, width=1, halt=halt)


def test_a_halt_wakes_who_rests() -> None:
    async def main() -> float:
        halt, clock = Halt(), VirtualClock()
        halt.check()
        await halt.rest(clock, 2.0)
        asyncio.get_running_loop().call_later(3.0, halt.stop, KeyError())
        with pytest.raises(HaltedError):
            await halt.rest(clock, 1000.0)
        with pytest.raises(HaltedError):
            await halt.rest(clock, 1000.0)
        with pytest.raises(HaltedError):
            halt.check()
        return clock.now()

    assert run_virtual(main()) == 5.0


def test_cancelling_cancels_the_workers() -> None:
    async def main() -> list[int]:
        ended = list[int]()

        async def handle(unit: int) -> None:
            try:
                await asyncio.sleep(100.0)
            finally:
                ended.append(unit)

        working = asyncio.ensure_future(work_through(iter(range(5)), handle, width=2, halt=Halt()))
        await asyncio.sleep(1.0)
        working.cancel()
        await asyncio.gather(working, return_exceptions=True)
        return ended

    assert run_virtual(main()) == [0, 1]
