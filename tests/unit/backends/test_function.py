from __future__ import annotations

import asyncio
import threading

import msgspec
import pytest

from skillopt.backends.function import FunctionChat, FunctionSettings, takes
from skillopt.domain.chat import ChatRequest, Image, JsonSchema, Message, Reply, Tool, ToolCall
from skillopt.domain.errors import (
    EmptyReplyError,
    ProviderError,
    QuotaExhaustedError,
    RateLimitedError,
    RefusedError,
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


LOOK_UP = Tool(name="look_up", description="Looks up.", parameters='{"type":"object"}')
ASKED = (Message("user", "What is it?", (Image(media_type="image/gif", digest="d", fetch=lambda: b"GIF89a"),)),)


def test_images_and_calls_are_told_as_openai_has_them() -> None:
    seen: list[object] = []

    def ask(messages: list[object]) -> str:
        seen.extend(messages)
        return "A cat."

    call = ToolCall(id="c", name="look_up", arguments="{}")
    turns = (*ASKED, Message("assistant", "", calls=(call,)), Message("tool", "A cat.", call_id="c"))
    said(FunctionChat.asking(ask, SETTINGS), ChatRequest(messages=turns, max_tokens=10))
    assert seen == [
        {
            "role": "user",
            "content": [
                {"type": "image_url", "image_url": {"url": "data:image/gif;base64,R0lGODlh"}},
                {"type": "text", "text": "What is it?"},
            ],
        },
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "c", "type": "function", "function": {"name": "look_up", "arguments": "{}"}}],
        },
        {"role": "tool", "tool_call_id": "c", "content": "A cat."},
    ]


def test_tools_and_a_schema_are_given_to_a_function_that_takes_them() -> None:
    seen: dict[str, object] = {}
    call = ToolCall(id="c", name="look_up", arguments="{}")
    calling = Reply(text="", usage=Usage(calls=1), finish="tool", calls=(call,))

    def ask(_messages: object, **more: object) -> Reply:
        seen.update(more)
        return calling

    schema = JsonSchema(name="said", definition='{"type":"object"}')
    asked = ChatRequest(messages=ASKED, max_tokens=10, tools=(LOOK_UP,), schema=schema)
    assert said(FunctionChat.asking(ask, SETTINGS), asked) == calling
    described = {"name": "look_up", "description": "Looks up.", "parameters": {"type": "object"}}
    shape = {"name": "said", "strict": True, "schema": {"type": "object"}}
    assert seen == {
        "tools": [{"type": "function", "function": described}],
        "response_format": {"type": "json_schema", "json_schema": shape},
    }


def test_a_function_that_takes_no_tools_is_named() -> None:
    def ask(_messages: object) -> str:
        return "never"

    with pytest.raises(RefusedError, match="The function mine takes no tools"):
        said(FunctionChat.asking(ask, SETTINGS), ChatRequest(messages=ASKED, max_tokens=10, tools=(LOOK_UP,)))


def test_names_are_what_a_parameter_can_be_given_by() -> None:
    async def exact(messages: object, *, tools: object) -> None: ...

    assert takes(exact, "tools")
    assert takes(lambda **_: None, "tools")
    assert not takes(lambda *tools: None, "tools")
    assert not takes(exact, "response_format")
