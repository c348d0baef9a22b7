from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from skillopt.domain.chat import Reply
from skillopt.domain.errors import (
    AuthError,
    BudgetReachedError,
    InternalError,
    InterruptedRunError,
    StoreError,
)
from skillopt.domain.rollouts import Failure
from skillopt.domain.usage import NOTHING, Usage
from skillopt.kernel.events import AttemptFailed, PhaseEnded, UnitSettled, Warned
from skillopt.kernel.journal import Intent, Result
from skillopt.kernel.limits.terms import LimitSettings
from skillopt.kernel.memory import MemoryJournal
from skillopt.kernel.run import Run
from skillopt.kernel.work import Outcome
from skillopt.testing.clock import VirtualClock
from skillopt.testing.conversation import BrainReply, Conversation
from skillopt.testing.faults import FaultKind, FaultPlan
from skillopt.testing.scripted import ScriptedChat
from tests.unit.kernel.bench import Bench, Notebook
from tests.unit.kernel.test_observers import Broken


def texts(outcomes: tuple[Outcome, ...]) -> list[str]:
    return [outcome.text if isinstance(outcome, Reply) else outcome.kind for outcome in outcomes]


def uneven(conversation: Conversation) -> BrainReply:
    if "down" in conversation.asked:
        return BrainReply(fault=FaultKind.CONTEXT)
    return BrainReply(text=conversation.asked.upper())


def test_outcomes_come_in_the_order_of_the_works_and_failures_are_values() -> None:
    bench = Bench(ScriptedChat(uneven))

    async def work(run: Run) -> tuple[Outcome, ...]:
        return await run.do("p", "rollout", bench.asks("a", "down", "b"))

    outcomes = bench.live(work)
    assert texts(outcomes) == ["A", "ContextTooLongError", "B"]
    failure = outcomes[1]
    assert isinstance(failure, Failure)
    assert failure.who == "provider"


def test_the_same_question_twice_in_a_phase_is_paid_for_once() -> None:
    bench, notebook = Bench(ScriptedChat("echo", latency=1.0)), Notebook()

    async def work(run: Run) -> tuple[Outcome, ...]:
        return await run.do("p", "rollout", bench.asks("a", "a", "a"))

    assert texts(bench.live(work, observers=[notebook])) == ["a", "a", "a"]
    assert bench.chat.calls == 1
    ended = [fact for fact in notebook.facts if isinstance(fact, PhaseEnded)]
    assert [(each.answered, each.usage.calls) for each in ended] == [(3, 1)]


def test_a_failed_twin_is_asked_again_since_a_failure_is_nobodys_answer() -> None:
    bench = Bench(ScriptedChat(uneven, latency=1.0))

    async def work(run: Run) -> tuple[Outcome, ...]:
        return await run.do("p", "rollout", bench.asks("down", "down"))

    assert texts(bench.live(work)) == ["ContextTooLongError"] * 2
    assert bench.chat.calls == 2


def test_a_finished_phase_replays_its_failures_in_its_own_run_only() -> None:
    bench = Bench(ScriptedChat(uneven))

    async def work(run: Run) -> tuple[Outcome, ...]:
        return await run.do("p", "rollout", bench.asks("a", "down"))

    first = bench.live(work)
    assert bench.live(work) == first
    assert bench.chat.calls == 2
    bench.live(work, name="other")
    assert bench.chat.calls == 3, "the answer is shared, the failure is not"


def test_a_run_keeps_to_its_own_answer_when_another_run_was_faster() -> None:
    bench, notebook = Bench(ScriptedChat("echo", latency=1.0)), Notebook()

    async def somebody_else() -> None:
        await asyncio.sleep(0.5)
        journal = MemoryJournal(bench.shelf, clock=VirtualClock())
        handle = journal.open_run("faster", b"plan")
        key = bench.asks("a")[0].key
        await journal.intend(handle, Intent(attempt=1, key=key, role="target", worst=NOTHING))
        other = Reply(text="another answer", usage=Usage(calls=1, output_tokens=99))
        journal.settle(handle, Result(attempt=1, key=key, charged=other.usage, value=other))

    async def work(run: Run) -> list[str]:
        first, _ = await asyncio.gather(run.do("p", "rollout", bench.asks("a")), somebody_else())
        return texts(first) + texts(await run.do("q", "rollout", bench.asks("a")))

    assert bench.live(work, observers=[notebook]) == ["a", "a"]
    assert bench.live(work_again(bench)) == ["a", "a"], "and so it does when it is run again"
    ended = [fact for fact in notebook.facts if isinstance(fact, PhaseEnded)]
    assert [each.usage.calls for each in ended] == [1, 0]


def work_again(bench: Bench) -> Callable[[Run], Awaitable[list[str]]]:
    async def work(run: Run) -> list[str]:
        first = await run.do("p", "rollout", bench.asks("a"))
        return texts(first) + texts(await run.do("q", "rollout", bench.asks("a")))

    return work


def test_a_path_is_asked_for_once() -> None:
    bench = Bench(ScriptedChat("echo"))

    async def work(run: Run) -> None:
        with run.span("step"):
            await run.do("p", "rollout", bench.asks("a"))
        await run.do("p", "rollout", bench.asks("a"))
        with run.span("step"):
            await run.do("p", "rollout", bench.asks("a"))

    with pytest.raises(InternalError, match="step/p"):
        bench.live(work)


def test_other_questions_or_events_under_the_same_path_mean_another_version() -> None:
    bench = Bench(ScriptedChat("echo"))

    def asking(*questions: str, saying: str = "hm") -> None:
        async def work(run: Run) -> None:
            await run.do("p", "rollout", bench.asks(*questions))
            run.emit(Warned(message=saying))

        bench.live(work)

    asking("a", "b")
    asking("a", "b")
    for questions in (["a", "c"], ["b", "a"]):
        with pytest.raises(StoreError, match="other questions"):
            asking(*questions)
    with pytest.raises(StoreError, match="diverged"):
        asking("a", "b", saying="ho")
    with pytest.raises(StoreError):
        asking("a")


def test_a_phase_of_nothing_asks_nothing() -> None:
    bench = Bench(ScriptedChat("echo"))

    async def work(run: Run) -> tuple[Outcome, ...]:
        return await run.do("p", "rollout", [])

    assert bench.live(work) == ()


def test_stop_ends_the_phase_with_its_reason_once_what_is_under_way_has_finished() -> None:
    bench = Bench(ScriptedChat("echo", latency=10.0), limits=LimitSettings(concurrency=2))
    reason = InterruptedRunError("Ctrl-C.")

    async def work(run: Run) -> None:
        asyncio.get_running_loop().call_later(1.0, run.stop, reason)
        await run.do("p", "rollout", bench.asks("a", "b", "c", "d"))

    with pytest.raises(InterruptedRunError):
        bench.live(work)
    assert (bench.chat.calls, bench.chat.served) == (2, 2)

    async def go_on(run: Run) -> tuple[Outcome, ...]:
        return await run.do("p", "rollout", bench.asks("a", "b", "c", "d"))

    assert texts(bench.live(go_on)) == ["a", "b", "c", "d"]
    assert bench.chat.calls == 4


def test_stop_wakes_who_waits_to_try_again_or_for_the_provider() -> None:
    faults = FaultPlan(rate=1.0, kinds=(FaultKind.RATE_LIMIT,), retry_after=500.0)
    bench = Bench(ScriptedChat("echo", faults=faults), limits=LimitSettings(concurrency=1))

    async def work(run: Run) -> float:
        loop = asyncio.get_running_loop()
        loop.call_later(1.0, run.stop, InterruptedRunError("Ctrl-C."))
        try:
            await run.do("p", "rollout", bench.asks("a", "b"))
        except InterruptedRunError:
            return loop.time()
        return -1.0

    assert bench.live(work) == pytest.approx(1.0)


def test_what_ends_a_run_stops_who_queues_for_a_slot() -> None:
    bench = Bench(
        ScriptedChat("echo", latency=1.0, faults=FaultPlan.always(FaultKind.AUTH)),
        limits=LimitSettings(concurrency="auto"),
    )

    async def work(run: Run) -> None:
        await run.do("p", "rollout", bench.asks(*(str(number) for number in range(100))))

    with pytest.raises(AuthError):
        bench.live(work)
    assert bench.chat.calls == 4, "those that had a slot when the first refusal came"


def test_cancelling_leaves_nothing_under_way() -> None:
    bench = Bench(ScriptedChat("echo", latency=100.0))

    async def work(run: Run) -> int:
        doing = asyncio.ensure_future(run.do("p", "rollout", bench.asks("a", "b", "c")))
        await asyncio.sleep(1.0)
        doing.cancel()
        await asyncio.gather(doing, return_exceptions=True)
        return bench.chat.in_flight

    assert bench.live(work) == 0


def test_a_broken_observer_does_not_disturb_the_run() -> None:
    bench = Bench(ScriptedChat("echo"))

    async def work(run: Run) -> tuple[Outcome, ...]:
        return await run.do("p", "rollout", bench.asks("a"))

    assert texts(bench.live(work, observers=[Broken()])) == ["a"]


def test_signals_tell_replayed_from_asked_and_never_tell_a_secret() -> None:
    bench, notebook = Bench(ScriptedChat("echo", faults=FaultPlan.at_calls({1: FaultKind.CUT}))), Notebook()

    async def work(run: Run) -> None:
        await run.do("p", "rollout", bench.asks("a"))
        await run.do("q", "rollout", bench.asks("a"))

    bench.live(work, observers=[notebook], scrub=lambda text: text.replace("connection", "…"))
    settled = [fact for fact in notebook.facts if isinstance(fact, UnitSettled)]
    assert [(fact.path, fact.replayed) for fact in settled] == [("p", False), ("q", True)]
    (failed,) = [fact for fact in notebook.facts if isinstance(fact, AttemptFailed)]
    assert "…" in failed.message
    assert "connection" not in failed.message


def test_hinting_twice_at_the_same_work_asks_once_and_hangs_nobody() -> None:
    bench = Bench(ScriptedChat("echo", latency=1.0), limits=LimitSettings(concurrency=2, speculation=10))

    async def work(run: Run) -> tuple[Outcome, ...]:
        run.hint(bench.asks("a", "a", "b"))
        run.hint(bench.asks("a"))
        await asyncio.sleep(0.5)
        run.hint(bench.asks("b"))
        return await run.do("p", "rollout", bench.asks("a", "b", "c"))

    assert texts(bench.live(work)) == ["a", "b", "c"]
    assert bench.chat.calls == 3


def test_a_hint_at_what_is_being_asked_is_no_second_request() -> None:
    bench = Bench(ScriptedChat("echo", latency=1.0), limits=LimitSettings(concurrency=2, speculation=10))

    async def work(run: Run) -> tuple[Outcome, ...]:
        asyncio.get_running_loop().call_later(0.0, run.hint, bench.asks("a", "b"))
        return await run.do("p", "rollout", bench.asks("a", "b"))

    assert texts(bench.live(work)) == ["a", "b"]
    assert bench.chat.calls == 2


def test_a_failed_hint_is_nobodys_answer() -> None:
    bench = Bench(
        ScriptedChat("echo", latency=1.0, faults=FaultPlan.at_calls({2: FaultKind.CONTEXT})),
        limits=LimitSettings(concurrency=2, speculation=1),
    )

    async def work(run: Run) -> tuple[Outcome, ...]:
        run.hint(bench.asks("a"))
        await run.do("before", "rollout", bench.asks("z"))
        return await run.do("p", "rollout", bench.asks("a"))

    assert texts(bench.live(work)) == ["a"]
    assert bench.chat.calls == 3


def test_calls_set_aside_for_speculation_are_no_part_of_the_real_cap() -> None:
    bench = Bench(ScriptedChat("echo"), limits=LimitSettings(concurrency=2, speculation=2, calls=4))

    async def work(run: Run) -> None:
        run.hint(bench.asks("x", "y", "z"))
        await run.do("before", "rollout", bench.asks("a"))
        await run.do("p", "rollout", bench.asks("b", "c"))

    with pytest.raises(BudgetReachedError):
        bench.live(work)
    assert bench.chat.calls == 4


@pytest.mark.parametrize("cap", ["tokens", "usd", "seconds"])
def test_where_the_price_of_a_hint_is_unknown_nothing_is_asked_early(cap: str) -> None:
    bench = Bench(ScriptedChat("echo"), limits=LimitSettings(concurrency=2, speculation=9, **{cap: 1000}))

    async def work(run: Run) -> None:
        run.hint(bench.asks("a"))
        await run.do("p", "rollout", bench.asks("b"))
        await asyncio.sleep(1.0)

    bench.live(work)
    assert bench.chat.calls == 1


@pytest.mark.parametrize(
    "limits",
    [
        {"concurrency": 0},
        {"concurrency": -1},
        {"calls": -1},
        {"tokens": -1},
        {"usd": -0.01},
        {"seconds": -1.0},
        {"speculation": -1},
        {"calls": 3, "speculation": 4},
    ],
)
def test_limits_that_make_no_sense_are_refused(limits: dict[str, int]) -> None:
    with pytest.raises(ValueError, match=r"limits\."):
        LimitSettings(**limits)
