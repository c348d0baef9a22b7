from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

import pytest

from skillopt.kernel.limits.slots import Slots, Turn
from skillopt.kernel.ports import Clock
from skillopt.testing.clock import VirtualClock, run_virtual

Result = TypeVar("Result")


async def sleeping(clock: Clock, seconds: float) -> None:
    await clock.sleep(seconds)


def with_slots(concurrency: int | None, doing: Callable[[Slots], Awaitable[Result]]) -> Result:
    """Do something with new slots."""

    async def main() -> Result:
        slots = Slots(concurrency=concurrency, clock=VirtualClock(), changed=lambda _slots, _why: None, rest=sleeping)
        return await doing(slots)

    return run_virtual(main())


async def clean_round(slots: Slots, share: float = 1.0) -> None:
    """Use this share of the slots at once, until as many answers as there are slots have come."""
    left, width = slots.limit, max(1, int(slots.limit * share))
    while left > 0:
        taken = min(width, left)
        for _ in range(taken):
            await slots.acquire()
        for _ in range(taken):
            slots.release_after_answer()
        left -= taken


async def rate_limited(slots: Slots, retry_after: float | None = None) -> None:
    await slots.acquire()
    slots.release_after_failure(rate_limited=True, overloaded=True, retry_after=retry_after)


async def overloaded(slots: Slots) -> None:
    await slots.acquire()
    slots.release_after_failure(rate_limited=False, overloaded=True, retry_after=None)


def limits_after(concurrency: int | None, steps: str) -> list[int]:
    """Return the limit after each step: c(lean round), h(alf-used round), r(ate limit), o(verload), w(ait 15 s)."""

    async def doing(slots: Slots) -> list[int]:
        seen = []
        for step in steps:
            match step:
                case "c":
                    await clean_round(slots)
                case "h":
                    await clean_round(slots, 0.5)
                case "r":
                    await rate_limited(slots)
                case "o":
                    await overloaded(slots)
                case "w":
                    await asyncio.sleep(15.0)
            seen.append(slots.limit)
        return seen

    return with_slots(concurrency, doing)


@pytest.mark.parametrize(
    ("concurrency", "steps", "limits"),
    [
        pytest.param(None, "cccc", [8, 16, 32, 64], id="slow start doubles with each clean round"),
        pytest.param(None, "ccccccccc", [8, 16, 32, 64, 128, 256, 512, 512, 512], id="up to a ceiling"),
        pytest.param(None, "hh", [4, 4], id="no growth while the slots are not used"),
        pytest.param(None, "ccrcc", [8, 16, 12, 13, 14], id="after a rate limit it grows slowly"),
        pytest.param(None, "ccrrr", [8, 16, 12, 12, 12], id="one fall in a cooldown"),
        pytest.param(None, "ccrwrwr", [8, 16, 12, 12, 10, 10, 8], id="and one in the next"),
        pytest.param(10, "ccc", [10, 10, 10], id="a fixed number stays"),
        pytest.param(10, "ooo", [10, 10, 10], id="through overload, too"),
        pytest.param(10, "rcc", [8, 8, 8], id="until the first rate limit"),
        pytest.param(10, "rcccccc", [8, 8, 8, 9, 9, 10, 10], id="it recovers to itself"),
        pytest.param(2, "rwrwrwr", [1, 1, 1, 1, 1, 1, 1], id="never below one"),
    ],
)
def test_the_number_of_slots_follows_what_the_provider_says(
    concurrency: int | None, steps: str, limits: list[int]
) -> None:
    assert limits_after(concurrency, steps) == limits


def test_an_overload_begins_the_round_anew() -> None:
    async def doing(slots: Slots) -> list[int]:
        seen = []
        for overload in (False, True):
            for _ in range(3):
                await slots.acquire()
            for _ in range(2):
                slots.release_after_answer()
            slots.release_after_failure(rate_limited=False, overloaded=overload, retry_after=None)
            for _ in range(2):
                await slots.acquire()
            for _ in range(2):
                slots.release_after_answer()
            seen.append(slots.limit)
        return seen

    assert with_slots(None, doing) == [4, 4]


@pytest.mark.parametrize(
    ("retry_after", "falls_to"), [(None, 8), (0.0, 8), (5.0, 8), (0.5, 6)], ids=["none", "zero", "long", "short"]
)
def test_a_burst_of_rate_limits_is_one_episode(retry_after: float | None, falls_to: int) -> None:
    async def doing(slots: Slots) -> int:
        for _ in range(10):
            await slots.acquire()
        for _ in range(9):
            slots.release_after_failure(rate_limited=True, overloaded=True, retry_after=retry_after)
        await asyncio.sleep(1.0)
        slots.release_after_failure(rate_limited=True, overloaded=True, retry_after=retry_after)
        return slots.limit

    assert with_slots(10, doing) == falls_to


def test_nobody_asks_before_the_provider_said_so_not_even_who_waited_before() -> None:
    async def doing(slots: Slots) -> list[float]:
        loop = asyncio.get_running_loop()
        began: list[float] = []

        async def queued() -> None:
            await slots.acquire()
            began.append(loop.time())
            slots.release_after_answer()

        await slots.acquire()
        tasks = [asyncio.ensure_future(queued()) for _ in range(3)]
        await asyncio.sleep(1.0)
        slots.release_after_failure(rate_limited=True, overloaded=True, retry_after=30.0)
        await queued()
        await asyncio.gather(*tasks)
        return began

    assert with_slots(1, doing) == [31.0] * 4


def test_no_more_than_the_limit_at_once_in_the_order_of_asking() -> None:
    async def doing(slots: Slots) -> list[str]:
        order: list[str] = []

        async def unit(name: str, turn: Turn) -> None:
            await slots.acquire(name.encode(), turn)
            order.append(name)
            await asyncio.sleep(1.0)
            slots.release()

        units: list[tuple[str, Turn]] = [
            *(("later-1", "later"), ("soon-1", "soon"), ("real-1", "now"), ("soon-2", "soon"), ("later-2", "later")),
            *(("real-2", "now"), ("later-3", "later"), ("real-3", "now")),
        ]
        await slots.acquire()
        tasks = [asyncio.ensure_future(unit(name, turn)) for name, turn in units]
        await asyncio.sleep(1.0)
        slots.hurry(b"later-2")
        slots.release()
        await asyncio.gather(*tasks)
        return order

    assert with_slots(1, doing) == [
        *("real-1", "real-2", "real-3", "later-2"),  # real work waits for this one now
        *("soon-1", "soon-2", "later-1", "later-3"),
    ]


@pytest.mark.parametrize("turn", ["now", "soon", "later"])
def test_a_cancelled_early_place_keeps_no_slot(turn: Turn) -> None:
    async def doing(slots: Slots) -> int:
        await slots.acquire()
        waiting = [asyncio.ensure_future(slots.acquire(bytes([number]), turn)) for number in range(3)]
        await asyncio.sleep(0.0)
        waiting[0].cancel()
        slots.release()
        waiting[1].cancel()
        await asyncio.gather(*waiting[:2], return_exceptions=True)
        await waiting[2]
        slots.release()
        await slots.acquire()
        return 1

    assert with_slots(1, doing) == 1


def test_a_cancelled_place_is_given_to_the_next() -> None:
    async def doing(slots: Slots) -> int:
        await slots.acquire()
        waiting = [asyncio.ensure_future(slots.acquire()) for _ in range(3)]
        await asyncio.sleep(0.0)
        waiting[0].cancel()
        slots.release()
        waiting[1].cancel()
        await asyncio.gather(*waiting[:2], return_exceptions=True)
        await waiting[2]
        slots.release()
        await slots.acquire()
        return slots.limit

    assert with_slots(1, doing) == 1


def test_every_change_is_told_with_its_reason() -> None:
    told: list[tuple[int, str]] = []

    async def main() -> None:
        slots = Slots(
            concurrency=None, clock=VirtualClock(), changed=lambda *change: told.append(change), rest=sleeping
        )
        await clean_round(slots)
        await rate_limited(slots)

    run_virtual(main())
    assert told == [(8, "a clean round"), (6, "rate limited")]
