"""OpenAI responses: requests, replies and events. Owns their shapes and nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import msgspec

from skillopt.testing.conversation import BrainReply, Conversation, Schema, Speaker, Tool, Turn
from skillopt.testing.faults import FAULTS, FaultKind
from skillopt.testing.server.connection import HttpReply
from skillopt.testing.server.wire import (
    Call,
    Content,
    JsonObject,
    encode,
    images_of,
    named_frame,
    pieces,
    text_of,
    tool_of,
)

_SPEAKERS: Mapping[str, Speaker] = MappingProxyType({"user": "user", "assistant": "assistant"})
_INCOMPLETE = MappingProxyType({"length": "max_output_tokens", "filtered": "content_filter"})


class _Item(msgspec.Struct, frozen=True):
    type: str = "message"
    role: str = ""
    content: Content = None
    output: Content = None
    tools: list[_Tool] = []


class _Tool(msgspec.Struct, frozen=True):
    type: str = ""
    name: str = ""
    parameters: Schema | None = None
    tools: list[_Tool] = []


class _Format(msgspec.Struct, frozen=True):
    schema: Schema | None = None


class _Text(msgspec.Struct, frozen=True):
    format: _Format | None = None


class _Body(msgspec.Struct, frozen=True):
    model: str
    input: str | list[_Item]
    instructions: str | None = None
    max_output_tokens: int | None = None
    stream: bool | None = None
    tools: list[_Tool] | None = None
    text: _Text | None = None
    prompt_cache_key: str | None = None
    client_metadata: JsonObject | None = None


_decoder = msgspec.json.Decoder(_Body)


class OpenAIResponses:
    """The dialect of `/responses`."""

    vendor = "openai"

    def read(self, body: bytes) -> Call:
        """Read a request."""
        asked = _decoder.decode(body)
        system = [asked.instructions] if asked.instructions else []
        turns: list[Turn] = []
        tools = list(asked.tools or ())
        for item in [_Item(role="user", content=asked.input)] if isinstance(asked.input, str) else asked.input:
            speaker = _SPEAKERS.get(item.role)
            if item.type.endswith("_output"):
                turns.append(Turn("tool", text_of(item.output)))
            elif speaker is not None:
                turns.append(Turn(speaker, text_of(item.content), images_of(item.content)))
            elif item.type == "message":
                system.append(text_of(item.content))
            elif item.type == "additional_tools":
                tools += item.tools
        conversation = Conversation(
            model=asked.model,
            system="\n\n".join(system),
            turns=tuple(turns),
            tools=_tools(tools),
            max_tokens=asked.max_output_tokens,
            form=_form(asked.text),
        )
        return Call(conversation=conversation, stream=asked.stream is True, identity=_identity(asked, conversation))

    def reply(self, call: Call, said: BrainReply, request_id: str) -> JsonObject:
        """Return a response."""
        reason = _INCOMPLETE.get(said.finish)
        return {
            **_envelope(call, request_id),
            "status": "completed" if reason is None else "incomplete",
            "error": None,
            "incomplete_details": None if reason is None else {"reason": reason},
            "output": _items(said, request_id),
            "usage": _usage(call, said),
        }

    def events(self, call: Call, said: BrainReply, request_id: str) -> tuple[bytes, ...]:
        """Return the numbered events of a response; the last one carries the whole of it."""
        whole = self.reply(call, said, request_id)
        begun = {**_envelope(call, request_id), "status": "in_progress", "error": None, "output": [], "usage": None}
        events: list[tuple[str, JsonObject]] = [
            ("response.created", {"response": begun}),
            ("response.in_progress", {"response": begun}),
        ]
        for index, item in enumerate(_items(said, request_id)):
            events.extend(_item_events(index, item))
        events.append((f"response.{whole['status']}", {"response": whole}))
        return tuple(
            named_frame(name, {"sequence_number": number, **value}) for number, (name, value) in enumerate(events)
        )

    def failure(self, call: Call, kind: FaultKind, request_id: str) -> HttpReply:
        """Return a response that failed."""
        error = {"code": "server_error", "message": FAULTS[kind].says}
        failed = {**_envelope(call, request_id), "status": "failed", "error": error, "output": [], "usage": None}
        if call.stream:
            return HttpReply(frames=(named_frame("response.failed", {"sequence_number": 0, "response": failed}),))
        return HttpReply(body=encode(failed))


def _identity(asked: _Body, conversation: Conversation) -> str | None:
    """Name a request with metadata: codex sends those in another order each time, and its session as the cache key."""
    return None if asked.client_metadata is None else f"{asked.prompt_cache_key} {conversation.digest}"


def _tools(tools: list[_Tool], namespace: str = "") -> tuple[Tool, ...]:
    """Return the tools, those that stand in a namespace with its name; one of the provider's own goes by its type."""
    found: list[Tool] = []
    for tool in tools:
        if tool.type == "namespace":
            found.extend(_tools(tool.tools, tool.name))
        else:
            known = tool_of(tool.name or tool.type, tool.parameters, namespace)
            found.append(msgspec.structs.replace(known, free=tool.type == "custom"))
    return tuple(found)


def _form(asked: _Text | None) -> dict[str, str] | msgspec.UnsetType:
    if asked is None or asked.format is None or asked.format.schema is None:
        return msgspec.UNSET
    return asked.format.schema.fields


def _envelope(call: Call, request_id: str) -> dict[str, object]:
    return {"id": f"resp_{request_id}", "object": "response", "created_at": 0, "model": call.conversation.model}


def _items(said: BrainReply, request_id: str) -> list[dict[str, object]]:
    calls: list[dict[str, object]] = [
        {
            "id": f"fc_{request_id}_{index}",
            "type": "custom_tool_call" if made.free else "function_call",
            "status": "completed",
            "call_id": f"call_{request_id}_{index}",
            "name": made.name,
            ("input" if made.free else "arguments"): made.arguments,
            **({"namespace": made.namespace} if made.namespace else {}),
        }
        for index, made in enumerate(said.calls)
    ]
    if calls and not said.text:
        return calls
    message: dict[str, object] = {
        "id": f"msg_{request_id}",
        "type": "message",
        "role": "assistant",
        "status": "incomplete" if said.finish in _INCOMPLETE else "completed",
        "content": [{"type": "output_text", "text": said.text, "annotations": []}],
    }
    return [message, *calls]


def _item_events(index: int, item: Mapping[str, object]) -> list[tuple[str, JsonObject]]:
    place: dict[str, object] = {"item_id": item["id"], "output_index": index}
    field = next(name for name in ("arguments", "input", "content") if name in item)
    opened = {**item, "status": "in_progress", field: [] if field == "content" else ""}
    added: tuple[str, JsonObject] = ("response.output_item.added", {"output_index": index, "item": opened})
    done: tuple[str, JsonObject] = ("response.output_item.done", {"output_index": index, "item": item})
    if field != "content":
        arguments = str(item[field])
        name = "response.function_call_arguments" if field == "arguments" else "response.custom_tool_call_input"
        deltas = [(f"{name}.delta", {**place, "delta": piece}) for piece in pieces(arguments)]
        return [added, *deltas, (f"{name}.done", {**place, field: arguments}), done]
    part = item["content"][0] if isinstance(item["content"], list) else {}
    text = str(part["text"])
    place["content_index"] = 0
    return [
        added,
        ("response.content_part.added", {**place, "part": {**part, "text": ""}}),
        *(("response.output_text.delta", {**place, "delta": piece}) for piece in pieces(text)),
        ("response.output_text.done", {**place, "text": text}),
        ("response.content_part.done", {**place, "part": part}),
        done,
    ]


def _usage(call: Call, said: BrainReply) -> JsonObject:
    read, written = call.conversation.input_tokens, said.output_tokens
    return {
        "input_tokens": read,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": written,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": read + written,
    }
