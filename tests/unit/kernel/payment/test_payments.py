from __future__ import annotations

import asyncio

import pytest

from skillopt.domain.chat import ChatRequest, Message, ModelIdentity, Reply
from skillopt.domain.errors import (
    AgentTimeoutError,
    AuthError,
    BudgetReachedError,
    CrashedError,
    RateLimitedError,
    SkilloptError,
    UnavailableError,
)
from skillopt.domain.rollouts import Failure
from skillopt.domain.usage import NOTHING, Caps, Usage
from skillopt.kernel.events import AttemptFailed, Signal, SlotsChanged
from skillopt.kernel.journal import Ref, Spent
from skillopt.kernel.limits.ledger import Ledger
from skillopt.kernel.limits.terms import LimitSettings, Terms
from skillopt.kernel.memory import MemoryJournal, MemoryShelf
from skillopt.kernel.payment.payments import Payments
from skillopt.kernel.payment.pool import Halt, HaltedError
from skillopt.kernel.payment.retry import RetrySettings
from skillopt.kernel.work import Ask
from skillopt.testing.clock import VirtualClock, run_virtual

SECRET = "the-very-key"
WORST = Usage(calls=1, input_tokens=10, output_tokens=90, nano_usd=500)
COST = Usage(calls=1, input_tokens=10, output_tokens=5, nano_usd=40)
REPLY = Reply(text=f"yes {SECRET}", usage=COST)


class Script:
    """A chat that does as it is told, one step for each call; the last step goes on for ever."""

    identity = ModelIdentity(backend="test", address="here", model="m")
    timeout = 60.0

    def __init__(self, *steps: Reply | Exception) -> None:
        self.steps = list(steps)
        self.calls = 0

    def worst(self, request: ChatRequest) -> Usage:
        """Return a worst case."""
        return WORST

    async def send(self, request: ChatRequest) -> Reply:
        """Do the next step."""
        step = self.steps[min(self.calls, len(self.steps) - 1)]
        self.calls += 1
        if isinstance(step, Exception):
            raise step
        return step

    async def close(self) -> None:
        """Nothing to let go of."""


class Office:
    """Payments with everything around them."""

    def __init__(self, caps: Caps = Caps(), retry: RetrySettings = RetrySettings()) -> None:
        clock = VirtualClock()
        self.shelf = MemoryShelf()
        self.journal = MemoryJournal(self.shelf, clock=clock)
        self.handle = self.journal.open_run("run", b"plan")
        self.signals: list[Signal] = []
        self.spent = Spent()
        self.halt = Halt()
        self.ledger = Ledger(caps=caps, spent=Usage(), spent_seconds=0.0, clock=clock)
        terms = Terms(
            journal=self.journal,
            handle=self.handle,
            clock=clock,
            limits=LimitSettings(concurrency=2),
            retry=retry,
            scrub=lambda text: text.replace(SECRET, "***"),
        )
        self.payments = Payments(terms, ledger=self.ledger, halt=self.halt, signal=self.signals.append)

    async def pay(self, chat: Script) -> Ref | Failure:
        """Pay for one unit."""
        return await self.payments.pay("p", (1, 0), self.work(chat))

    def work(self, chat: Script) -> Ask:
        """Return a unit."""
        return Ask(b"key", "target", "account", chat, ChatRequest(messages=(Message("user", "?"),), max_tokens=90))

    def close(self) -> None:
        """End the session and add up what was spent."""
        self.journal.end_session(self.handle, "stopped", "")
        self.spent = self.journal.spent(self.handle)

    def waits(self) -> list[float | None]:
        """Return the waits that were told of."""
        return [signal.wait for signal in self.signals if isinstance(signal, AttemptFailed)]


def paid(
    chat: Script, caps: Caps = Caps(), retry: RetrySettings = RetrySettings()
) -> tuple[Office, Ref | Failure | BaseException]:
    """Pay for one unit; return the office and what came of it."""

    async def main() -> tuple[Office, Ref | Failure | BaseException]:
        office = Office(caps, retry)
        try:
            return office, await office.pay(chat)
        except SkilloptError as error:
            return office, error
        finally:
            office.close()

    return run_virtual(main())


def test_an_answer_is_recorded_without_secrets_at_its_own_price() -> None:
    office, outcome = paid(Script(REPLY), Caps(tokens=1000))
    assert outcome == Ref(1, 1)
    assert office.shelf.stored[Ref(1, 1)].answer.text == "yes ***"
    assert office.spent.charged == office.ledger.settled == COST


@pytest.mark.parametrize(
    ("error", "charged"),
    [
        pytest.param(UnavailableError("x", status=503), Usage(calls=1), id="an error status is not billed"),
        pytest.param(UnavailableError("x", status=200), WORST, id="a broken reply may be"),
        pytest.param(UnavailableError("x"), WORST, id="a broken connection may be"),
    ],
)
def test_what_a_failed_attempt_is_charged(error: SkilloptError, charged: Usage) -> None:
    office, outcome = paid(Script(error, REPLY), Caps(tokens=1000))
    assert outcome == Ref(1, 2)
    spent = office.spent
    assert (spent.attempts, spent.failed, spent.lost) == (2, 1, 0)
    assert spent.failed_usage == charged
    assert spent.charged == office.ledger.settled == charged + COST


def test_what_can_cost_nothing_has_cost_nothing_when_it_breaks() -> None:
    class Free(Script):
        def worst(self, request: ChatRequest) -> Usage:
            """No call."""
            return NOTHING

    office, outcome = paid(Free(CrashedError("broken")), Caps(calls=0))
    assert outcome == Failure(kind="CrashedError", who="agent", message="broken")
    assert office.spent.charged == office.ledger.settled == NOTHING
    assert office.spent.failed == 1


def test_an_agent_that_took_too_long_may_be_sent_again_and_is_charged_what_it_told() -> None:
    late = AgentTimeoutError("late", usage=Usage(calls=2, output_tokens=7))
    office, outcome = paid(Script(late))
    assert outcome == Failure(kind="AgentTimeoutError", who="agent", message="late", passing=True)
    assert office.spent.charged == Usage(calls=2, output_tokens=7)


def test_after_the_last_attempt_the_failure_is_the_outcome() -> None:
    chat = Script(UnavailableError(f"down: {SECRET}", hint=f"look at {SECRET}"))
    office, outcome = paid(chat, retry=RetrySettings(attempts=3))
    assert outcome == Failure(kind="UnavailableError", who="provider", message="down: *** look at ***", passing=True)
    assert chat.calls == 3
    waits = office.waits()
    assert [wait is None for wait in waits] == [False, False, True]
    assert SECRET not in str(office.signals)


def test_an_error_that_ends_the_run_is_raised_at_once_and_says_no_secret() -> None:
    chat = Script(AuthError(f"bad key {SECRET}", status=401))
    office, outcome = paid(chat)
    assert isinstance(outcome, AuthError)
    assert chat.calls == 1
    assert SECRET not in f"{outcome} {outcome!r}"
    assert office.spent.failed == 1


def test_an_exception_of_a_backend_is_that_backends_failure_and_charged_in_full() -> None:
    office, outcome = paid(Script(KeyError("a slip")), Caps(calls=9))
    assert isinstance(outcome, Failure)
    assert (outcome.kind, outcome.who) == ("ProviderError", "provider")
    assert "KeyError" in outcome.message
    assert (office.spent.failed, office.spent.charged) == (1, WORST)


def test_every_retry_needs_its_own_reservation() -> None:
    chat = Script(UnavailableError("x", status=500))
    _, outcome = paid(chat, Caps(calls=4))
    assert isinstance(outcome, BudgetReachedError)
    assert chat.calls == 4


def test_after_a_halt_nothing_is_sent_and_nothing_recorded() -> None:
    async def main() -> Office:
        office, chat = Office(Caps(calls=4)), Script(REPLY)
        office.halt.stop(AuthError("somebody else's key"))
        with pytest.raises(HaltedError):
            await office.pay(chat)
        assert chat.calls == 0
        office.close()
        return office

    office = run_virtual(main())
    assert office.spent.attempts == 0
    assert office.ledger.settled == Usage()
    assert office.signals == []


def test_waiting_for_a_slot_takes_no_patience() -> None:
    async def main() -> Ref | Failure:
        office = Office(retry=RetrySettings(seconds=10.0))
        slots = office.payments.slots("account")
        for _ in range(2):
            await slots.acquire()
        paying = office.pay(Script(UnavailableError("x", status=500), REPLY))

        async def busy() -> None:
            await VirtualClock().sleep(10_000.0)
            slots.release()

        outcome, _ = await asyncio.gather(paying, busy())
        return outcome

    assert run_virtual(main()) == Ref(1, 2)


def test_early_work_is_asked_once_and_holds_no_reservation() -> None:
    async def main() -> tuple[list[Ref | Failure], Spent, Usage]:
        office = Office(Caps(calls=1))
        failing, fine = Script(UnavailableError("x")), Script(REPLY)
        outcomes = [await office.payments.try_early(office.work(chat)) for chat in (failing, fine)]
        assert failing.calls == 1
        office.close()
        return outcomes, office.spent, office.ledger.settled

    outcomes, spent, settled = run_virtual(main())
    assert isinstance(outcomes[0], Failure)
    assert outcomes[1] == Ref(1, 2)
    assert spent.early == spent.charged == WORST + COST
    assert settled == Usage()


def test_a_rate_limit_makes_the_account_slower_and_tells_so() -> None:
    office, _ = paid(Script(RateLimitedError("slow down", status=429, retry_after=3.0), REPLY))
    assert [signal for signal in office.signals if isinstance(signal, SlotsChanged)] == [
        SlotsChanged("account", 1, "rate limited")
    ]
    assert office.waits() == [3.0]
