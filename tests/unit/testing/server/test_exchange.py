from __future__ import annotations

import http.client
import json
from collections.abc import Callable
from typing import Any

import pytest

from skillopt.testing.server import ThreadedServer

Ask = Callable[..., Any]
MESSAGES = [{"role": "user", "content": "hello there"}]
Question = tuple[str, dict[str, object]]
CHAT: Question = ("chat/completions", {"model": "m", "messages": MESSAGES})
RESPONSES: Question = ("responses", {"model": "m", "input": "hello there"})
ANTHROPIC: Question = ("messages", {"model": "m", "max_tokens": 50, "messages": MESSAGES})
EVERY = [CHAT, RESPONSES, ANTHROPIC]


@pytest.mark.parametrize(
    ("kind", "status", "code", "anthropic"),
    [
        ("rate_limit", 429, "rate_limit_exceeded", "rate_limit_error"),
        ("internal", 500, "server_error", "api_error"),
        ("unavailable", 503, "server_error", "api_error"),
        ("overloaded", 529, "overloaded", "overloaded_error"),
        ("auth", 401, "invalid_api_key", "authentication_error"),
        ("quota", 402, "insufficient_quota", "billing_error"),
        ("quota_429", 429, "insufficient_quota", "billing_error"),
        ("unknown_model", 404, "model_not_found", "not_found_error"),
        ("context", 400, "context_length_exceeded", "invalid_request_error"),
    ],
)
def test_a_refusal_has_its_status_and_the_words_of_the_provider(
    ask: Ask, kind: str, status: int, code: str, anthropic: str
) -> None:
    for path, body in EVERY:
        response = ask(f"/s/echo,kinds={kind},retry_after=7/v1/{path}", {**body, "stream": True})
        error = response.json()["error"]
        assert response.status == status
        assert response.headers.get("retry-after") == ("7" if kind == "rate_limit" else None)
        if path == "messages":
            assert (response.json()["type"], error["type"]) == ("error", anthropic)
        else:
            assert error["code"] == code
        assert error["message"]


def test_a_200_can_carry_an_error(ask: Ask) -> None:
    chat, responses, anthropic = (ask(f"/s/echo,kinds=error_body/v1/{path}", body).json() for path, body in EVERY)
    assert chat["error"]["code"] == "server_error"
    assert "choices" not in chat
    assert (responses["status"], responses["error"]["code"], responses["output"]) == ("failed", "server_error", [])
    assert anthropic["error"]["type"] == "api_error"


def test_a_stream_can_carry_an_error(ask: Ask) -> None:
    events = [ask(f"/s/echo,kinds=error_body/v1/{path}", {**body, "stream": True}).events()[0] for path, body in EVERY]
    assert [name for name, _ in events] == ["", "response.failed", "error"]
    assert events[0][1]["error"]["code"] == "server_error"


@pytest.mark.parametrize(("path", "body"), EVERY)
@pytest.mark.parametrize("stream", [False, True])
def test_garbage_is_no_json(ask: Ask, path: str, body: dict[str, object], stream: bool) -> None:
    response = ask(f"/s/echo,kinds=garbage/v1/{path}", {**body, "stream": stream})
    assert response.status == 200
    with pytest.raises(json.JSONDecodeError):
        response.events() if stream else response.json()


@pytest.mark.parametrize(
    ("kind", "text", "finishes"),
    [
        ("empty", "", ("stop", "completed", "end_turn")),
        ("length", "hello", ("length", "incomplete", "max_tokens")),
        ("filtered", "", ("content_filter", "incomplete", "refusal")),
    ],
)
def test_what_is_no_answer_says_how_it_ended(ask: Ask, kind: str, text: str, finishes: tuple[str, str, str]) -> None:
    chat, responses, anthropic = (ask(f"/s/echo,kinds={kind}/v1/{path}", body).json() for path, body in EVERY)
    assert chat["choices"][0]["message"]["content"] == text
    assert "".join(block["text"] for block in anthropic["content"]) == text
    assert responses["output"][0]["content"][0]["text"] == text
    assert (chat["choices"][0]["finish_reason"], responses["status"], anthropic["stop_reason"]) == finishes


@pytest.mark.parametrize(("path", "body"), EVERY)
@pytest.mark.parametrize("stream", [False, True])
def test_a_cut_reply_ends_inside_the_body(ask: Ask, path: str, body: dict[str, object], stream: bool) -> None:
    with pytest.raises(http.client.IncompleteRead) as caught:
        ask(f"/s/echo,kinds=cut/v1/{path}", {**body, "stream": stream})
    assert caught.value.partial


@pytest.mark.parametrize(("path", "body"), EVERY)
def test_a_crash_resets_the_connection(ask: Ask, path: str, body: dict[str, object]) -> None:
    with pytest.raises(ConnectionResetError):
        ask(f"/s/echo,kinds=crash/v1/{path}", body)


def test_a_hang_says_nothing_and_a_hanging_stream_stops_after_the_head(server: ThreadedServer) -> None:
    path, body = CHAT
    for kind, heard in (("hang", False), ("hang_stream", True)):
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=0.1)
        connection.request("POST", f"/s/echo,kinds={kind}/v1/{path}", body=json.dumps({**body, "stream": True}))
        if heard:
            response = connection.getresponse()
            assert response.status == 200
            with pytest.raises(TimeoutError):
                response.read()
        else:
            with pytest.raises(TimeoutError):
                connection.getresponse()
        connection.close()


def test_a_slow_reply_is_whole(ask: Ask) -> None:
    path, body = CHAT
    reply = ask(f"/s/echo,kinds=slow,slow=0.01/v1/{path}", body).json()
    assert reply["choices"][0]["message"]["content"] == "hello there"
