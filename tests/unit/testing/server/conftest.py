from __future__ import annotations

import http.client
import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import msgspec
import pytest

from skillopt.testing.brains import BRAINS
from skillopt.testing.conversation import BrainReply, Conversation, ToolCall
from skillopt.testing.server import ThreadedServer, serve_in_thread


class Response(msgspec.Struct, frozen=True, kw_only=True):
    status: int
    headers: dict[str, str]
    body: bytes

    def json(self) -> dict[str, Any]:
        value = json.loads(self.body)
        assert isinstance(value, dict)
        return value

    def events(self) -> list[tuple[str, Any]]:
        """Return the server-sent events as pairs of name and value."""
        found = []
        for block in self.body.decode().split("\n\n"):
            fields = dict(line.split(": ", 1) for line in block.splitlines())
            if fields:
                data = fields["data"]
                found.append((fields.get("event", ""), data if data == "[DONE]" else json.loads(data)))
        return found


Ask = Callable[..., Response]


def calls_a_tool(_conversation: Conversation) -> BrainReply:
    return BrainReply(
        calls=(ToolCall(name="exec", arguments='{"cmd": "ls -l"}'), ToolCall(name="broken", arguments='{"cmd": '))
    )


def says_and_calls(_conversation: Conversation) -> BrainReply:
    """Say a word before a call of a tool that stands in a namespace."""
    return BrainReply(text="I look.", calls=(ToolCall(name="exec", arguments="{}", namespace="box"),), finish="tool")


def shows_tools(conversation: Conversation) -> BrainReply:
    """Say which tools were understood, and the form of the answer."""
    tools = [[tool.namespace, tool.name, tool.fields] for tool in conversation.tools]
    form = None if conversation.form is msgspec.UNSET else conversation.form
    return BrainReply(text=json.dumps({"tools": tools, "form": form}))


def describes(conversation: Conversation) -> BrainReply:
    """Say how the conversation was understood."""
    seen = {
        "system": conversation.system,
        "turns": [[turn.speaker, turn.text] for turn in conversation.turns],
        "tools": [tool.name for tool in conversation.tools],
        "max_tokens": conversation.max_tokens,
        "seed": conversation.seed,
    }
    return BrainReply(text=json.dumps(seen))


@pytest.fixture(scope="module")
def server() -> Iterator[ThreadedServer]:
    own = {"tools": calls_a_tool, "describe": describes, "says and calls": says_and_calls, "shows tools": shows_tools}
    with serve_in_thread(brains={**BRAINS, **own}) as running:
        yield running


@pytest.fixture
def ask(server: ThreadedServer) -> Ask:
    """Send one request to the server and return the response; a body is sent with POST."""

    def send(path: str, body: object = None, headers: Mapping[str, str] | None = None) -> Response:
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=5)
        try:
            data = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
            connection.request("GET" if data is None else "POST", path, body=data, headers=dict(headers or {}))
            answer = connection.getresponse()
            return Response(
                status=answer.status,
                headers={name.lower(): value for name, value in answer.getheaders()},
                body=answer.read(),
            )
        finally:
            connection.close()

    return send
