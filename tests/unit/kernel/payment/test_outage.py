from __future__ import annotations

import pytest

from skillopt.domain.errors import UnansweredError, UnavailableError
from skillopt.domain.rollouts import Failure
from skillopt.kernel.journal import Ref
from skillopt.kernel.payment.outage import refuse_outage

ANSWER = Ref(1, 1)
DOWN = Failure(kind="UnavailableError", who="provider", message="no route", passing=True)
REFUSED = Failure(kind="RefusedError", who="provider", message="no", passing=False)
WAITS = Failure(kind=UnansweredError.__name__, who="provider", message="write the answer here", passing=True)


@pytest.mark.parametrize("outcomes", [(), (ANSWER,), (ANSWER, DOWN), (REFUSED,), (DOWN, REFUSED)])
def test_a_phase_ends_if_somebody_answered_or_nobody_ever_will(outcomes: tuple[Ref | Failure, ...]) -> None:
    refuse_outage("p", outcomes)


def test_where_nobody_answered_it_stays_open() -> None:
    with pytest.raises(UnavailableError, match="None of the 2 requests of p was answered; the last: no route"):
        refuse_outage("p", (DOWN, DOWN))


def test_one_question_that_waits_keeps_it_open() -> None:
    with pytest.raises(UnansweredError, match="1 of the 3 questions of p wait") as caught:
        refuse_outage("p", (ANSWER, WAITS, DOWN))
    assert caught.value.hint == "write the answer here"
