from __future__ import annotations

import asyncio
import threading

import pytest

from skillopt.testing.clock import DeadlockError, VirtualClock, run_virtual


def test_a_year_passes_at_once_and_is_seen_by_every_clock() -> None:
    year = 365 * 86400.0
    clock = VirtualClock(wall=1000.0)

    async def main() -> tuple[float, float, float]:
        await clock.sleep(year)
        return clock.now(), clock.wall(), asyncio.get_running_loop().time()

    assert run_virtual(main()) == (year, 1000.0 + year, year)


def test_sleepers_wake_in_order_of_time_and_then_of_asking() -> None:
    woken: list[str] = []

    async def sleeper(name: str, seconds: float) -> None:
        await asyncio.sleep(seconds)
        woken.append(f"{name}@{asyncio.get_running_loop().time():g}")

    async def main() -> None:
        async with asyncio.TaskGroup() as group:
            for name, seconds in (("a", 3.0), ("b", 1.0), ("c", 2.0), ("d", 1.0)):
                group.create_task(sleeper(name, seconds))

    run_virtual(main())
    assert woken == ["b@1", "d@1", "c@2", "a@3"]


def test_a_timeout_fires_at_its_time() -> None:
    async def main() -> float:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(30.0):
                await asyncio.Event().wait()
        return asyncio.get_running_loop().time()

    assert run_virtual(main()) == 30.0


def test_what_is_ready_runs_before_time_moves() -> None:
    async def main() -> list[float]:
        loop = asyncio.get_running_loop()
        times: list[float] = []
        loop.call_later(1.0, lambda: times.append(loop.time()))
        for _ in range(100):
            await asyncio.sleep(0)
            times.append(loop.time())
        await asyncio.sleep(1.0)
        return times

    assert run_virtual(main()) == [0.0] * 100 + [1.0]


def test_events_queues_and_gather_work() -> None:
    async def main() -> list[int]:
        queue: asyncio.Queue[int] = asyncio.Queue(maxsize=1)
        opened = asyncio.Event()

        async def produce() -> None:
            await opened.wait()
            for number in range(3):
                await queue.put(number)

        async def consume() -> list[int]:
            return [await queue.get() for _ in range(3)]

        async def opener() -> None:
            await asyncio.sleep(5)
            opened.set()

        return (await asyncio.gather(consume(), produce(), opener()))[0]

    assert run_virtual(main()) == [0, 1, 2]


def test_waiting_for_nothing_is_an_error_that_names_who_waits() -> None:
    async def stuck() -> None:
        await asyncio.Event().wait()

    async def main() -> None:
        await asyncio.create_task(stuck(), name="poor-soul")

    with pytest.raises(DeadlockError, match="poor-soul in stuck"):
        run_virtual(main())


def test_a_deadlock_still_runs_what_cleans_up() -> None:
    cleaned: list[str] = []

    async def main() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            cleaned.append("yes")

    with pytest.raises(DeadlockError):
        run_virtual(main())
    assert cleaned == ["yes"]


def test_time_stands_still_while_a_thread_of_the_loop_works() -> None:
    release = threading.Event()

    async def main() -> tuple[str, float]:
        loop = asyncio.get_running_loop()

        def work() -> str:
            release.wait(10)
            return "done"

        timer = loop.call_later(3600.0, lambda: None)
        working = asyncio.create_task(asyncio.to_thread(work))
        await asyncio.sleep(0)
        release.set()
        result = await working
        timer.cancel()
        return result, loop.time()

    assert run_virtual(main()) == ("done", 0.0)


def test_time_stands_still_while_a_foreign_thread_works_if_the_loop_is_told() -> None:
    busy = threading.Event()
    ask = threading.Event()

    async def main() -> tuple[str, float]:
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[str] = loop.create_future()

        def work() -> None:
            ask.wait(10)
            loop.call_soon_threadsafe(answer.set_result, "done")

        thread = threading.Thread(target=work)
        thread.start()
        timer = loop.call_later(3600.0, lambda: None)
        busy.set()
        ask.set()
        result = await answer
        busy.clear()
        timer.cancel()
        thread.join()
        return result, loop.time()

    assert run_virtual(main(), outside=busy.is_set) == ("done", 0.0)


def test_many_tiny_steps_at_a_late_hour_come_to_an_end() -> None:
    async def main() -> float:
        await asyncio.sleep(1e9)
        for _ in range(50):
            await asyncio.sleep(1e-7)
        return asyncio.get_running_loop().time()

    assert run_virtual(main()) == pytest.approx(1e9, abs=1.0)


def test_an_error_comes_through_and_two_loops_do_not_share_time() -> None:
    async def fail() -> None:
        await asyncio.sleep(5)
        raise KeyError("mine")

    async def time() -> float:
        return asyncio.get_running_loop().time()

    with pytest.raises(KeyError, match="mine"):
        run_virtual(fail())
    assert run_virtual(time()) == 0.0
