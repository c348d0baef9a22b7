from __future__ import annotations

import asyncio
import threading

import msgspec
import pytest

from skillopt.backends.function import FunctionChat, FunctionSettings
from skillopt.domain.chat import ChatRequest, Message, Reply
from skillopt.domain.errors import (
    EmptyReplyError,
    ProviderError,
    QuotaExhaustedError,
    RateLimitedError,
    SkilloptError,
    UnavailableError,
)
from skillopt.domain.tasks import Task
from skillopt.domain.usage import Usage

SETTINGS = FunctionSettings(name="mine", version="3", timeout=5.0)
TASK = Task(id="one", input="2+2", type="sum")


def request(*contents: str) -> ChatRequest:
    roles = ("system", "user")
    messages = [{"role": role, "content": content} for role, content in zip(roles, contents, strict=True)]
    return ChatRequest(messages=msgspec.convert(messages, tuple[Message, ...]), max_tokens=10)


def put(task: Task = TASK, skill: str = "# Sums") -> ChatRequest:
    return request(skill, msgspec.json.encode(task).decode())


def said(chat: FunctionChat, asked: ChatRequest) -> Reply:
    async def once() -> Reply:
        try:
            return await chat.send(asked)
        finally:
            await chat.close()

    return asyncio.run(once())


def failure(error: BaseException) -> SkilloptError:
    def attempt(_skill: str, _task: Task) -> str:
        raise error

    with pytest.raises(SkilloptError) as raised:
        said(FunctionChat.attempting(attempt, SETTINGS), put())
    return raised.value


def test_a_plain_function_is_called_in_a_thread_with_skill_and_task() -> None:
    def attempt(skill: str, task: Task) -> str:
        assert threading.current_thread() is not threading.main_thread()
        return f"{skill} {task.id} {task.input} {task.type}"

    assert said(FunctionChat.attempting(attempt, SETTINGS), put()).text == "# Sums one 2+2 sum"


def test_an_async_function_and_an_object_with_an_async_call_are_awaited_in_the_loop() -> None:
    class Agent:
        async def __call__(self, skill: str, task: Task) -> str:
            assert threading.current_thread() is threading.main_thread()
            return skill

    assert said(FunctionChat.attempting(Agent(), SETTINGS), put()).text == "# Sums"
    assert said(FunctionChat.attempting(Agent().__call__, SETTINGS), put()).text == "# Sums"


def test_messages_are_dicts_as_clients_take_them() -> None:
    def ask(messages: list[dict[str, str]]) -> str:
        return repr(messages)

    reply = said(FunctionChat.asking(ask, SETTINGS), request("be", "hello"))
    assert reply.text == "[{'role': 'system', 'content': 'be'}, {'role': 'user', 'content': 'hello'}]"


def test_a_quarter_of_the_characters_is_counted_unless_a_reply_says_better() -> None:
    counted = said(FunctionChat.asking(lambda _: "x" * 20, SETTINGS), request("a" * 8, "b" * 8))
    assert counted.usage == Usage(calls=1, input_tokens=4, output_tokens=5)
    own = Reply(text="x", usage=Usage(calls=1, input_tokens=70, output_tokens=7))
    assert said(FunctionChat.asking(lambda _: own, SETTINGS), request("a", "b")) == own


def test_the_name_and_version_are_the_identity() -> None:
    chat = FunctionChat.asking(lambda _: "x", SETTINGS)
    assert (chat.identity.backend, chat.identity.address, chat.identity.model) == ("function", "mine", "3")


@pytest.mark.parametrize(
    ("error", "kind", "retryable"),
    [
        (ZeroDivisionError("by zero"), ProviderError, False),
        (ConnectionResetError("gone"), UnavailableError, True),
        (TimeoutError("late"), UnavailableError, True),
        (RateLimitedError("slow down", retry_after=3.0), RateLimitedError, True),
        (QuotaExhaustedError("no credit"), QuotaExhaustedError, False),
    ],
)
def test_what_a_function_raises_is_a_providers_error(error: Exception, kind: type, retryable: bool) -> None:
    raised = failure(error)
    assert type(raised) is kind
    assert isinstance(raised, ProviderError)
    assert raised.retryable is retryable


def test_a_slip_is_named_with_its_function() -> None:
    assert "The function mine broke with ZeroDivisionError: by zero" in str(failure(ZeroDivisionError("by zero")))


@pytest.mark.parametrize(("returned", "kind"), [(" \n", EmptyReplyError), (None, ProviderError), (4, ProviderError)])
def test_what_is_no_text_is_no_answer(returned: object, kind: type[ProviderError]) -> None:
    with pytest.raises(kind):
        said(FunctionChat.asking(lambda _: returned, SETTINGS), request("a", "b"))


def test_silence_ends_at_the_timeout() -> None:
    async def ask(_messages: object) -> str:
        await asyncio.Event().wait()
        return "never"

    with pytest.raises(UnavailableError, match="mine gave no answer within 0"):
        said(FunctionChat.asking(ask, msgspec.structs.replace(SETTINGS, timeout=0.0)), request("a", "b"))
