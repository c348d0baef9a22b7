"""OpenAIChat with `api: responses`: the exact request, replies whole and streamed, and what is no answer."""

from __future__ import annotations

import json

import msgspec
import pytest

from skillopt.backends.openai_chat import OpenAIChat, OpenAISettings
from skillopt.domain.errors import (
    EmptyReplyError,
    ProviderError,
    QuotaExhaustedError,
    RefusedError,
    TruncatedError,
    UnavailableError,
)
from skillopt.domain.usage import Price, Usage
from tests.wire.raw_server import Act, reply
from tests.wire.stage import KEY, LONG_TALK, REQUEST, Stage, events, streamed

USAGE = {
    "input_tokens": 10,
    "input_tokens_details": {"cached_tokens": 4},
    "output_tokens": 30,
    "output_tokens_details": {"reasoning_tokens": 25},
    "total_tokens": 40,
}
THOUGHT: dict[str, object] = {"id": "rs-1", "type": "reasoning", "summary": []}


def message(text: str, kind: str = "output_text", key: str = "text") -> dict[str, object]:
    return {"id": "m-1", "type": "message", "role": "assistant", "content": [{"type": kind, key: text}]}


def response(**changes: object) -> dict[str, object]:
    plain = {"id": "resp-1", "object": "response", "model": "m-1-0101", "status": "completed", "error": None}
    return {**plain, "output": [THOUGHT, message("Hi.")], "usage": USAGE, **changes}


def whole(**changes: object) -> Act:
    return Act(reply(json.dumps(response(**changes)).encode(), headers=b"X-Request-Id: r-1\r\n"))


def play(*acts: Act, **settings: object) -> Stage:
    def make(root: str) -> OpenAIChat:
        plain = OpenAISettings(base_url=f"{root}/v1", model="m-1", api="responses", timeout=20.0)
        return OpenAIChat(msgspec.structs.replace(plain, **settings), api_key=KEY)

    return Stage(make, *acts)


def test_the_request_is_these_bytes() -> None:
    stage = play(whole())
    stage.reply()
    assert stage.head[0] == "POST /v1/responses HTTP/1.1"
    assert f"authorization: Bearer {KEY}" in stage.head
    assert (
        stage.body
        == (
            '{"model":"m-1","input":[{"role":"system","content":"Be brief."},{"role":"user","content":"Say “hi”."}],'
            '"max_output_tokens":64,"store":false}'
        ).encode()
    )


def test_every_setting_is_in_the_request() -> None:
    act = Act(streamed(events({"type": "response.completed", "response": response()})), "close")
    stage = play(act, temperature=0.0, reasoning_effort="low", stream=True, extra_body={"top_p": 0.5})
    stage.reply()
    assert stage.body.endswith(
        b'"max_output_tokens":64,"temperature":0.0,'
        b'"store":false,"reasoning":{"effort":"low"},"stream":true,"top_p":0.5}'
    )


def test_a_talk_keeps_its_turns() -> None:
    stage = play(whole())
    stage.reply(LONG_TALK)
    sent = json.loads(stage.body)
    assert [item["role"] for item in sent["input"]] == ["system", "user", "assistant", "user"]
    assert sent["temperature"] == 0.5


def test_a_reply_has_all_that_the_ledger_wants() -> None:
    got = play(whole(), price=Price(input=2.0, cached=1.0, output=8.0)).reply()
    assert (got.text, got.finish, got.model, got.request_id) == ("Hi.", "stop", "m-1-0101", "r-1")
    assert got.usage == Usage(calls=1, input_tokens=10, cached_tokens=4, output_tokens=30, nano_usd=256_000)
    assert got.reasoning_tokens == 25


@pytest.mark.parametrize("usage", [None, {}, {"input_tokens": -1, "output_tokens": 3}])
def test_a_reply_without_usage_is_charged_at_worst(usage: object) -> None:
    got = play(whole(usage=usage)).reply()
    assert got.usage == Usage(calls=1, input_tokens=64 + 32 + 9 + 13, output_tokens=64)
    assert got.reasoning_tokens is None


def test_a_stream_is_read_from_its_last_event() -> None:
    body = events(
        {"type": "response.created", "response": response(status="in_progress", output=[], usage=None)},
        {"type": "response.output_text.delta", "delta": "Hi"},
        {"type": "response.something_new", "what": [1]},
        {"type": "response.completed", "response": response()},
    )
    got = play(Act(streamed(body), "close"), stream=True).reply()
    assert (got.text, got.usage.output_tokens) == ("Hi.", 30)


def test_a_server_that_does_not_stream_is_understood() -> None:
    assert play(whole(), stream=True).reply().text == "Hi."


@pytest.mark.parametrize(
    ("act", "error", "says"),
    [
        (whole(output=[THOUGHT]), EmptyReplyError, "no text"),
        (whole(output=[{"type": "function_call", "name": "f"}]), EmptyReplyError, "tool"),
        (
            whole(status="incomplete", incomplete_details={"reason": "max_output_tokens"}, output=[THOUGHT]),
            TruncatedError,
            "64 tokens",
        ),
        (
            whole(status="incomplete", incomplete_details={"reason": "content_filter"}, output=[message("Hal")]),
            RefusedError,
            "declined",
        ),
        (whole(output=[message("I would rather not.", "refusal", "refusal")]), RefusedError, "rather not"),
        (
            whole(status="failed", error={"code": "server_error", "message": "It broke."}, output=[]),
            UnavailableError,
            "It broke",
        ),
        (whole(status="failed", output=[]), UnavailableError, "failed"),
        (
            whole(status="failed", error={"code": "insufficient_quota", "message": "None left."}),
            QuotaExhaustedError,
            "None left",
        ),
        (whole(output=None), UnavailableError, "no output"),
        (Act(reply(b"<html>")), UnavailableError, "not a response"),
        (Act(reply(b'{"error":{"message":"Bad.","code":"invalid_api_key"}}', 401)), ProviderError, "Bad"),
    ],
)
def test_what_is_no_answer_is_never_one(act: Act, error: type[ProviderError], says: str) -> None:
    raised = play(act).error()
    assert isinstance(raised, error)
    assert says in str(raised)
    assert raised.hint


@pytest.mark.parametrize(
    ("body", "says"),
    [
        (events({"type": "response.created", "response": response()}), "was cut"),
        (events({"type": "error", "code": "server_error", "message": "Down."}), "Down"),
        (b'data: {"error":{"message":"Down."}}\n\n', "Down"),
        (b"data: [DONE]\n\n", "was cut"),
        (b"data: <html>\n\n", "cannot be read"),
        (b"", "was cut"),
    ],
)
def test_a_broken_stream_is_no_answer(body: bytes, says: str) -> None:
    raised = play(Act(streamed(body), "close"), stream=True).error()
    assert isinstance(raised, UnavailableError)
    assert says in str(raised)


def test_a_stream_that_falls_silent_is_left() -> None:
    act = Act(streamed(events({"type": "response.created", "response": response()})), "hang")
    assert "fell silent" in str(play(act, stream=True, stall_seconds=0.1).error(REQUEST))
