"""OpenAIChat on the wire: the exact request, every fault a server can show, and a key that is never repeated."""

from __future__ import annotations

import asyncio
import json
import traceback
from collections.abc import Callable

import msgspec
import pytest

from skillopt.backends.endpoint import ApiKey
from skillopt.backends.openai_chat import OpenAIChat, OpenAISettings
from skillopt.domain.chat import ChatRequest, Message, Reply
from skillopt.domain.errors import (
    EmptyReplyError,
    ProviderError,
    RefusedError,
    SkilloptError,
    TruncatedError,
    UnavailableError,
    UsageError,
)
from skillopt.domain.usage import Price, Usage
from skillopt.testing.faults import FAULTS, FaultKind
from skillopt.testing.server import ScriptedServer
from tests.wire.raw_server import Act, RawServer, reply

KEY = "sk-hunter2-hunter2"
REQUEST = ChatRequest(messages=(Message("system", "Be brief."), Message("user", "Say “hi”.")), max_tokens=64)
USAGE = {"prompt_tokens": 10, "completion_tokens": 3, "prompt_tokens_details": {"cached_tokens": 4}}


def completion(**changes: object) -> bytes:
    choice = {"index": 0, "message": {"role": "assistant", "content": "Hi."}, "finish_reason": "stop"}
    return json.dumps({"id": "c-1", "model": "m-1-0101", "choices": [choice], "usage": USAGE, **changes}).encode()


def said(content: str | None, finish: str | None = "stop", **more: object) -> Act:
    return Act(reply(completion(choices=[{"message": {"content": content, **more}, "finish_reason": finish}])))


def chunked(*pieces: bytes) -> bytes:
    body = b"".join(b"%x\r\n%b\r\n" % (len(piece), piece) for piece in pieces)
    return b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n" + body


def event(**chunk: object) -> bytes:
    return b"data: " + json.dumps({"id": "c-1", "model": "m-1-0101", **chunk}).encode() + b"\n\n"


def delta(text: str, finish: str | None = None) -> bytes:
    return event(choices=[{"index": 0, "delta": {"content": text}, "finish_reason": finish}])


DONE = b"data: [DONE]\n\n"
END = b"0\r\n\r\n"
FINE = Act(reply(completion(), headers=b"X-Request-Id: r-1\r\n"))


class Play:
    """A chat with some settings changed, and the server it talks to."""

    def __init__(self, *acts: Act, api_key: ApiKey | None = KEY, **settings: object) -> None:
        self._acts = acts
        self._api_key = api_key
        self._settings = settings
        self.requests: list[bytes] = []
        self.connections = 0

    async def talk(self, requests: tuple[ChatRequest, ...] = (REQUEST,)) -> list[Reply]:
        async with RawServer(*self._acts) as server:
            plain = OpenAISettings(base_url=server.base_url, model="m-1", timeout=20.0)
            chat = OpenAIChat(msgspec.structs.replace(plain, **self._settings), api_key=self._api_key)
            try:
                return [await chat.send(request) for request in requests]
            finally:
                await chat.close()
                self.requests = [request.replace(b":%d" % server.port, b":PORT") for request in server.requests]
                self.connections = server.connections

    def reply(self) -> Reply:
        return asyncio.run(self.talk())[0]

    def error(self) -> ProviderError:
        with pytest.raises(ProviderError) as caught:
            asyncio.run(self.talk())
        return caught.value


def test_the_request_is_these_bytes() -> None:
    play = Play(FINE)
    play.reply()
    body = (
        '{"model":"m-1","messages":[{"role":"system","content":"Be brief."},{"role":"user","content":"Say “hi”."}],'
        '"max_tokens":64}'
    ).encode()
    assert play.requests == [
        b"POST /v1/chat/completions HTTP/1.1\r\n"
        b"host: 127.0.0.1:PORT\r\n"
        b"user-agent: skillopt\r\n"
        b"accept-encoding: identity\r\n"
        b"content-type: application/json\r\n"
        b"authorization: Bearer sk-hunter2-hunter2\r\n"
        b"content-length: %d\r\n\r\n" % len(body) + body
    ]


def test_every_setting_is_in_the_request() -> None:
    play = Play(
        Act(chunked(delta("Hi.", "stop"), DONE) + END),
        headers={"X-Team": "a"},
        organization="org-1",
        temperature=0.0,
        seed=7,
        max_tokens_field="max_completion_tokens",
        reasoning_effort="low",
        extra_body={"top_p": 0.5, "chat_template_kwargs": {"enable_thinking": False}},
        stream=True,
    )
    play.reply()
    head, _, body = play.requests[0].partition(b"\r\n\r\n")
    assert b"\r\nopenai-organization: org-1\r\nx-team: a\r\n" in head
    assert body.endswith(
        b'],"max_completion_tokens":64,"temperature":0.0,"seed":7,"reasoning_effort":"low","stream":true,'
        b'"stream_options":{"include_usage":true},"top_p":0.5,"chat_template_kwargs":{"enable_thinking":false}}'
    )


def test_without_a_key_none_is_sent() -> None:
    play = Play(FINE, api_key=None)
    play.reply()
    assert b"authorization" not in play.requests[0].lower()


def test_a_callable_key_is_asked_for_at_each_call() -> None:
    keys = iter(["first-key", "first-key", "second-key"])
    play = Play(FINE, api_key=lambda: next(keys))
    asyncio.run(play.talk((REQUEST, REQUEST, REQUEST)))
    sent = [request.partition(b"Bearer ")[2].partition(b"\r\n")[0] for request in play.requests]
    assert sent == [b"first-key", b"first-key", b"second-key"]


@pytest.mark.parametrize("key", ["", "sk-hunter2\n", "sk-hunter2\r\nx-evil: 1"])
def test_a_key_that_is_no_key_is_not_sent(key: str) -> None:
    play = Play(FINE, api_key=lambda: key)
    with pytest.raises(UsageError) as caught:
        asyncio.run(play.talk())
    assert "hunter2" not in str(caught.value)
    assert play.requests == []


def test_a_reply_has_all_that_the_ledger_wants() -> None:
    got = Play(FINE, price=Price(input=2.0, cached=1.0, output=8.0)).reply()
    assert got.seconds > 0
    assert (got.text, got.finish, got.model, got.request_id) == ("Hi.", "stop", "m-1-0101", "r-1")
    assert got.usage == Usage(calls=1, input_tokens=10, cached_tokens=4, output_tokens=3, nano_usd=40_000)


def test_a_reply_without_usage_is_charged_at_worst() -> None:
    got = Play(Act(reply(completion(usage=None)))).reply()
    assert got.usage == Usage(calls=1, input_tokens=64 + 32 + 9 + 13, output_tokens=64)
    assert got.request_id == "c-1"


@pytest.mark.parametrize(
    ("finish", "read"), [("stop", "stop"), (None, "unknown"), ("eos", "unknown"), ("tool_calls", "tool")]
)
def test_how_the_model_ended_is_told(finish: str | None, read: str) -> None:
    assert Play(said("Hi.", finish)).reply().finish == read


def test_a_stream_is_joined() -> None:
    frames = (
        b": hello\n\n",
        delta(""),
        delta("Hi"),
        delta("."),
        delta("", "stop"),
        event(choices=[], usage=USAGE),
        DONE,
    )
    for whole in (chunked(*frames) + END, b"HTTP/1.1 200 OK\r\n\r\n" + b"".join(frames)):
        got = Play(Act(whole, "close"), stream=True).reply()
        assert (got.text, got.finish, got.model) == ("Hi.", "stop", "m-1-0101")
        assert got.usage == Usage(calls=1, input_tokens=10, cached_tokens=4, output_tokens=3)


def test_a_server_that_does_not_stream_is_understood() -> None:
    assert Play(FINE, stream=True).reply().text == "Hi."


def test_a_chunked_reply_is_whole() -> None:
    body = completion()
    assert Play(Act(chunked(body[:7], body[7:50], body[50:]) + END)).reply().text == "Hi."


def test_calls_share_a_connection() -> None:
    play = Play(FINE)
    asyncio.run(play.talk((REQUEST,) * 10))
    assert (play.connections, len(play.requests)) == (1, 10)


def test_a_redirect_is_not_followed_and_the_key_stays_home() -> None:
    async def scenario() -> None:
        async with RawServer(FINE) as elsewhere:
            location = f"Location: {elsewhere.base_url}/chat/completions\r\n".encode()
            with pytest.raises(RefusedError, match="redirect"):
                await Play(Act(reply(b"", 307, location))).talk()
            assert elsewhere.connections == 0

    asyncio.run(scenario())


@pytest.mark.parametrize(
    ("act", "error", "says"),
    [
        (said(""), EmptyReplyError, "no text"),
        (said(None), EmptyReplyError, "no text"),
        (said(" \n"), EmptyReplyError, "no text"),
        (said(None, "tool_calls"), EmptyReplyError, "tool_calls"),
        (said("Half an ans", "length"), TruncatedError, "64 tokens"),
        (said(None, "length"), TruncatedError, "64 tokens"),
        (said("Half", "content_filter"), RefusedError, "declined"),
        (said(None, "stop", refusal="I would rather not."), RefusedError, "I would rather not"),
        (Act(reply(b"")), UnavailableError, "not a chat completion"),
        (Act(reply(b"<html>")), UnavailableError, "not a chat completion"),
        (Act(reply(completion(choices=[]))), UnavailableError, "no choices"),
        (Act(b"nonsense\r\n\r\n", "close"), UnavailableError, "not HTTP"),
    ],
)
def test_what_is_no_answer_is_never_one(act: Act, error: type[ProviderError], says: str) -> None:
    raised = Play(act).error()
    assert type(raised) is error
    assert says in str(raised)
    assert raised.hint


@pytest.mark.parametrize(
    "act",
    [
        Act(chunked(delta("Hi."), delta("", "stop")) + END),
        Act(chunked(delta("Hi.", "stop"), DONE), "close"),
        Act(chunked(delta("Hi.")), "close"),
        Act(b"HTTP/1.1 200 OK\r\n\r\n" + delta("Hi.", "stop"), "close"),
        Act(chunked(delta("Hi.")), "reset"),
    ],
)
def test_a_cut_stream_is_no_answer(act: Act) -> None:
    assert type(Play(act, stream=True).error()) is UnavailableError


def test_a_rate_limit_says_when_to_come_back() -> None:
    raised = Play(Act(reply(b"{}", 429, b"Retry-After: 7\r\n"))).error()
    assert (raised.status, raised.retry_after, raised.retryable) == (429, 7.0, True)


@pytest.mark.parametrize(
    ("play", "says"),
    [
        (Play(Act(b"", "hang"), timeout=0.1), "did not answer"),
        (Play(Act(b"HTTP/1.1 200 OK\r\n", "hang"), timeout=0.1), "did not finish"),
        (Play(Act(chunked(delta("Hi")), "hang"), stream=True, stall_seconds=0.1), "fell silent"),
        (Play(Act(chunked(delta("Hi")), "hang"), stream=True, timeout=0.1), "did not finish"),
        (Play(Act(reply(completion())[:-1], "hang"), timeout=0.15, stall_seconds=0.05), "did not finish"),
    ],
)
def test_a_server_that_hangs_is_left(play: Play, says: str) -> None:
    raised = play.error()
    assert type(raised) is UnavailableError
    assert says in str(raised)


def test_cancelling_a_call_closes_its_connection() -> None:
    async def scenario() -> None:
        async with RawServer(Act(b"", "hang")) as server:
            chat = OpenAIChat(OpenAISettings(base_url=server.base_url, model="m-1"), api_key=KEY)
            task = asyncio.create_task(chat.send(REQUEST))
            await server.asked.wait()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            async with asyncio.timeout(30):
                await server.left.wait()
            await chat.close()

    asyncio.run(scenario())


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("kind", [kind for kind, facts in FAULTS.items() if facts.error is not None])
def test_every_fault_of_the_scripted_server_has_its_error(kind: FaultKind, *, stream: bool) -> None:
    async def scenario() -> None:
        async with ScriptedServer() as server:
            patience = 0.15 if kind in {FaultKind.HANG, FaultKind.HANG_STREAM} else 20.0
            settings = OpenAISettings(
                base_url=server.url(f"echo,kinds={kind.value}"), model="m-1", stream=stream, timeout=patience
            )
            chat = OpenAIChat(settings, api_key=KEY)
            try:
                with pytest.raises(ProviderError) as caught:
                    await chat.send(REQUEST)
            finally:
                await chat.close()
            wanted = TruncatedError if kind is FaultKind.LENGTH else FAULTS[kind].error
            assert wanted is not None
            assert isinstance(caught.value, wanted)
            assert "127.0.0.1" in str(caught.value)

    asyncio.run(scenario())


def test_a_lost_connection_is_one_request_to_the_server_as_it_is_to_the_ledger() -> None:
    async def scenario() -> None:
        async with ScriptedServer() as server:
            scenario_name = "echo,at=2:crash"
            chat = OpenAIChat(OpenAISettings(base_url=server.url(scenario_name), model="m-1"), api_key=KEY)
            await chat.send(REQUEST)
            with pytest.raises(UnavailableError):
                await chat.send(REQUEST)
            await chat.send(REQUEST)
            await chat.close()
            assert server.stats(scenario_name)["target"].requests == 3

    asyncio.run(scenario())


ECHO = f"You said {KEY}: wrong, {KEY}!".encode()


@pytest.mark.parametrize(
    "make",
    [
        *(
            lambda status=status: Act(reply(b'{"error":{"message":"%b","code":"%b"}}' % (ECHO, KEY.encode()), status))
            for status in (200, 307, 400, 401, 402, 404, 413, 429, 500, 503)
        ),
        lambda: Act(reply(ECHO, 500)),
        lambda: Act(reply(b"x" * 290 + ECHO, 400)),
        lambda: Act(reply(ECHO)),
        lambda: said(None, "stop", refusal=ECHO.decode()),
        lambda: said("", KEY),
        lambda: Act(ECHO + b"\r\n\r\n", "close"),
        lambda: Act(b"HTTP/1.1 200 " + ECHO + b"\r\nX-Echo: " + ECHO + b"\r\nContent-Length: 1\r\n\r\n", "close"),
    ],
)
def test_no_error_repeats_the_key(make: Callable[[], Act]) -> None:
    with pytest.raises(SkilloptError) as caught:
        asyncio.run(Play(make(), headers={"x-gateway": KEY}).talk())
    shown = "".join(traceback.format_exception(caught.value)) + repr(caught.value) + str(vars(caught.value))
    assert "hunter2" not in shown
