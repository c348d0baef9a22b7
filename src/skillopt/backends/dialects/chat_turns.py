"""How chat completions write what is more than text: images, tools, calls with their results, and a schema.
Owns these shapes; refuses to know replies."""

from __future__ import annotations

import msgspec

from skillopt.backends.dialects.request import Turns, data_url
from skillopt.backends.settings import JsonFields
from skillopt.domain.chat import ChatRequest, Message


def message_fields(message: Message) -> JsonFields:
    """Return a message as this dialect has it; images stand before the text that asks about them."""
    if message.role == "tool":
        return {"role": "tool", "tool_call_id": message.call_id, "content": message.content}
    if message.calls:
        calls = [
            {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
            for call in message.calls
        ]
        return {"role": message.role, "content": message.content or None, "tool_calls": calls}
    if not message.images:
        return {"role": message.role, "content": message.content}
    shown: list[JsonFields] = [{"type": "image_url", "image_url": {"url": data_url(image)}} for image in message.images]
    asked: list[JsonFields] = [{"type": "text", "text": message.content}] if message.content else []
    return {"role": message.role, "content": [*shown, *asked]}


def request_fields(request: ChatRequest) -> JsonFields:
    """Return what a request says of schema and tools."""
    fields: JsonFields = {}
    if request.tools:
        fields["tools"] = [
            {
                "type": "function",
                "function": {
                    "name": tool.name,
                    "description": tool.description,
                    "parameters": msgspec.Raw(tool.parameters.encode()),
                },
            }
            for tool in request.tools
        ]
    if request.schema is not None:
        schema = request.schema
        shape = {"name": schema.name, "strict": schema.strict, "schema": msgspec.Raw(schema.definition.encode())}
        fields["response_format"] = {"type": "json_schema", "json_schema": shape}
    return fields


def _message(message: Message) -> bytes:
    return msgspec.json.encode(message_fields(message))


TURNS = Turns(message=_message, fields=request_fields)
