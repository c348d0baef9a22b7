from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Callable, Coroutine, Iterator
from pathlib import Path
from typing import Literal, TypedDict

import msgspec
import pytest

from skillopt.agents.asked import CliChat
from skillopt.backends.anthropic import AnthropicChat, AnthropicSettings
from skillopt.backends.azure.chat import AzureSettings, azure_chat
from skillopt.backends.completions import CompletionsChat, CompletionsSettings
from skillopt.backends.function import FunctionChat, FunctionSettings
from skillopt.backends.handoff import HandoffChat, HandoffSettings, Question
from skillopt.backends.openai_chat import OpenAIChat, OpenAISettings
from skillopt.domain.chat import ChatRequest, Image, Message, Reply, Tool
from skillopt.domain.errors import RateLimitedError, UnansweredError
from skillopt.domain.usage import Price
from skillopt.kernel.ports import Chat
from skillopt.testing.broken_chats import BROKEN_CHATS
from skillopt.testing.chat_contract import ChatContract, broken_promises, outcome, plain_request
from skillopt.testing.clock import run_virtual
from skillopt.testing.scripted import ScriptedChat
from skillopt.testing.server import ThreadedServer, serve_in_thread
from tests.unit.agents.asking import ASKS, AskingAdapter
from tests.unit.agents.programs import ScriptedSettings, team

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
    "DropsImages": "test_images_are_shown_or_refused",
    "DropsCalls": "test_tools_are_offered_or_refused",
    "ForgetsTheSchema": "test_a_schema_is_taken_or_refused",
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


def understood(message: dict[str, object]) -> Message:
    """Read a message as clients of OpenAI's chat completions take it."""
    content = message["content"]
    if isinstance(content, str):
        return msgspec.convert(message, Message)
    image, text = msgspec.convert(content, list[dict[str, object]])
    url = msgspec.convert(image["image_url"], dict[str, str])["url"]
    data = base64.b64decode(url.partition(";base64,")[2])
    digest = hashlib.sha256(data).hexdigest()
    return Message("user", str(text["text"]), (Image(media_type="image/png", digest=digest, fetch=lambda: data),))


def offer(tool: dict[str, object]) -> Tool:
    function = msgspec.convert(tool["function"], dict[str, object])
    return Tool(
        name=str(function["name"]),
        description=str(function["description"]),
        parameters=json.dumps(function["parameters"]),
    )


class TestFunctionChat(ChatContract):
    made: ScriptedChat | None = None

    def make(self, scenario: str) -> Chat:
        scripted = self.made = ScriptedChat.from_scenario(scenario)

        async def ask(
            messages: list[dict[str, object]],
            tools: list[dict[str, object]] | None = None,
            response_format: object = None,
        ) -> str | Reply:
            asked = tuple(map(understood, messages))
            offered = tuple(map(offer, tools or ()))
            reply = await scripted.send(ChatRequest(messages=asked, max_tokens=256, tools=offered))
            return reply if reply.calls else reply.text

        return FunctionChat.asking(ask, FunctionSettings(name="scripted", version="1", timeout=3.0))

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


class Quick(TypedDict):
    """What every wired backend is told here, so that silence is given up within a second."""

    model: str
    stream: bool
    timeout: float
    stall_seconds: float


def quick(*, stream: bool) -> Quick:
    return Quick(model="target", stream=stream, timeout=1.0, stall_seconds=1.0)


class TestOpenAIChat(OverHttp):
    stream = False
    api: Literal["chat", "responses"] = "chat"

    def make(self, scenario: str) -> Chat:
        settings = OpenAISettings(base_url=self.server.url(scenario), api=self.api, **quick(stream=self.stream))
        return OpenAIChat(settings)


class TestOpenAIChatStreaming(TestOpenAIChat):
    stream = True


class TestOpenAIResponses(TestOpenAIChat):
    api = "responses"


class TestOpenAIResponsesStreaming(TestOpenAIResponses):
    stream = True


class TestCompletions(OverHttp):
    stream = False

    def make(self, scenario: str) -> Chat:
        url = self.server.url(scenario)
        return CompletionsChat(CompletionsSettings(base_url=url, **quick(stream=self.stream)))


class TestCompletionsStreaming(TestCompletions):
    stream = True


class TestAnthropic(OverHttp):
    stream = False

    def make(self, scenario: str) -> Chat:
        url = self.server.url(scenario)
        return AnthropicChat(AnthropicSettings(base_url=url, **quick(stream=self.stream)), api_key="sk-ant-key")


class TestAnthropicStreaming(TestAnthropic):
    stream = True


class TestAzure(OverHttp):
    stream = False
    api: Literal["chat", "responses"] = "chat"

    def make(self, scenario: str) -> Chat:
        settings = AzureSettings(
            endpoints=self.endpoints(self.server.url(scenario)),
            api=self.api,
            api_key="none",
            **quick(stream=self.stream),
        )
        return azure_chat(settings, key="azure-key")

    def endpoints(self, url: str) -> tuple[str, ...]:
        return (url,)


class TestAzureResponsesStreaming(TestAzure):
    api = "responses"
    stream = True


class TestAzureInTurn(TestAzure):
    """Two names of one server: each send goes to one of them, and the server counts both together."""

    def endpoints(self, url: str) -> tuple[str, ...]:
        return (url, f"{url}/other")

    def test_rate_limit_says_when_to_come_back(self) -> None:
        """The one that is limited rests; while the other is free, nobody need wait."""

        async def check() -> None:
            chat = self.make("echo,kinds=rate_limit,retry_after=7,seed=4")
            try:
                ends = [await outcome(chat, plain_request()) for _ in range(2)]
            finally:
                await chat.close()
            waits = [end.retry_after for end in ends if isinstance(end, RateLimitedError)]
            assert waits == [None, 7.0]

        self.run(check())


class TestCliChat(OverHttp):
    """A model behind a program that is started for each question, as the person is, and asks the server itself."""

    folder: Path

    @pytest.fixture(autouse=True)
    def in_a_folder(self, tmp_path: Path) -> None:
        self.folder = tmp_path

    def make(self, scenario: str) -> Chat:
        ends_in_silence = "kinds=hang" in scenario and "repeats" not in scenario
        settings = ScriptedSettings(
            model="target",
            base_url=self.server.url(scenario),
            price=Price(input=1.0, output=10.0),
            timeout=2.0 if ends_in_silence else 60.0,  # a machine that is busy may start a program late
        )
        return CliChat(team(self.folder, ASKS, adapter=AskingAdapter(), settings=settings), at_once=24)


def plain(request: ChatRequest) -> tuple[Message, ...]:
    return tuple(Message(message.role, message.content) for message in request.messages)


class Answerer:
    """Whoever answers the files: a scripted model that is asked when a question waits, and whose slips are its own."""

    def __init__(self, asks: HandoffChat, folder: Path, scenario: str) -> None:
        self._asks = asks
        self._folder = folder
        self._answers = ScriptedChat.from_scenario(scenario, model="target", timeout=3.0)
        self.identity = asks.identity
        self.timeout = 3.0
        self.worst = asks.worst
        self.close = asks.close

    async def send(self, request: ChatRequest) -> Reply:
        try:
            return await self._asks.send(request)
        except UnansweredError:
            before = {file.stem for file in (self._folder / "answers").iterdir()}
            said = await self._answers.send(request)
            for file in (self._folder / "questions").iterdir():
                question = msgspec.json.decode(file.read_bytes(), type=Question)
                if question.id not in before and question.messages == plain(request):
                    (self._folder / question.answer_file).write_text(said.text, encoding="utf-8")
        return await self._asks.send(request)


class TestHandoff(ChatContract):
    folder: Path

    @pytest.fixture(autouse=True)
    def in_a_folder(self, tmp_path: Path) -> None:
        self.folder = tmp_path

    def make(self, scenario: str) -> Chat:
        name = hashlib.sha256(scenario.encode()).hexdigest()[:8]
        return Answerer(HandoffChat(HandoffSettings(folder=name), self.folder), self.folder / name, scenario)

    def run(self, main: Coroutine[object, object, None]) -> None:
        run_virtual(main)


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
