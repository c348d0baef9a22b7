from __future__ import annotations

import asyncio

from skillopt.kernel.clock import SystemClock


def test_time_only_grows_and_people_see_this_century() -> None:
    clock = SystemClock()
    first = clock.now()
    asyncio.run(clock.sleep(0.0))
    assert clock.now() >= first
    assert clock.wall() > 1_700_000_000
