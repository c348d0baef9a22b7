"""Anthropic messages: requests, replies and events. Owns their shapes and nothing else."""

from __future__ import annotations

from types import MappingProxyType

import msgspec

from skillopt.testing.conversation import BrainReply, Conversation, Schema, Speaker, Turn
from skillopt.testing.faults import FaultKind
from skillopt.testing.server.connection import HttpReply
from skillopt.testing.server.wire import (
    Call,
    Content,
    JsonObject,
    Source,
    digest_of,
    encode,
    fault_body,
    named_frame,
    pieces,
    text_of,
    tool_of,
)

_STOPS = MappingProxyType({"length": "max_tokens", "filtered": "refusal", "tool": "tool_use"})


class _Block(msgspec.Struct, frozen=True):
    type: str = ""
    text: str = ""
    content: Content = None
    source: Source | None = None


class _Message(msgspec.Struct, frozen=True):
    role: str
    content: str | list[_Block]


class _Tool(msgspec.Struct, frozen=True):
    name: str
    input_schema: Schema | None = None


class _Body(msgspec.Struct, frozen=True):
    model: str
    messages: list[_Message]
    max_tokens: int | None = None
    system: Content = None
    stream: bool | None = None
    tools: list[_Tool] | None = None


_decoder = msgspec.json.Decoder(_Body)


class AnthropicMessages:
    """The dialect of `/messages`."""

    vendor = "anthropic"

    def read(self, body: bytes) -> Call:
        """Read a request; a system message between the turns counts as system text."""
        asked = _decoder.decode(body)
        system = _paragraphs(asked.system)
        turns: list[Turn] = []
        for message in asked.messages:
            if message.role == "system":
                system.extend(turn.text for turn in _turns(message, "user"))
            else:
                turns.extend(_turns(message, "assistant" if message.role == "assistant" else "user"))
        conversation = Conversation(
            model=asked.model,
            system="\n\n".join(system),
            turns=tuple(turns),
            tools=tuple(tool_of(tool.name, tool.input_schema) for tool in asked.tools) if asked.tools else (),
            max_tokens=asked.max_tokens,
        )
        return Call(conversation=conversation, stream=asked.stream is True)

    def reply(self, call: Call, said: BrainReply, request_id: str) -> JsonObject:
        """Return a message."""
        return {
            **_envelope(call, request_id),
            "content": [*_text_blocks(said), *_tool_blocks(said, request_id)],
            "stop_reason": _stop(said),
            "stop_sequence": None,
            "usage": _usage(call, said.output_tokens),
        }

    def events(self, call: Call, said: BrainReply, request_id: str) -> tuple[bytes, ...]:
        """Return the events of a message; the final usage comes before the last of them."""
        begun = {**_envelope(call, request_id), "content": [], "stop_reason": None, "stop_sequence": None}
        frames = [named_frame("message_start", {"message": {**begun, "usage": _usage(call, 1)}})]
        blocks: list[tuple[JsonObject, list[JsonObject]]] = [
            ({**block, "text": ""}, [{"type": "text_delta", "text": piece} for piece in pieces(said.text)])
            for block in _text_blocks(said)
        ]
        blocks.extend(
            (
                {"type": "tool_use", "id": f"toolu_{request_id}_{index}", "name": made.name, "input": {}},
                [{"type": "input_json_delta", "partial_json": piece} for piece in pieces(made.arguments)],
            )
            for index, made in enumerate(said.calls)
        )
        for index, (block, deltas) in enumerate(blocks):
            frames.append(named_frame("content_block_start", {"index": index, "content_block": block}))
            frames.extend(named_frame("content_block_delta", {"index": index, "delta": delta}) for delta in deltas)
            frames.append(named_frame("content_block_stop", {"index": index}))
        ending = {
            "delta": {"stop_reason": _stop(said), "stop_sequence": None},
            "usage": _usage(call, said.output_tokens),
        }
        return (*frames, named_frame("message_delta", ending), named_frame("message_stop", {}))

    def failure(self, call: Call, kind: FaultKind, request_id: str) -> HttpReply:
        """Return an error object where a message should be."""
        error = fault_body(self.vendor, kind, request_id)
        return HttpReply(frames=(named_frame("error", error),)) if call.stream else HttpReply(body=encode(error))


def _paragraphs(content: Content) -> list[str]:
    """Return the blocks of a system text: each has its own say, as where a program puts its own before its user's."""
    return [text_of(content)] if content is None or isinstance(content, str) else [part.text for part in content]


def _turns(message: _Message, speaker: Speaker) -> list[Turn]:
    """Return what one message holds: each tool result is a turn of its own, the text around them another."""
    if isinstance(message.content, str):
        return [Turn(speaker, message.content)]
    turns = [Turn("tool", text_of(block.content)) for block in message.content if block.type == "tool_result"]
    text = "".join(block.text for block in message.content)
    images = tuple(digest_of(block.source) for block in message.content if block.source is not None)
    return [*turns, Turn(speaker, text, images)] if text or images or not turns else turns


def _envelope(call: Call, request_id: str) -> dict[str, object]:
    return {"id": f"msg_{request_id}", "type": "message", "role": "assistant", "model": call.conversation.model}


def _text_blocks(said: BrainReply) -> list[dict[str, object]]:
    return [{"type": "text", "text": said.text}] if said.text else []


def _tool_blocks(said: BrainReply, request_id: str) -> list[dict[str, object]]:
    """Return the tool calls; arguments that are not JSON stay out of a whole reply, as there is no way to say them."""
    return [
        {
            "type": "tool_use",
            "id": f"toolu_{request_id}_{index}",
            "name": made.name,
            "input": msgspec.Raw(made.arguments.encode()) if _is_json(made.arguments) else {},
        }
        for index, made in enumerate(said.calls)
    ]


def _is_json(text: str) -> bool:
    try:
        msgspec.json.decode(text)
    except msgspec.DecodeError:
        return False
    return True


def _stop(said: BrainReply) -> str:
    return "tool_use" if said.calls else _STOPS.get(said.finish, "end_turn")


def _usage(call: Call, written: int) -> JsonObject:
    return {
        "input_tokens": call.conversation.input_tokens,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": 0,
        "output_tokens": written,
    }
