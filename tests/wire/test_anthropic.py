"""AnthropicChat on the wire: the exact request, replies whole and streamed, and what is no answer."""

from __future__ import annotations

import asyncio
import json

import msgspec
import pytest

from skillopt.backends.anthropic import AnthropicChat, AnthropicSettings
from skillopt.domain.chat import ChatRequest, Message
from skillopt.domain.errors import (
    AuthError,
    ContextTooLongError,
    EmptyReplyError,
    ProviderError,
    QuotaExhaustedError,
    RateLimitedError,
    RefusedError,
    TruncatedError,
    UnavailableError,
)
from skillopt.domain.usage import Price, Usage
from tests.wire.raw_server import Act, reply
from tests.wire.stage import KEY, LONG_TALK, REQUEST, Stage, events, streamed

USAGE = {
    "input_tokens": 10,
    "cache_creation_input_tokens": 100,
    "cache_read_input_tokens": 1000,
    "output_tokens": 3,
}


def message(**changes: object) -> dict[str, object]:
    content = [{"type": "thinking", "thinking": "Hm.", "signature": "x"}, {"type": "text", "text": "Hi."}]
    plain = {"id": "msg-1", "type": "message", "role": "assistant", "model": "m-1-0101", "content": content}
    return {**plain, "stop_reason": "end_turn", "stop_sequence": None, "usage": USAGE, **changes}


def whole(**changes: object) -> Act:
    return Act(reply(json.dumps(message(**changes)).encode(), headers=b"Request-Id: r-1\r\n"))


def complaint(status: int, kind: str, text: str) -> Act:
    body = {"type": "error", "error": {"type": kind, "message": text}, "request_id": "r-1"}
    return Act(reply(json.dumps(body).encode(), status))


def play(*acts: Act, **settings: object) -> Stage:
    def make(root: str) -> AnthropicChat:
        plain = AnthropicSettings(base_url=f"{root}/v1", model="m-1", timeout=20.0)
        return AnthropicChat(msgspec.structs.replace(plain, **settings), api_key=KEY)

    return Stage(make, *acts)


def test_the_request_is_these_bytes() -> None:
    stage = play(whole())
    stage.reply()
    body = (
        '{"model":"m-1","max_tokens":64,'
        '"system":[{"type":"text","text":"Be brief.","cache_control":{"type":"ephemeral"}}],'
        '"messages":[{"role":"user","content":"Say “hi”."}]}'
    ).encode()
    assert stage.requests == [
        b"POST /v1/messages HTTP/1.1\r\n"
        b"host: 127.0.0.1:PORT\r\n"
        b"user-agent: skillopt\r\n"
        b"accept-encoding: identity\r\n"
        b"content-type: application/json\r\n"
        b"x-api-key: sk-hunter2-hunter2\r\n"
        b"anthropic-version: 2023-06-01\r\n"
        b"content-length: %d\r\n\r\n" % len(body) + body
    ]


def test_every_setting_is_in_the_request() -> None:
    stage = play(
        whole(),
        thinking_budget=2048,
        max_tokens=4096,
        cache=False,
        stream=True,
        version="2099-01-01",
        headers={"anthropic-beta": "new-thing"},
        extra_body={"top_k": 3},
    )
    stage.reply()
    assert "anthropic-version: 2099-01-01" in stage.head
    assert "anthropic-beta: new-thing" in stage.head
    assert b'"system":[{"type":"text","text":"Be brief."}]' in stage.body
    assert stage.body.endswith(b',"thinking":{"type":"enabled","budget_tokens":2048},"stream":true,"top_k":3}')


def test_a_talk_keeps_its_turns_and_all_system_text_comes_first() -> None:
    stage = play(whole())
    late = msgspec.structs.replace(LONG_TALK, messages=(*LONG_TALK.messages, Message("system", "Be kind.")))
    stage.reply(late)
    sent = json.loads(stage.body)
    assert [block["text"] for block in sent["system"]] == ["Be brief.\n\nBe kind."]
    assert [turn["role"] for turn in sent["messages"]] == ["user", "assistant", "user"]
    assert sent["temperature"] == 0.5


def test_without_system_text_none_is_sent() -> None:
    stage = play(whole())
    stage.reply(ChatRequest(messages=(Message("user", "Hi?"),), max_tokens=64))
    assert stage.body == b'{"model":"m-1","max_tokens":64,"messages":[{"role":"user","content":"Hi?"}]}'


def test_kept_prompts_never_answer_for_another() -> None:
    stage = play(whole())

    async def ask() -> None:
        prompts = [f"Skill {number % 20}." for number in range(60)]
        await stage.talk(
            *(ChatRequest(messages=(Message("system", p), Message("user", p)), max_tokens=9) for p in prompts)
        )

    asyncio.run(ask())
    for number, request in enumerate(stage.requests):
        sent = json.loads(request.partition(b"\r\n\r\n")[2])
        assert sent["system"][0]["text"] == sent["messages"][0]["content"] == f"Skill {number % 20}."


def test_a_reply_has_all_that_the_ledger_wants() -> None:
    got = play(whole(), price=Price(input=3.0, cached=0.3, cache_write=3.75, output=15.0)).reply()
    assert (got.text, got.finish, got.model, got.request_id) == ("Hi.", "stop", "m-1-0101", "r-1")
    nano = 10 * 3000 + 1000 * 300 + 100 * 3750 + 3 * 15_000
    assert got.usage == Usage(calls=1, input_tokens=1110, cached_tokens=1000, output_tokens=3, nano_usd=nano)


def test_the_worst_case_counts_writing_to_the_cache() -> None:
    dear = Price(input=3.0, cached=0.3, cache_write=3.75, output=0.0)
    chat = AnthropicChat(AnthropicSettings(model="m-1", price=dear))
    worst = chat.worst(REQUEST)
    assert worst.nano_usd == worst.input_tokens * 3750


STREAM: tuple[dict[str, object], ...] = (
    {"type": "message_start", "message": message(content=[], stop_reason=None, usage={**USAGE, "output_tokens": 1})},
    {"type": "content_block_start", "index": 0, "content_block": {"type": "thinking", "thinking": ""}},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "thinking_delta", "thinking": "Hm."}},
    {"type": "content_block_stop", "index": 0},
    {"type": "ping"},
    {"type": "content_block_start", "index": 1, "content_block": {"type": "text", "text": ""}},
    {"type": "content_block_delta", "index": 1, "delta": {"type": "text_delta", "text": "H"}},
    {"type": "content_block_delta", "index": 1, "delta": {"type": "text_delta", "text": "i."}},
    {"type": "content_block_stop", "index": 1},
    {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 7}},
    {"type": "message_stop"},
)


def test_a_stream_is_joined_and_its_last_word_on_usage_counts() -> None:
    got = play(Act(streamed(events(*STREAM)), "close"), stream=True).reply()
    assert (got.text, got.finish, got.model) == ("Hi.", "stop", "m-1-0101")
    assert got.usage == Usage(calls=1, input_tokens=1110, cached_tokens=1000, output_tokens=7)


@pytest.mark.parametrize("kept", range(len(STREAM)))
def test_a_cut_stream_is_no_answer(kept: int) -> None:
    assert type(play(Act(streamed(events(*STREAM[:kept])), "close"), stream=True).error()) is UnavailableError


def test_an_error_in_a_stream_is_one() -> None:
    failed = events(*STREAM[:7], {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}})
    raised = play(Act(streamed(failed), "close"), stream=True).error()
    assert type(raised) is UnavailableError
    assert "Overloaded" in str(raised)


@pytest.mark.parametrize(
    ("act", "error", "says"),
    [
        (whole(content=[]), EmptyReplyError, "no text"),
        (whole(content=[{"type": "tool_use", "name": "f"}], stop_reason="tool_use"), EmptyReplyError, "tool_use"),
        (whole(stop_reason="max_tokens"), TruncatedError, "64 tokens"),
        (whole(stop_reason="model_context_window_exceeded"), TruncatedError, "64 tokens"),
        (whole(content=[], stop_reason="refusal"), RefusedError, "declined"),
        (whole(content=None), UnavailableError, "no content"),
        (Act(reply(b"<html>")), UnavailableError, "not a message"),
        (complaint(400, "invalid_request_error", "max_tokens: too large"), RefusedError, "too large"),
        (complaint(400, "invalid_request_error", "prompt is too long: 9 tokens"), ContextTooLongError, "too long"),
        (complaint(400, "invalid_request_error", "Your credit balance is too low"), QuotaExhaustedError, "credit"),
        (complaint(401, "authentication_error", "invalid x-api-key"), AuthError, "x-api-key"),
        (complaint(403, "permission_error", "not for you"), AuthError, "not for you"),
        (complaint(404, "not_found_error", "model: m-1"), RefusedError, "m-1"),
        (complaint(413, "request_too_large", "too large"), ContextTooLongError, "too large"),
        (complaint(429, "rate_limit_error", "slow down"), RateLimitedError, "slow down"),
        (complaint(500, "api_error", "oops"), UnavailableError, "oops"),
        (complaint(529, "overloaded_error", "Overloaded"), UnavailableError, "Overloaded"),
        (complaint(200, "overloaded_error", "Overloaded"), UnavailableError, "Overloaded"),
    ],
)
def test_what_is_no_answer_is_never_one(act: Act, error: type[ProviderError], says: str) -> None:
    raised = play(act).error()
    assert type(raised) is error
    assert says in str(raised)
    assert KEY not in str(raised)


def test_a_server_that_hangs_is_left() -> None:
    assert "did not answer" in str(play(Act(b"", "hang"), timeout=0.1).error())
    silent = Act(streamed(events(*STREAM[:3])), "hang")
    assert "fell silent" in str(play(silent, stream=True, stall_seconds=0.1).error())
