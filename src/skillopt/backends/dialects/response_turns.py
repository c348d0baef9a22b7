"""How the responses dialect writes what is more than text: images, tools, calls with their results, and a schema.
Owns these shapes; refuses to know replies."""

from __future__ import annotations

import msgspec

from skillopt.backends.dialects.request import Turns, data_url
from skillopt.backends.settings import JsonFields
from skillopt.domain.chat import ChatRequest, Message


def _message(message: Message) -> bytes:
    """Return the items of a message: what was said and each call are items of their own."""
    return msgspec.json.encode(_items(message))[1:-1]


def _items(message: Message) -> list[JsonFields]:
    if message.role == "tool":
        return [{"type": "function_call_output", "call_id": message.call_id, "output": message.content}]
    if message.images:
        shown: list[JsonFields] = [{"type": "input_image", "image_url": data_url(image)} for image in message.images]
        asked: list[JsonFields] = [{"type": "input_text", "text": message.content}] if message.content else []
        return [{"role": message.role, "content": [*shown, *asked]}]
    if not message.calls:
        return [{"role": message.role, "content": message.content}]
    said: list[JsonFields] = [{"role": message.role, "content": message.content}] if message.content else []
    calls: list[JsonFields] = [
        {"type": "function_call", "call_id": call.id, "name": call.name, "arguments": call.arguments}
        for call in message.calls
    ]
    return [*said, *calls]


def _fields(request: ChatRequest) -> JsonFields:
    fields: JsonFields = {}
    if request.tools:
        fields["tools"] = [
            {
                "type": "function",
                "name": tool.name,
                "description": tool.description,
                "parameters": msgspec.Raw(tool.parameters.encode()),
                "strict": False,  # unsaid, this dialect would hold the parameters to rules that few schemas keep
            }
            for tool in request.tools
        ]
    if request.schema is not None:
        schema = request.schema
        shape = {"type": "json_schema", "name": schema.name, "strict": schema.strict}
        fields["text"] = {"format": {**shape, "schema": msgspec.Raw(schema.definition.encode())}}
    return fields


TURNS = Turns(message=_message, fields=_fields)
