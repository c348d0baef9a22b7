"""OpenAI chat completions: requests, replies and chunks. Owns their shapes and nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import msgspec

from skillopt.testing.conversation import BrainReply, Conversation, Schema, Speaker, Tool, Turn
from skillopt.testing.faults import FaultKind
from skillopt.testing.server.connection import HttpReply
from skillopt.testing.server.wire import (
    Call,
    Content,
    JsonObject,
    data_frame,
    encode,
    fault_body,
    images_of,
    pieces,
    text_of,
    tool_of,
)

_SPEAKERS: Mapping[str, Speaker] = MappingProxyType({"user": "user", "assistant": "assistant", "tool": "tool"})
_FINISHES = MappingProxyType({"length": "length", "filtered": "content_filter", "tool": "tool_calls"})


class _Message(msgspec.Struct, frozen=True):
    role: str
    content: Content = None


class _Function(msgspec.Struct, frozen=True):
    name: str
    parameters: Schema | None = None


class _Tool(msgspec.Struct, frozen=True):
    function: _Function


class _Form(msgspec.Struct, frozen=True):
    schema: Schema | None = None


class _Format(msgspec.Struct, frozen=True):
    json_schema: _Form | None = None


class StreamOptions(msgspec.Struct, frozen=True):
    """What is asked of a stream."""

    include_usage: bool = False


class _Body(msgspec.Struct, frozen=True):
    model: str
    messages: list[_Message]
    max_tokens: int | None = None
    max_completion_tokens: int | None = None
    stream: bool | None = None
    stream_options: StreamOptions | None = None
    seed: int | None = None
    tools: list[_Tool] | None = None
    response_format: _Format | None = None


_decoder = msgspec.json.Decoder(_Body)


class OpenAIChat:
    """The dialect of `/chat/completions`."""

    vendor = "openai"

    def read(self, body: bytes) -> Call:
        """Read a request."""
        asked = _decoder.decode(body)
        system: list[str] = []
        turns: list[Turn] = []
        for message in asked.messages:
            speaker = _SPEAKERS.get(message.role)
            if speaker is None:
                system.append(text_of(message.content))
            else:
                turns.append(Turn(speaker, text_of(message.content), images_of(message.content)))
        conversation = Conversation(
            model=asked.model,
            system="\n\n".join(system),
            turns=tuple(turns),
            tools=_tools(asked.tools) if asked.tools else (),
            max_tokens=asked.max_tokens if asked.max_completion_tokens is None else asked.max_completion_tokens,
            seed=asked.seed,
            form=_form(asked.response_format),
        )
        options = asked.stream_options
        return Call(
            conversation=conversation,
            stream=asked.stream is True,
            stream_usage=options is not None and options.include_usage,
        )

    def reply(self, call: Call, said: BrainReply, request_id: str) -> JsonObject:
        """Return a completion."""
        message: dict[str, object] = {"role": "assistant", "content": (said.text or None) if said.calls else said.text}
        if said.calls:
            message["tool_calls"] = _tool_calls(said, request_id)
        choice = {"index": 0, "message": message, "finish_reason": _finish(said)}
        return {**_envelope(call, request_id, "chat.completion"), "choices": [choice], "usage": _usage(call, said)}

    def events(self, call: Call, said: BrainReply, request_id: str) -> tuple[bytes, ...]:
        """Return the chunks of a completion, and the mark that ends them."""
        deltas: list[JsonObject] = [{"role": "assistant", "content": ""}]
        deltas.extend({"content": piece} for piece in pieces(said.text))
        deltas.extend(
            {"tool_calls": [{"index": index, **made}]} for index, made in enumerate(_tool_calls(said, request_id))
        )
        envelope = _envelope(call, request_id, "chat.completion.chunk")
        frames = [
            data_frame({**envelope, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]})
            for delta in deltas
        ]
        frames.append(data_frame({**envelope, "choices": [{"index": 0, "delta": {}, "finish_reason": _finish(said)}]}))
        if call.stream_usage:
            frames.append(data_frame({**envelope, "choices": [], "usage": _usage(call, said)}))
        return (*frames, b"data: [DONE]\n\n")

    def failure(self, call: Call, kind: FaultKind, request_id: str) -> HttpReply:
        """Return an error object where a completion should be."""
        error = fault_body(self.vendor, kind, request_id)
        return HttpReply(frames=(data_frame(error),)) if call.stream else HttpReply(body=encode(error))


def _tools(tools: list[_Tool]) -> tuple[Tool, ...]:
    return tuple(tool_of(tool.function.name, tool.function.parameters) for tool in tools)


def _form(asked: _Format | None) -> dict[str, str] | msgspec.UnsetType:
    if asked is None or asked.json_schema is None or asked.json_schema.schema is None:
        return msgspec.UNSET
    return asked.json_schema.schema.fields


def _envelope(call: Call, request_id: str, kind: str) -> dict[str, object]:
    return {"id": f"chatcmpl-{request_id}", "object": kind, "created": 0, "model": call.conversation.model}


def _finish(said: BrainReply) -> str:
    return "tool_calls" if said.calls else _FINISHES.get(said.finish, "stop")


def _tool_calls(said: BrainReply, request_id: str) -> list[dict[str, object]]:
    return [
        {
            "id": f"call_{request_id}_{index}",
            "type": "function",
            "function": {"name": made.name, "arguments": made.arguments},
        }
        for index, made in enumerate(said.calls)
    ]


def _usage(call: Call, said: BrainReply) -> JsonObject:
    read, written = call.conversation.input_tokens, said.output_tokens
    return {
        "prompt_tokens": read,
        "completion_tokens": written,
        "total_tokens": read + written,
        "prompt_tokens_details": {"cached_tokens": 0},
        "completion_tokens_details": {"reasoning_tokens": 0},
    }
