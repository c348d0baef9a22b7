from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterator

import pytest

from skillopt.backends.openai_chat import OpenAIChat, OpenAISettings
from skillopt.kernel.ports import Chat
from skillopt.testing.broken_chats import BROKEN_CHATS
from skillopt.testing.chat_contract import ChatContract, broken_promises
from skillopt.testing.clock import run_virtual
from skillopt.testing.scripted import ScriptedChat
from skillopt.testing.server import ThreadedServer, serve_in_thread

BREAKS = {
    "TakesEmptyForAnswer": "test_every_fault_is_its_provider_error",
    "TakesLengthForAnswer": "test_every_fault_is_its_provider_error",
    "RaisesPlainErrors": "test_every_fault_is_its_provider_error",
    "BlamesTheNetwork": "test_every_fault_is_its_provider_error",
    "ForgetsRetryAfter": "test_rate_limit_says_when_to_come_back",
    "LeavesWorkBehind": "test_cancelled_send_leaves_nothing_behind",
    "DeafToCancel": "test_cancelled_send_leaves_nothing_behind",
    "OneAtATime": "test_many_at_once",
    "MixesUpReplies": "test_many_at_once",
    "RetriesInside": "test_does_not_retry",
    "NeverGivesUp": "test_silence_ends_at_the_timeout",
    "PromisesTooLittle": "test_worst_is_an_upper_bound",
    "ChargesNothing": "test_reply_is_whole_and_has_usage",
    "ChangesItsName": "test_identity_is_constant",
}


class TestScriptedChat(ChatContract):
    made: ScriptedChat | None = None

    def make(self, scenario: str) -> Chat:
        self.made = ScriptedChat.from_scenario(scenario, timeout=3.0)
        return self.made

    def run(self, main: Coroutine[object, object, None]) -> None:
        run_virtual(main)

    def in_flight(self, scenario: str) -> int | None:
        return None if self.made is None else self.made.in_flight


class OverHttp(ChatContract):
    """A backend against a scripted server of its own: the server counts attempts."""

    server: ThreadedServer

    @pytest.fixture(autouse=True, scope="class")
    @classmethod
    def served(cls) -> Iterator[None]:
        with serve_in_thread() as cls.server:
            yield

    def in_flight(self, scenario: str) -> int | None:
        return sum(role.in_flight for role in self.server.stats(scenario).values())


class TestOpenAIChat(OverHttp):
    stream = False

    def make(self, scenario: str) -> Chat:
        url = self.server.url(scenario)
        return OpenAIChat(
            OpenAISettings(base_url=url, model="target", stream=self.stream, timeout=1.0, stall_seconds=1.0)
        )


class TestOpenAIChatStreaming(TestOpenAIChat):
    stream = True


class Suspect(ChatContract):
    def __init__(self, factory: Callable[[str], Chat]) -> None:
        self.factory = factory

    def make(self, scenario: str) -> Chat:
        return self.factory(scenario)

    def run(self, main: Coroutine[object, object, None]) -> None:
        run_virtual(main)


@pytest.mark.parametrize("name", sorted(BROKEN_CHATS))
def test_each_broken_chat_is_caught_by_the_promise_it_breaks(name: str) -> None:
    assert BREAKS[name] in broken_promises(Suspect(BROKEN_CHATS[name]))


def test_a_sound_chat_breaks_no_promise() -> None:
    assert broken_promises(Suspect(lambda scenario: ScriptedChat.from_scenario(scenario, timeout=3.0))) == ()
