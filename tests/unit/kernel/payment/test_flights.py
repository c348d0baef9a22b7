from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from skillopt.domain.rollouts import Failure
from skillopt.kernel.journal import Ref
from skillopt.kernel.payment.flights import Flights
from skillopt.testing.clock import run_virtual

KEY, ANSWER, FAILURE = b"key", Ref(1, 1), Failure(kind="UnavailableError", who="provider", message="down")


def paying(outcome: Ref | Failure | Exception, flown: list[str]) -> Callable[[], Awaitable[Ref | Failure]]:
    async def pay() -> Ref | Failure:
        flown.append("paid")
        await asyncio.sleep(1.0)
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    return pay


async def ask(flights: Flights, pay: Callable[[], Awaitable[Ref | Failure]]) -> Ref | Failure:
    shared = await flights.shared(KEY)
    return await flights.fly(KEY, pay) if shared is None else shared


@pytest.mark.parametrize(("outcome", "paid"), [(ANSWER, 1), (FAILURE, 3)])
def test_an_answer_is_shared_and_a_failure_is_not(outcome: Ref | Failure, paid: int) -> None:
    async def main() -> int:
        flights, flown = Flights(), list[str]()
        found = await asyncio.gather(*(ask(flights, paying(outcome, flown)) for _ in range(3)))
        assert found == [outcome] * 3
        assert flights.knows(KEY) is (outcome is ANSWER)
        assert flights.answer(KEY) == (ANSWER if outcome is ANSWER else None)
        return len(flown)

    assert run_virtual(main()) == paid


def test_a_flight_that_breaks_lets_the_next_one_fly() -> None:
    async def main() -> tuple[Ref | Failure | BaseException, Ref | Failure | BaseException]:
        flights, flown = Flights(), list[str]()
        first = asyncio.ensure_future(ask(flights, paying(KeyError("gone"), flown)))
        await asyncio.sleep(0.5)
        assert flights.knows(KEY)
        return await asyncio.gather(first, ask(flights, paying(ANSWER, flown)), return_exceptions=True)

    broken, answered = run_virtual(main())
    assert isinstance(broken, KeyError)
    assert answered == ANSWER


def test_what_was_used_first_stays_the_answer() -> None:
    async def main() -> Ref | None:
        flights = Flights()
        flights.remember(KEY, Ref(7, 7))
        flights.remember(KEY, ANSWER)
        return await flights.shared(KEY)

    assert run_virtual(main()) == Ref(7, 7)
