"""CompletionsChat on the wire: the exact request, replies whole and streamed, and what is no answer."""

from __future__ import annotations

import json

import msgspec
import pytest

from skillopt.backends.completions import CompletionsChat, CompletionsSettings
from skillopt.backends.dialects.completions import TurnTemplate
from skillopt.domain.chat import ChatRequest, Message
from skillopt.domain.errors import EmptyReplyError, ProviderError, RefusedError, TruncatedError, UnavailableError
from skillopt.domain.usage import Usage
from tests.wire.raw_server import Act, reply
from tests.wire.stage import LONG_TALK, Stage, streamed

USAGE = {"prompt_tokens": 10, "completion_tokens": 3, "total_tokens": 13}


def completion(**changes: object) -> bytes:
    choice = {"index": 0, "text": " Hi.", "finish_reason": "stop", "logprobs": None}
    plain = {"id": "cmpl-1", "object": "text_completion", "model": "m-1", "choices": [choice], "usage": USAGE}
    return json.dumps({**plain, **changes}).encode()


def said(text: str, finish: str = "stop") -> Act:
    return Act(reply(completion(choices=[{"index": 0, "text": text, "finish_reason": finish}])))


FINE = Act(reply(completion()))


def play(*acts: Act, **settings: object) -> Stage:
    def make(root: str) -> CompletionsChat:
        plain = CompletionsSettings(base_url=f"{root}/v1", model="m-1", timeout=20.0)
        return CompletionsChat(msgspec.structs.replace(plain, **settings))

    return Stage(make, *acts)


def test_the_request_is_these_bytes() -> None:
    stage = play(FINE)
    stage.reply()
    body = (
        '{"model":"m-1","prompt":"Be brief.\\n\\nUser: Say “hi”.\\nAssistant:","max_tokens":64,"stop":["\\nUser:"]}'
    ).encode()
    assert stage.requests == [
        b"POST /v1/completions HTTP/1.1\r\n"
        b"host: 127.0.0.1:PORT\r\n"
        b"user-agent: skillopt\r\n"
        b"accept-encoding: identity\r\n"
        b"content-type: application/json\r\n"
        b"content-length: %d\r\n\r\n" % len(body) + body
    ]


def test_every_setting_is_in_the_request() -> None:
    stage = play(
        FINE,
        temperature=0.0,
        seed=7,
        stop=("\nQ:", "###"),
        template=TurnTemplate(system="{text}\n", user="Q: {text}\n", assistant="A: {text}\n", ask="A:"),
        stream=True,
        extra_body={"top_k": 1},
    )
    stage.reply(LONG_TALK)
    sent = json.loads(stage.body)
    assert sent["prompt"] == "Be brief.\nQ: Hi?\nA: Hi.\nQ: Why?\nA:"
    assert stage.body.endswith(
        b'"max_tokens":64,"temperature":0.5,"seed":7,'
        b'"stop":["\\nQ:","###"],"stream":true,"stream_options":{"include_usage":true},"top_k":1}'
    )


def test_a_text_that_looks_like_a_place_to_fill_in_is_text() -> None:
    stage = play(FINE)
    stage.reply(ChatRequest(messages=(Message("system", "{text}"), Message("user", "{text} {x}")), max_tokens=9))
    assert json.loads(stage.body)["prompt"] == "{text}\n\nUser: {text} {x}\nAssistant:"


def test_half_a_character_is_refused() -> None:
    stage = play(FINE)
    raised = stage.error(ChatRequest(messages=(Message("user", "\ud83d"),), max_tokens=9))
    assert isinstance(raised, RefusedError)
    assert stage.requests == []


def test_a_reply_is_read_whole_and_streamed() -> None:
    got = play(FINE).reply()
    assert (got.text, got.finish, got.request_id) == (" Hi.", "stop", "cmpl-1")
    assert got.usage == Usage(calls=1, input_tokens=10, output_tokens=3)
    chunks = [{"choices": [{"index": 0, "text": text, "finish_reason": None}]} for text in (" H", "i.")]
    last = {"choices": [{"index": 0, "text": "", "finish_reason": "stop"}], "usage": USAGE}
    lines = "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in (*chunks, last)) + "data: [DONE]\n\n"
    streaming = play(Act(streamed(lines.encode()), "close"), stream=True).reply()
    assert (streaming.text, streaming.finish, streaming.usage) == (got.text, got.finish, got.usage)


@pytest.mark.parametrize(
    ("act", "error"),
    [
        (said(""), EmptyReplyError),
        (said("Half an ans", "length"), TruncatedError),
        (Act(reply(completion(choices=[{"index": 0}]))), UnavailableError),
        (Act(reply(completion(choices=[]))), UnavailableError),
        (Act(reply(b"<html>")), UnavailableError),
        (Act(reply(b'{"error":{"message":"no such model","code":"model_not_found"}}', 404)), RefusedError),
    ],
)
def test_what_is_no_answer_is_never_one(act: Act, error: type[ProviderError]) -> None:
    assert type(play(act).error()) is error
