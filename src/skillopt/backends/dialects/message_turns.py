"""How Anthropic's messages write what is more than text: images, tools, calls with their results, and a schema.
Owns these shapes; refuses to know replies."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

import msgspec

from skillopt.backends.dialects.request import base64_of, guarded
from skillopt.backends.settings import JsonFields
from skillopt.domain.chat import ChatRequest, Message, ToolCall
from skillopt.domain.errors import RefusedError


def written_turns(messages: Sequence[Message]) -> bytes:
    """Return messages other than system text, after commas; results of tools that stand together are one turn."""
    turns: list[bytes] = []
    for is_result, group in groupby(messages, key=lambda message: message.role == "tool"):
        if is_result:
            turns.append(b'{"role":"user","content":[%b]}' % b",".join([guarded(each, _result) for each in group]))
        else:
            turns.extend([guarded(each, _message) for each in group])
    return b",".join(turns)


def request_fields(request: ChatRequest) -> JsonFields:
    """Return what a request says of schema and tools; this dialect always holds a model to a schema."""
    fields: JsonFields = {}
    if request.tools:
        fields["tools"] = [
            {
                "name": tool.name,
                "description": tool.description,
                "input_schema": msgspec.Raw(tool.parameters.encode()),
            }
            for tool in request.tools
        ]
    if request.schema is not None:
        shape = {"type": "json_schema", "schema": msgspec.Raw(request.schema.definition.encode())}
        fields["output_config"] = {"format": shape}
    return fields


def _result(message: Message) -> bytes:
    return msgspec.json.encode({"type": "tool_result", "tool_use_id": message.call_id, "content": message.content})


def _message(message: Message) -> bytes:
    if not message.images and not message.calls:
        return msgspec.json.encode(message)
    said: list[JsonFields] = [{"type": "text", "text": message.content}] if message.content else []
    shown: list[JsonFields] = [
        {
            "type": "image",
            "source": {"type": "base64", "media_type": image.media_type, "data": base64_of(image)},
        }
        for image in message.images
    ]
    calls: list[JsonFields] = [
        {"type": "tool_use", "id": call.id, "name": call.name, "input": _input(call)} for call in message.calls
    ]
    return msgspec.json.encode({"role": message.role, "content": [*shown, *said, *calls]})


def _input(call: ToolCall) -> msgspec.Raw:
    """Return the arguments of a call, which this dialect can only say as an object."""
    try:
        msgspec.json.decode(call.arguments, type=dict)
    except (msgspec.DecodeError, RecursionError) as error:
        raise RefusedError(
            f"The arguments of the call to {call.name!r} are no JSON object, and this provider takes no others.",
            hint="Answer such a call with what is wrong, or leave it out of the conversation.",
        ) from error
    return msgspec.Raw(call.arguments.encode())
