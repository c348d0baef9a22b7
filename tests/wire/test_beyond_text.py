"""Images, tools, calls with their results and schemas on the wire: the exact request and the golden reply of each
dialect, whole and streamed, and who refuses what by name."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import NamedTuple

import pytest

from skillopt.backends.anthropic import AnthropicChat, AnthropicSettings
from skillopt.backends.azure.chat import AzureSettings, azure_chat
from skillopt.backends.completions import CompletionsChat, CompletionsSettings
from skillopt.backends.openai_chat import OpenAIChat, OpenAISettings
from skillopt.backends.providers.presets import PresetName
from skillopt.backends.wired import Witness
from skillopt.domain.chat import ChatRequest, Image, JsonSchema, Message, Tool, ToolCall
from skillopt.domain.errors import EmptyReplyError, RefusedError, TruncatedError, UnavailableError
from skillopt.kernel.ports import Chat
from tests.wire.raw_server import Act, reply
from tests.wire.stage import Stage, events, streamed

Json = Mapping[str, object]
PNG = b"\x89PNG\r\n\x1a\n"
URL = "data:image/png;base64,iVBORw0KGgo="
PICTURE = Image(media_type="image/png", digest="d", fetch=lambda: PNG)
ASKED = Message("user", "What is it?", (PICTURE,))
SHAPE = {"type": "object", "properties": {"word": {"type": "string"}}}
DEFINITION = json.dumps(SHAPE, separators=(",", ":"))
LOOK_UP = Tool(name="look_up", description="Looks up “words”.", parameters=DEFINITION)
CALL = ToolCall(id="call-1", name="look_up", arguments='{"word":"cat"}')
OTHER = ToolCall(id="call-2", name="look_up", arguments='{"word":"dog"}')
SHOWN = ChatRequest(messages=(ASKED,), max_tokens=64)
TOOLS = ChatRequest(messages=(Message("user", "Look it up."),), max_tokens=64, tools=(LOOK_UP,))
TALK = ChatRequest(
    messages=(
        Message("user", "Look it up."),
        Message("assistant", "I will.", calls=(CALL, OTHER)),
        Message("tool", "A cat.", call_id="call-1"),
        Message("tool", "A dog.", call_id="call-2"),
    ),
    max_tokens=64,
    tools=(LOOK_UP,),
)
SHAPED = ChatRequest(
    messages=(Message("user", "Say it."),), max_tokens=64, schema=JsonSchema(name="said", definition=DEFINITION)
)


def sent(value: object) -> bytes:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode()


def openai(root: str, stream: bool, witness: Witness | None = None) -> Chat:
    settings = OpenAISettings(base_url=f"{root}/v1", model="m-1", timeout=20.0, stream=stream)
    return OpenAIChat(settings, witness=witness)


def responses(root: str, stream: bool, witness: Witness | None = None) -> Chat:
    settings = OpenAISettings(base_url=f"{root}/v1", model="m-1", timeout=20.0, stream=stream, api="responses")
    return OpenAIChat(settings, witness=witness)


def azure(root: str, stream: bool, witness: Witness | None = None) -> Chat:
    settings = AzureSettings(endpoints=(root,), model="m-1", timeout=20.0, stream=stream, api_key="none")
    return azure_chat(settings, key=None, witness=witness)


def azure_responses(root: str, stream: bool, witness: Witness | None = None) -> Chat:
    settings = AzureSettings(
        endpoints=(root,), model="m-1", timeout=20.0, stream=stream, api_key="none", api="responses"
    )
    return azure_chat(settings, key=None, witness=witness)


def anthropic(root: str, stream: bool, witness: Witness | None = None) -> Chat:
    settings = AnthropicSettings(base_url=f"{root}/v1", model="m-1", timeout=20.0, stream=stream)
    return AnthropicChat(settings, witness=witness)


class Wire(NamedTuple):
    """One dialect: what it sends for each request, and how it says that two calls are wanted."""

    make: Callable[..., Chat]
    shown: Json
    tools: Json
    talk: Json
    shaped: Json
    said: Json
    stream: tuple[Json, ...]
    done: bytes = b""


FUNCTION = {"name": "look_up", "description": "Looks up “words”.", "parameters": SHAPE}
CHAT_CALLS = [
    {"id": each.id, "type": "function", "function": {"name": each.name, "arguments": each.arguments}}
    for each in (CALL, OTHER)
]
CHAT = Wire(
    make=openai,
    shown={
        "messages": [
            {
                "role": "user",
                "content": [{"type": "image_url", "image_url": {"url": URL}}, {"type": "text", "text": "What is it?"}],
            }
        ],
        "max_tokens": 64,
    },
    tools={
        "messages": [{"role": "user", "content": "Look it up."}],
        "max_tokens": 64,
        "tools": [{"type": "function", "function": FUNCTION}],
    },
    talk={
        "messages": [
            {"role": "user", "content": "Look it up."},
            {"role": "assistant", "content": "I will.", "tool_calls": CHAT_CALLS},
            {"role": "tool", "tool_call_id": "call-1", "content": "A cat."},
            {"role": "tool", "tool_call_id": "call-2", "content": "A dog."},
        ],
        "max_tokens": 64,
        "tools": [{"type": "function", "function": FUNCTION}],
    },
    shaped={
        "messages": [{"role": "user", "content": "Say it."}],
        "max_tokens": 64,
        "response_format": {"type": "json_schema", "json_schema": {"name": "said", "strict": True, "schema": SHAPE}},
    },
    said={
        "model": "m-1-0101",
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": None, "tool_calls": CHAT_CALLS},
                "finish_reason": "tool_calls",
            }
        ],
    },
    stream=(
        {"model": "m-1-0101", "choices": [{"index": 0, "delta": {"role": "assistant", "content": None}}]},
        *(
            {"choices": [{"index": 0, "delta": {"tool_calls": [piece]}}]}
            for number, call in enumerate((CALL, OTHER))
            for piece in (
                {
                    "index": number,
                    "id": call.id,
                    "type": "function",
                    "function": {"name": call.name, "arguments": call.arguments[:5]},
                },
                {"index": number, "function": {"arguments": call.arguments[5:]}},
            )
        ),
        {"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]},
    ),
    done=b"data: [DONE]\n\n",
)
RESPONSE_CALLS = [
    {"type": "function_call", "call_id": each.id, "name": each.name, "arguments": each.arguments}
    for each in (CALL, OTHER)
]
RESPONSE = {"model": "m-1-0101", "status": "completed", "output": [{"type": "reasoning"}, *RESPONSE_CALLS]}
RESPONSES = Wire(
    make=responses,
    shown={
        "input": [
            {
                "role": "user",
                "content": [
                    {"type": "input_image", "image_url": URL},
                    {"type": "input_text", "text": "What is it?"},
                ],
            }
        ],
        "max_output_tokens": 64,
    },
    tools={
        "input": [{"role": "user", "content": "Look it up."}],
        "max_output_tokens": 64,
        "tools": [{"type": "function", **FUNCTION, "strict": False}],
    },
    talk={
        "input": [
            {"role": "user", "content": "Look it up."},
            {"role": "assistant", "content": "I will."},
            *RESPONSE_CALLS,
            {"type": "function_call_output", "call_id": "call-1", "output": "A cat."},
            {"type": "function_call_output", "call_id": "call-2", "output": "A dog."},
        ],
        "max_output_tokens": 64,
        "tools": [{"type": "function", **FUNCTION, "strict": False}],
    },
    shaped={
        "input": [{"role": "user", "content": "Say it."}],
        "max_output_tokens": 64,
        "text": {"format": {"type": "json_schema", "name": "said", "strict": True, "schema": SHAPE}},
    },
    said=RESPONSE,
    stream=(
        {"type": "response.created", "response": {"status": "in_progress"}},
        {"type": "response.function_call_arguments.delta", "delta": "{"},
        {"type": "response.completed", "response": RESPONSE},
    ),
)
USES = [{"type": "tool_use", "id": each.id, "name": each.name} for each in (CALL, OTHER)]
MESSAGES = Wire(
    make=anthropic,
    shown={
        "max_tokens": 64,
        "messages": [
            {
                "role": "user",
                "content": [
                    {
                        "type": "image",
                        "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="},
                    },
                    {"type": "text", "text": "What is it?"},
                ],
            }
        ],
    },
    tools={
        "max_tokens": 64,
        "messages": [{"role": "user", "content": "Look it up."}],
        "tools": [{"name": "look_up", "description": "Looks up “words”.", "input_schema": SHAPE}],
    },
    talk={
        "max_tokens": 64,
        "messages": [
            {"role": "user", "content": "Look it up."},
            {
                "role": "assistant",
                "content": [
                    {"type": "text", "text": "I will."},
                    {**USES[0], "input": {"word": "cat"}},
                    {**USES[1], "input": {"word": "dog"}},
                ],
            },
            {
                "role": "user",
                "content": [
                    {"type": "tool_result", "tool_use_id": "call-1", "content": "A cat."},
                    {"type": "tool_result", "tool_use_id": "call-2", "content": "A dog."},
                ],
            },
        ],
        "tools": [{"name": "look_up", "description": "Looks up “words”.", "input_schema": SHAPE}],
    },
    shaped={
        "max_tokens": 64,
        "messages": [{"role": "user", "content": "Say it."}],
        "output_config": {"format": {"type": "json_schema", "schema": SHAPE}},
    },
    said={
        "model": "m-1-0101",
        "content": [{**USES[0], "input": {"word": "cat"}}, {**USES[1], "input": {"word": "dog"}}],
        "stop_reason": "tool_use",
    },
    stream=(
        {"type": "message_start", "message": {"model": "m-1-0101", "content": []}},
        *(
            event
            for number, (use, call) in enumerate(zip(USES, (CALL, OTHER), strict=True))
            for event in (
                {"type": "content_block_start", "index": number, "content_block": {**use, "input": {}}},
                {
                    "type": "content_block_delta",
                    "index": number,
                    "delta": {"type": "input_json_delta", "partial_json": ""},
                },
                {
                    "type": "content_block_delta",
                    "index": number,
                    "delta": {"type": "input_json_delta", "partial_json": call.arguments[:5]},
                },
                {
                    "type": "content_block_delta",
                    "index": number,
                    "delta": {"type": "input_json_delta", "partial_json": call.arguments[5:]},
                },
                {"type": "content_block_stop", "index": number},
            )
        ),
        {"type": "message_delta", "delta": {"stop_reason": "tool_use"}},
        {"type": "message_stop"},
    ),
)


def on_azure(wire: Wire, make: Callable[..., Chat]) -> Wire:
    """Return a dialect as Azure speaks it: chat completions have another name for the most tokens there."""

    def renamed(body: Json) -> Json:
        return {"max_completion_tokens" if name == "max_tokens" else name: value for name, value in body.items()}

    return wire._replace(
        make=make,
        shown=renamed(wire.shown),
        tools=renamed(wire.tools),
        talk=renamed(wire.talk),
        shaped=renamed(wire.shaped),
    )


WIRES = {
    "chat completions": CHAT,
    "responses": RESPONSES,
    "messages": MESSAGES,
    "azure": on_azure(CHAT, azure),
    "azure responses": on_azure(RESPONSES, azure_responses),
}
every_wire = pytest.mark.parametrize("wire", WIRES.values(), ids=WIRES.keys())
either_way = pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])


def answer(wire: Wire, stream: bool, said: Json | None = None) -> Act:
    if stream:
        frames = events(*[dict(event) for event in wire.stream], named="type" in wire.stream[0])
        return Act(streamed(frames + wire.done), "close")
    return Act(reply(json.dumps(wire.said if said is None else said).encode()))


def stage(wire: Wire, *, stream: bool = False, said: Json | None = None, witness: Witness | None = None) -> Stage:
    return Stage(lambda root: wire.make(root, stream, witness), answer(wire, stream, said))


@every_wire
@pytest.mark.parametrize("name", ["shown", "tools", "talk", "shaped"])
def test_a_request_is_these_bytes(wire: Wire, name: str) -> None:
    asked = {"shown": SHOWN, "tools": TOOLS, "talk": TALK, "shaped": SHAPED}[name]
    played = stage(wire)
    if asked.tools:
        played.reply(asked)
    else:
        played.error(asked)  # the golden reply is calls that nobody declared, which is no answer
    wanted = {"model": "m-1"} | dict(getattr(wire, name))
    assert played.body.replace(b',"store":false', b"") == sent(wanted)


@every_wire
@either_way
def test_a_reply_may_be_nothing_but_calls(wire: Wire, stream: bool) -> None:
    got = stage(wire, stream=stream).reply(TOOLS)
    assert (got.text, got.finish, got.model) == ("", "tool", "m-1-0101")
    assert [(call.id, call.name) for call in got.calls] == [("call-1", "look_up"), ("call-2", "look_up")]
    assert [json.loads(call.arguments) for call in got.calls] == [{"word": "cat"}, {"word": "dog"}]


@every_wire
@either_way
def test_calls_that_nobody_declared_are_no_answer(wire: Wire, stream: bool) -> None:
    raised = stage(wire, stream=stream).error()
    assert type(raised) is EmptyReplyError


@every_wire
def test_a_call_is_sent_back_as_it_came(wire: Wire) -> None:
    calls = stage(wire).reply(TOOLS).calls
    played = stage(wire)
    turns = (*TOOLS.messages, Message("assistant", "", calls=calls), Message("tool", "A cat.", call_id="call-1"))
    played.reply(ChatRequest(messages=turns, max_tokens=64, tools=(LOOK_UP,)))
    body = played.body.decode()
    assert body.count("call-1") == 2
    assert "call-2" in body


@every_wire
@either_way
def test_a_witness_sees_the_raw_body(wire: Wire, stream: bool) -> None:
    seen: list[bytes] = []
    stage(wire, stream=stream, witness=seen.append).reply(TOOLS)
    assert seen == [answer(wire, stream).says.partition(b"\r\n\r\n")[2]]


@every_wire
def test_the_worst_case_counts_images_and_what_is_declared(wire: Wire) -> None:
    chat = wire.make("http://127.0.0.1:1", False)
    plain = ChatRequest(messages=(Message("user", "What is it?"),), max_tokens=64)
    assert chat.worst(SHOWN).input_tokens >= chat.worst(plain).input_tokens + 50_000
    for more in (TOOLS, SHAPED):
        bare = ChatRequest(messages=more.messages, max_tokens=64)
        assert chat.worst(more).input_tokens > chat.worst(bare).input_tokens + len(DEFINITION)


@pytest.mark.parametrize(
    ("wire", "said"),
    [
        (CHAT, {"choices": [{"message": {"tool_calls": [{"id": "c"}]}, "finish_reason": "tool_calls"}]}),
        (RESPONSES, {"status": "completed", "output": [{"type": "function_call", "call_id": "c"}]}),
        (MESSAGES, {"content": [{"type": "tool_use", "id": "c"}], "stop_reason": "tool_use"}),
    ],
)
def test_a_call_of_nothing_is_malformed(wire: Wire, said: Json) -> None:
    raised = stage(wire, said=said).error(TOOLS)
    assert type(raised) is UnavailableError
    assert "a tool call without a name" in str(raised)


@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        ({"name": "look_up", "arguments": {"word": "cat"}}, '{"word": "cat"}'),
        ({"name": "look_up", "arguments": None}, ""),
        ({"name": "look_up"}, ""),
        ({"name": "look_up", "arguments": '{"word'}, '{"word'),
    ],
)
def test_servers_that_say_arguments_otherwise_are_understood(function: Json, arguments: str) -> None:
    choice = {"message": {"content": "", "tool_calls": [{"function": function}]}, "finish_reason": "stop"}
    got = stage(CHAT, said={"choices": [choice]}).reply(TOOLS)
    assert (got.finish, got.calls) == ("tool", (ToolCall(id="", name="look_up", arguments=arguments),))


def test_a_stream_without_numbers_is_put_together_in_order() -> None:
    pieces: list[Json] = [
        {"id": "call-1", "function": {"name": "look_up", "arguments": '{"wor'}},
        {"function": {"arguments": 'd": "cat"}'}},
        {"id": "call-2", "function": {"name": "look_up", "arguments": "{}"}},
    ]
    chunks = [{"choices": [{"index": 0, "delta": {"tool_calls": [piece]}}]} for piece in pieces]
    got = stage(CHAT._replace(stream=tuple(chunks)), stream=True).reply(TOOLS)
    assert [call.arguments for call in got.calls] == ['{"word": "cat"}', "{}"]


def test_text_beside_calls_is_kept() -> None:
    content = [{"type": "text", "text": "I will."}, {**USES[0], "input": {}}]
    got = stage(MESSAGES, said={"content": content, "stop_reason": "tool_use"}).reply(TOOLS)
    assert (got.text, got.finish, got.calls[0].arguments) == ("I will.", "tool", "{}")


def test_calls_that_were_cut_are_no_answer() -> None:
    choice = {"message": {"tool_calls": CHAT_CALLS}, "finish_reason": "length"}
    assert type(stage(CHAT, said={"choices": [choice]}).error(TOOLS)) is TruncatedError


@pytest.mark.parametrize(
    ("request_", "feature"),
    [(SHOWN, "images"), (TOOLS, "tools"), (TALK, "tools"), (SHAPED, "schema")],
    ids=["shown", "tools", "talk", "shaped"],
)
def test_a_base_model_refuses_all_but_text_by_name(request_: ChatRequest, feature: str) -> None:
    played = Stage(lambda root: CompletionsChat(CompletionsSettings(base_url=f"{root}/v1", model="m-1")), Act())
    raised = played.error(request_)
    assert type(raised) is RefusedError
    assert f"m-1, a base model behind /completions, takes no {feature}" in str(raised)
    assert played.requests == []


@pytest.mark.parametrize(
    ("preset", "model", "request_", "feature"),
    [
        ("minimax", "MiniMax-M2.1", SHOWN, "images"),
        ("minimax", "MiniMax-M3", SHAPED, "schema"),
        ("deepseek", "deepseek-chat", SHOWN, "images"),
        ("deepseek", "deepseek-flash", SHAPED, "schema"),
    ],
)
def test_a_preset_refuses_what_it_is_known_not_to_take(
    preset: PresetName, model: str, request_: ChatRequest, feature: str
) -> None:
    played = Stage(
        lambda root: OpenAIChat(OpenAISettings(preset=preset, base_url=f"{root}/v1", model=model)),
        answer(CHAT, stream=False),
    )
    raised = played.error(request_)
    assert type(raised) is RefusedError
    assert f"{model} of preset {preset} takes no {feature}" in str(raised)
    assert played.requests == []
    played.reply(TOOLS)


def test_thoughts_are_not_kept_so_tools_are_refused_with_them() -> None:
    settings = AnthropicSettings(model="m-1", thinking_budget=2048, base_url="http://127.0.0.1:1/v1")
    raised = Stage(lambda _: AnthropicChat(settings), Act()).error(TALK)
    assert "m-1 with a thinking_budget takes no tools" in str(raised)


@pytest.mark.parametrize(
    ("make", "request_", "field"),
    [
        (lambda url: OpenAIChat(OpenAISettings(base_url=url, model="m", extra_body={"tools": []})), TOOLS, "tools"),
        (
            lambda url: OpenAIChat(OpenAISettings(base_url=url, model="m", extra_body={"response_format": {}})),
            SHAPED,
            "response_format",
        ),
        (
            lambda url: AnthropicChat(AnthropicSettings(base_url=url, model="m", extra_body={"output_config": {}})),
            SHAPED,
            "output_config",
        ),
    ],
)
def test_a_field_is_never_sent_twice(make: Callable[[str], Chat], request_: ChatRequest, field: str) -> None:
    played = Stage(lambda root: make(f"{root}/v1"), Act())
    assert f"extra_body sets {field}, and this request brings its own" in str(played.error(request_))
    assert played.requests == []


def test_arguments_that_are_no_object_cannot_be_said_to_anthropic() -> None:
    broken = ToolCall(id="c", name="look_up", arguments="{oops")
    turns = (*TOOLS.messages, Message("assistant", "", calls=(broken,)), Message("tool", "No.", call_id="c"))
    raised = stage(MESSAGES).error(ChatRequest(messages=turns, max_tokens=64, tools=(LOOK_UP,)))
    assert "'look_up' are no JSON object" in str(raised)


@every_wire
def test_half_a_character_in_a_tool_is_refused(wire: Wire) -> None:
    half = Tool(name="t", description="\ud83c", parameters="{}")
    raised = stage(wire).error(ChatRequest(messages=TOOLS.messages, max_tokens=64, tools=(half,)))
    assert "half a character" in str(raised)
