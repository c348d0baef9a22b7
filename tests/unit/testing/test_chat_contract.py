from __future__ import annotations

from collections.abc import Coroutine

import pytest

from skillopt.domain.errors import UnavailableError
from skillopt.kernel.ports import Chat
from skillopt.testing.chat_contract import ChatContract, broken_promises, outcome, plain_request
from skillopt.testing.clock import run_virtual
from skillopt.testing.scripted import ScriptedChat


class DownForEver(ChatContract):
    def make(self, scenario: str) -> Chat:
        return ScriptedChat("always-fails", timeout=3.0)

    def run(self, main: Coroutine[object, object, None]) -> None:
        run_virtual(main)


def test_a_chat_that_never_answers_breaks_what_needs_an_answer() -> None:
    broken = broken_promises(DownForEver())
    assert {"test_many_at_once", "test_does_not_retry", "test_slow_is_an_answer"} <= set(broken)
    assert "test_identity_is_constant" not in broken


def test_a_suite_without_a_chat_cannot_run() -> None:
    with pytest.raises(NotImplementedError):
        ChatContract().test_does_not_retry()


def test_an_outcome_is_a_reply_or_what_was_raised() -> None:
    assert isinstance(run_virtual(outcome(ScriptedChat("always-fails"), plain_request())), UnavailableError)
