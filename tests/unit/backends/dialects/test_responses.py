"""The replies of the responses dialect, item by item; whole exchanges are in tests/wire."""

from __future__ import annotations

import json

from skillopt.backends.dialects.reply import Completion
from skillopt.backends.dialects.responses import read_response
from skillopt.domain.chat import ToolCall


def read(*items: dict[str, object], **fields: object) -> Completion:
    found = read_response(json.dumps({"status": "completed", "output": items, **fields}).encode())
    assert isinstance(found, Completion)
    return found


SAID: dict[str, object] = {"type": "message", "content": [{"type": "output_text", "text": "I will."}]}
CALLED: dict[str, object] = {"type": "function_call", "call_id": "c", "id": "fc-1", "name": "f", "arguments": "{oops"}


def test_words_and_calls_stand_side_by_side() -> None:
    found = read(SAID, CALLED, {"type": "reasoning", "summary": []})
    assert (found.text, found.finish) == ("I will.", "tool")
    assert found.calls == (ToolCall(id="c", name="f", arguments="{oops"),)


def test_why_a_reply_is_incomplete_says_more_than_its_calls() -> None:
    found = read(CALLED, status="incomplete", incomplete_details={"reason": "max_output_tokens"})
    assert (found.finish, len(found.calls)) == ("max_output_tokens", 1)


def test_calls_of_the_providers_own_tools_are_not_ours() -> None:
    assert read(SAID, {"type": "web_search_call", "id": "ws-1", "status": "completed"}).calls == ()
