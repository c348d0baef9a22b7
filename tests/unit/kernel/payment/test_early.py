from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine

import msgspec
import pytest

from skillopt.domain.chat import Reply
from skillopt.domain.errors import (
    AuthError,
    BudgetReachedError,
    InterruptedRunError,
    QuotaExhaustedError,
    UnavailableError,
)
from skillopt.kernel.events import PhaseEnded, Warned
from skillopt.kernel.limits.terms import LimitSettings
from skillopt.kernel.run import Run
from skillopt.kernel.work import Outcome
from skillopt.testing.clock import VirtualClock
from skillopt.testing.faults import FaultKind, FaultPlan
from skillopt.testing.scripted import ScriptedChat
from tests.unit.kernel.bench import Bench, Notebook


def texts(outcomes: tuple[Outcome, ...]) -> list[str]:
    return [outcome.text if isinstance(outcome, Reply) else outcome.kind for outcome in outcomes]


async def with_a_later_test(run: Run, bench: Bench) -> float:
    """Say first what is asked last: two steps that wait for each other, and a test that waits for nothing."""
    began = VirtualClock().now()
    run.ahead(bench.asks("t1", "t2", "t3"))
    await run.do("one", "rollout", bench.asks("a"))
    await run.do("two", "rollout", bench.asks("b"))
    assert texts(await run.do("test", "rollout", bench.asks("t1", "t2", "t3"))) == ["t1", "t2", "t3"]
    return VirtualClock().now() - began


@pytest.mark.parametrize(("slots", "seconds"), [(1, 5.0), (2, 3.0), (4, 2.0)])
def test_certain_work_uses_the_slots_that_nobody_needs(slots: int, seconds: float) -> None:
    bench, notebook = Bench(ScriptedChat("echo", latency=1.0), limits=LimitSettings(concurrency=slots)), Notebook()
    assert bench.live(lambda run: with_a_later_test(run, bench), observers=[notebook]) == seconds
    assert bench.chat.calls == bench.chat.served == 5
    used = {fact.path: fact.usage.calls for fact in notebook.facts if isinstance(fact, PhaseEnded)}
    assert used == {"one": 1, "two": 1, "test": 3}, "it counts where it is used"


@pytest.mark.parametrize("cap", ["calls", "tokens", "usd", "seconds"])
def test_under_a_cap_nothing_is_begun_ahead(cap: str) -> None:
    capped = msgspec.structs.replace(LimitSettings(concurrency=4), **{cap: 9000})
    bench = Bench(ScriptedChat("echo", latency=1.0), limits=capped)
    assert bench.live(lambda run: with_a_later_test(run, bench)) == 3.0


def test_a_cap_stops_a_run_where_it_would_without_certain_work() -> None:
    bench = Bench(ScriptedChat("echo"), limits=LimitSettings(concurrency=4, calls=2))
    with pytest.raises(BudgetReachedError):
        bench.live(lambda run: with_a_later_test(run, bench))
    assert texts(bench.live(lambda run: run.do("one", "rollout", bench.asks("a")))) == ["a"]
    assert bench.chat.calls == 2


def test_a_replayed_run_begins_nothing() -> None:
    bench = Bench(ScriptedChat("echo", latency=1.0), limits=LimitSettings(concurrency=4, speculation=9))

    async def work(run: Run, certain: str, guess: str) -> None:
        run.ahead(bench.asks(certain))
        run.hint(bench.asks(guess))
        await run.do("p", "rollout", bench.asks("a"))
        await asyncio.sleep(5.0)

    bench.live(lambda run: work(run, "t", "g"))
    assert bench.chat.calls == 3
    bench.live(lambda run: work(run, "u", "h"))
    assert bench.chat.calls == 3


def test_guesses_go_beside_the_next_phase_or_not_at_all() -> None:
    bench = Bench(ScriptedChat("echo", latency=1.0), limits=LimitSettings(concurrency=4, speculation=9))

    async def work(run: Run, *more: str) -> None:
        run.hint(bench.asks("a", "g"))
        await run.do("p", "rollout", bench.asks("a"))
        if more:
            await run.do("q", "rollout", bench.asks(*more))

    bench.live(work)
    assert bench.chat.calls == 2
    bench.live(lambda run: work(run, "b"), name="another")
    assert bench.chat.calls == 3


def test_real_work_has_its_slots_before_guesses_and_certain_work() -> None:
    bench = Bench(ScriptedChat("echo", latency=1.0), limits=LimitSettings(concurrency=2, speculation=9))
    order: list[str] = []

    async def work(run: Run) -> None:
        run.ahead(bench.asks("later-1", "later-2"))
        run.hint(bench.asks("soon-1", "soon-2"))
        await run.do("p", "rollout", bench.asks("a", "b", "c"))
        await asyncio.sleep(9.0)
        order.extend(str(stored.answer.text) for stored in bench.shelf.stored.values())

    bench.live(work)
    assert order == ["a", "b", "c", "soon-1", "soon-2", "later-1", "later-2"]


def test_a_resumed_run_begins_once_it_pays_for_something() -> None:
    bench = Bench(ScriptedChat("echo", latency=1.0), limits=LimitSettings(concurrency=4))
    bench.live(lambda run: run.do("one", "rollout", bench.asks("a")))
    assert bench.live(lambda run: with_a_later_test(run, bench)) == 1.0
    assert bench.chat.calls == 5


def test_the_failure_of_certain_work_is_the_outcome_of_who_asks_first() -> None:
    faults = FaultPlan.at_calls({2: FaultKind.CONTEXT})
    bench = Bench(ScriptedChat("echo", latency=1.0, faults=faults), limits=LimitSettings(concurrency=1))

    async def work(run: Run) -> list[str]:
        run.ahead(bench.asks("a"))
        await run.do("zero", "rollout", bench.asks("z"))
        await asyncio.sleep(2.0)
        first = await run.do("first", "rollout", bench.asks("a", "b"))
        return texts(first) + texts(await run.do("second", "rollout", bench.asks("a")))

    assert bench.live(work) == ["ContextTooLongError", "b", "a"]
    assert bench.chat.calls == 4


def test_certain_work_is_tried_again_like_any_other() -> None:
    faults = FaultPlan.at_calls({2: FaultKind.UNAVAILABLE, 3: FaultKind.RATE_LIMIT})
    bench = Bench(ScriptedChat("echo", latency=1.0, faults=faults), limits=LimitSettings(concurrency=1))

    async def work(run: Run) -> list[str]:
        run.ahead(bench.asks("a"))
        await run.do("zero", "rollout", bench.asks("z"))
        await asyncio.sleep(0.5)
        return texts(await run.do("p", "rollout", bench.asks("a")))

    assert bench.live(work) == ["a"]
    assert bench.chat.calls == 4


def test_real_work_does_not_wait_behind_other_early_work_for_what_was_begun() -> None:
    bench = Bench(ScriptedChat("echo", latency=1.0), limits=LimitSettings(concurrency=2))

    async def work(run: Run) -> float:
        run.ahead(bench.asks("a", "b", "c", "d", "e"))
        await run.do("zero", "rollout", bench.asks("z"))
        await run.do("p", "rollout", bench.asks("c"))
        return VirtualClock().now()

    assert bench.live(work) == 2.0


def test_what_real_work_asked_is_not_asked_ahead_again() -> None:
    faults = FaultPlan.always(FaultKind.CONTEXT)
    bench = Bench(ScriptedChat("echo", latency=1.0, faults=faults), limits=LimitSettings(concurrency=1))

    async def work(run: Run) -> None:
        run.ahead(bench.asks("a", "b"))
        await run.do("p", "rollout", bench.asks("b"))
        await asyncio.sleep(9.0)

    bench.live(work)
    assert bench.chat.calls == 2


@pytest.mark.parametrize("kind", [FaultKind.AUTH, FaultKind.QUOTA])
def test_an_error_that_ends_a_run_ends_it_when_certain_work_meets_it(kind: FaultKind) -> None:
    faults = FaultPlan.at_calls(dict.fromkeys(range(2, 9), kind))
    bench = Bench(ScriptedChat("echo", latency=1.0, faults=faults), limits=LimitSettings(concurrency=1))

    async def work(run: Run) -> None:
        run.ahead(bench.asks("a", "b", "c"))
        await run.do("zero", "rollout", bench.asks("z"))
        await asyncio.sleep(9.0)
        await run.do("p", "rollout", bench.asks("c"))

    with pytest.raises((AuthError, QuotaExhaustedError)):
        bench.live(work)
    assert bench.chat.calls == 2


def test_the_end_of_a_run_ends_what_nobody_waited_for() -> None:
    bench = Bench(ScriptedChat("echo", latency=60.0), limits=LimitSettings(concurrency=1))

    async def work(run: Run) -> None:
        run.ahead(bench.asks("a", "b"))
        await run.do("zero", "rollout", bench.asks("z"))
        await asyncio.sleep(1.0)
        raise UnavailableError("over")

    with pytest.raises(UnavailableError):
        bench.live(work)
    assert (bench.chat.calls, bench.chat.served, bench.chat.in_flight) == (2, 1, 0)


def test_a_stop_lets_finish_what_is_under_way_and_begins_no_more() -> None:
    bench = Bench(ScriptedChat("echo", latency=1.0), limits=LimitSettings(concurrency=2))

    async def work(run: Run) -> None:
        run.ahead(bench.asks("a", "b", "c"))
        asyncio.get_running_loop().call_later(1.5, run.stop, InterruptedRunError("enough"))
        await run.do("p", "rollout", bench.asks("z"))
        await asyncio.sleep(0.2)
        await run.do("q", "rollout", bench.asks("y"))

    with pytest.raises(InterruptedRunError):
        bench.live(work)
    assert (bench.chat.calls, bench.chat.served) == (4, 4)


def scene(bench: Bench, heard: list[str]) -> Callable[[Run], Coroutine[object, object, None]]:
    """Return two questions, the second about the answer to the first."""

    async def played(run: Run) -> None:
        run.emit(Warned(message="nobody hears this"))
        (first,) = texts(await run.do("first", "rollout", bench.asks("x")))
        heard.append(first)
        heard.extend(texts(await run.do("second", "rollout", bench.asks(f"after {first}"))))

    return played


async def with_a_rehearsal(run: Run, bench: Bench, heard: list[str]) -> float:
    """Ask something long, rehearse beside it what comes next, and then do that."""
    began = VirtualClock().now()
    run.rehearse(scene(bench, heard))
    await run.do("long", "rollout", bench.asks("1", "2", "3", "4"))
    first = await run.do("first", "rollout", bench.asks("x"))
    assert texts(first) == ["x"]
    assert texts(await run.do("second", "rollout", bench.asks("after x"))) == ["after x"]
    return VirtualClock().now() - began


@pytest.mark.parametrize(("slots", "seconds"), [(1, 6.0), (2, 3.0), (3, 2.0), (9, 2.0)])
def test_what_is_rehearsed_goes_beside_the_phase_before_it(slots: int, seconds: float) -> None:
    bench, notebook = Bench(ScriptedChat("echo", latency=1.0), limits=LimitSettings(concurrency=slots)), Notebook()
    heard: list[str] = []
    assert bench.live(lambda run: with_a_rehearsal(run, bench, heard), observers=[notebook]) == seconds
    assert heard == ["x", "after x"]
    assert bench.chat.calls == bench.chat.served == 6
    used = {fact.path: fact.usage.calls for fact in notebook.facts if isinstance(fact, PhaseEnded)}
    assert used == {"long": 4, "first": 1, "second": 1}, "it counts where it is used"
    assert not [fact for fact in notebook.facts if isinstance(fact, Warned)]


@pytest.mark.parametrize("cap", ["calls", "tokens", "usd", "seconds"])
def test_under_a_cap_nothing_is_rehearsed(cap: str) -> None:
    capped = msgspec.structs.replace(LimitSettings(concurrency=4), **{cap: 9000})
    bench, heard = Bench(ScriptedChat("echo", latency=1.0), limits=capped), list[str]()
    assert bench.live(lambda run: with_a_rehearsal(run, bench, heard)) == 3.0
    assert heard == []


def test_a_replayed_run_rehearses_nothing() -> None:
    bench, heard = Bench(ScriptedChat("echo", latency=1.0)), list[str]()
    bench.live(lambda run: with_a_rehearsal(run, bench, heard))
    heard.clear()
    assert bench.live(lambda run: with_a_rehearsal(run, bench, heard)) == 0.0
    assert (heard, bench.chat.calls) == ([], 6)


def test_a_failure_in_a_rehearsal_is_that_of_the_unit_and_is_not_asked_again() -> None:
    bench, heard = (
        Bench(ScriptedChat("echo", latency=1.0, faults=FaultPlan.at_calls({1: FaultKind.CONTEXT}))),
        list[str](),
    )

    async def work(run: Run) -> list[str]:
        run.rehearse(scene(bench, heard))
        await run.do("long", "rollout", bench.asks("1", "2"))
        return texts(await run.do("first", "rollout", bench.asks("x")))

    assert bench.live(work) == ["ContextTooLongError"]
    assert bench.chat.calls == 4, "twice something long, the failure, and what followed from it"


def test_a_rehearsal_that_breaks_leaves_it_to_the_run_to_say_so() -> None:
    bench = Bench(ScriptedChat("echo", latency=1.0))

    async def broken(run: Run) -> None:
        await run.do("first", "rollout", bench.asks("x"))
        raise ValueError("a grader that is wrong")

    async def work(run: Run) -> list[str]:
        run.rehearse(broken)
        await run.do("long", "rollout", bench.asks("1"))
        return texts(await run.do("first", "rollout", bench.asks("x")))

    assert bench.live(work) == ["x"]
    assert bench.chat.calls == 2


def test_a_rehearsal_that_is_late_asks_nothing_that_the_run_has_asked() -> None:
    bench = Bench(ScriptedChat("echo", latency=1.0, faults=FaultPlan.at_calls({2: FaultKind.CONTEXT})))

    async def late(run: Run) -> None:
        await asyncio.sleep(5.0)
        await run.do("first", "rollout", bench.asks("x"))

    async def work(run: Run) -> list[str]:
        run.rehearse(late)
        await run.do("long", "rollout", bench.asks("1"))
        failed = texts(await run.do("first", "rollout", bench.asks("x")))
        await asyncio.sleep(9.0)
        return failed

    assert bench.live(work) == ["ContextTooLongError"]
    assert bench.chat.calls == 2
