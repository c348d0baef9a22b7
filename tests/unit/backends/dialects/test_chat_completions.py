"""The chat-completions dialect: exact request bytes, and replies of every shape servers are known to send."""

from __future__ import annotations

import json

import msgspec
import pytest

from skillopt.backends.dialects.chat_completions import read_completion, read_stream
from skillopt.backends.dialects.chat_turns import TURNS
from skillopt.backends.dialects.reply import Bill, Completion, Malformed
from skillopt.backends.dialects.request import Names, RequestWriter
from skillopt.backends.faults import Complaint
from skillopt.domain.chat import ChatRequest, Message, Role
from skillopt.domain.errors import RefusedError

REQUEST = ChatRequest(
    messages=(Message("system", "Be “brief”.\n"), Message("user", 'Say "hi"\u2028\x01')), max_tokens=16
)
BILL = Bill(input_tokens=10, cached_tokens=4, output_tokens=3)
USAGE = {"prompt_tokens": 10, "completion_tokens": 3, "total_tokens": 13, "prompt_tokens_details": {"cached_tokens": 4}}


def body(**changes: object) -> bytes:
    choice = {"index": 0, "message": {"role": "assistant", "content": "Hi."}, "finish_reason": "stop"}
    return json.dumps({"id": "c-1", "model": "m-1-0101", "choices": [choice], "usage": USAGE, **changes}).encode()


def chunk(**changes: object) -> bytes:
    return b"data: " + json.dumps({"id": "c-1", "model": "m-1-0101", **changes}).encode() + b"\n\n"


def delta(text: str | None, finish: str | None = None, index: int = 0) -> bytes:
    return chunk(choices=[{"index": index, "delta": {"content": text}, "finish_reason": finish}], usage=None)


def test_a_request_is_these_bytes() -> None:
    writer = RequestWriter("m-1", Names(), TURNS)
    assert (
        writer.body(REQUEST, temperature=None, seed=None)
        == (
            '{"model":"m-1","messages":[{"role":"system","content":"Be “brief”.\\n"},'
            '{"role":"user","content":"Say \\"hi\\"\u2028\\u0001"}],"max_tokens":16}'
        ).encode()
    )


@pytest.mark.parametrize(
    ("own", "temperature", "seed", "end"),
    [
        ({}, None, None, b'],"max_tokens":16}'),
        ({}, 0.0, 0, b'],"max_tokens":16,"temperature":0.0,"seed":0}'),
        ({"temperature": 0.0, "seed": 0}, 0.7, 7, b'],"max_tokens":16,"temperature":0.0,"seed":0}'),
        ({"temperature": 1.5}, 0.7, 7, b'],"max_tokens":16,"temperature":1.5,"seed":7}'),
    ],
)
def test_a_request_speaks_before_the_settings(
    own: dict[str, float], temperature: float | None, seed: int | None, end: bytes
) -> None:
    request = msgspec.structs.replace(REQUEST, **own)
    written = RequestWriter("m-1", Names(), TURNS).body(request, temperature=temperature, seed=seed)
    assert written.endswith(end)


def test_constants_come_last() -> None:
    writer = RequestWriter('m"1', Names(limit="max_completion_tokens"), TURNS, constants=b',"top_p":0.5')
    written = writer.body(REQUEST, temperature=None, seed=None)
    assert written.startswith(b'{"model":"m\\"1",')
    assert written.endswith(b'],"max_completion_tokens":16,"top_p":0.5}')


def test_kept_prompts_never_answer_for_another() -> None:
    writer = RequestWriter("m-1", Names(), TURNS)
    prompts = [f"Skill {number % 20}." for number in range(100)]
    for prompt in prompts:
        request = ChatRequest(messages=(Message("system", prompt), Message("user", "x")), max_tokens=1)
        sent = json.loads(writer.body(request, temperature=None, seed=None))
        assert sent["messages"] == [{"role": "system", "content": prompt}, {"role": "user", "content": "x"}]


def test_the_same_text_in_another_role_stays_in_its_role() -> None:
    writer = RequestWriter("m-1", Names(), TURNS)
    request = ChatRequest(
        messages=(Message("system", "x"), Message("user", "x"), Message("assistant", "x")), max_tokens=1
    )
    for _ in range(2):
        sent = json.loads(writer.body(request, temperature=None, seed=None))
        assert [message["role"] for message in sent["messages"]] == ["system", "user", "assistant"]


@pytest.mark.parametrize("role", ["system", "user"])
def test_half_a_character_is_refused(role: Role) -> None:
    request = msgspec.structs.replace(REQUEST, messages=(Message(role, "\ud83d"),))
    with pytest.raises(RefusedError, match="lone surrogate"):
        RequestWriter("m-1", Names(), TURNS).body(request, temperature=None, seed=None)


def test_a_reply_is_read() -> None:
    assert read_completion(body()) == Completion(text="Hi.", finish="stop", model="m-1-0101", id="c-1", bill=BILL)


@pytest.mark.parametrize(
    ("message", "text", "refusal"),
    [
        ({"content": None}, "", ""),
        ({}, "", ""),
        ({"content": "a", "reasoning_content": "hidden", "tool_calls": None, "audio": None}, "a", ""),
        ({"content": [{"type": "thinking", "thinking": []}, {"type": "text", "text": "a"}, {"type": "text"}]}, "a", ""),
        ({"content": None, "refusal": "no"}, "", "no"),
    ],
)
def test_a_message_is_read_past_what_is_unknown(message: dict[str, object], text: str, refusal: str) -> None:
    found = read_completion(body(choices=[{"message": message, "finish_reason": None, "logprobs": None}]))
    assert isinstance(found, Completion)
    assert (found.text, found.refusal, found.finish) == (text, refusal, "")


@pytest.mark.parametrize(
    ("usage", "bill"),
    [
        (None, None),
        ({}, None),
        ({"prompt_tokens": 10}, None),
        ({"prompt_tokens": None, "completion_tokens": None}, None),
        ({"prompt_tokens": -1, "completion_tokens": 3}, None),
        ({"prompt_tokens": 10, "completion_tokens": 3}, Bill(input_tokens=10, cached_tokens=0, output_tokens=3)),
        ({**USAGE, "prompt_tokens_details": None}, Bill(input_tokens=10, cached_tokens=0, output_tokens=3)),
        (
            {**USAGE, "prompt_tokens_details": {"cached_tokens": None}},
            Bill(input_tokens=10, cached_tokens=0, output_tokens=3),
        ),
        (
            {**USAGE, "prompt_tokens_details": {"cached_tokens": 99}},
            Bill(input_tokens=10, cached_tokens=10, output_tokens=3),
        ),
        # reasoning that the completion leaves out is billed all the same
        ({**USAGE, "total_tokens": 113}, Bill(input_tokens=10, cached_tokens=4, output_tokens=103)),
        ({**USAGE, "total_tokens": 5}, BILL),
    ],
)
def test_usage_is_what_is_billed_or_unknown(usage: object, bill: Bill | None) -> None:
    found = read_completion(body(usage=usage))
    assert isinstance(found, Completion)
    assert found.bill == bill


@pytest.mark.parametrize(
    "broken",
    [
        b"",
        b"null",
        b"[]",
        b"{}",
        b'{"choices":[',
        b'{"choices":[{"message":{"content":"<html>',
        b"<html>",
        b'{"choices":[{"message":{"content":"\xff"}}]}',
        body(choices=[]),
        body(choices=None),
        body(choices=[{"finish_reason": "stop"}]),
        body(choices=[{"message": {"content": 7}}]),
        b'{"x":' + b"[" * 100_000,
    ],
)
def test_a_malformed_reply_is_no_completion(broken: bytes) -> None:
    assert isinstance(read_completion(broken), Malformed)


@pytest.mark.parametrize(
    "failed",
    [
        b'{"error":{"message":"down","code":502}}',
        body(error={"message": "down", "code": 502}),
        b'{"object":"error","message":"down","code":502}',
        body(
            choices=[{"message": {"content": ""}, "finish_reason": "error", "error": {"message": "down", "code": 502}}]
        ),
    ],
)
def test_an_error_in_a_reply_is_a_complaint(failed: bytes) -> None:
    assert read_completion(failed) == Complaint(message="down", code="502")


@pytest.mark.parametrize("nothing", [None, {}, ""])
def test_an_error_field_that_says_nothing_is_none(nothing: object) -> None:
    assert isinstance(read_completion(body(error=nothing)), Completion)


STREAM = (
    b": a comment\n\n"
    + delta("")
    + delta("Hi")
    + delta(" there.")
    + delta("not this", index=1)
    + delta(None, "stop")
    + chunk(choices=[], usage=USAGE)
    + b"data: [DONE]\n\n"
)
STREAMED = Completion(text="Hi there.", finish="stop", model="m-1-0101", id="c-1", bill=BILL)


@pytest.mark.parametrize(
    "stream",
    [
        STREAM,
        STREAM.replace(b"\n", b"\r\n"),
        STREAM.replace(b"data: ", b"data:"),
        STREAM.replace(b"data: ", b"event: message\nid: 3\ndata: "),
        STREAM.removesuffix(b"\n"),
        STREAM.removesuffix(b"\n\n"),
        STREAM + b"data: after the end\n\n",
        STREAM.replace(b'{"id": "c-1", ', b'{"id": "c-1",\ndata: '),
    ],
)
def test_a_stream_is_read_whatever_its_line_ends(stream: bytes) -> None:
    assert read_stream(stream) == STREAMED


def test_a_stream_without_usage_has_no_bill() -> None:
    found = read_stream(delta("a", "stop") + b"data: [DONE]\n\n")
    assert isinstance(found, Completion)
    assert found.bill is None


@pytest.mark.parametrize("keep", [0.0, 0.3, 0.6, 0.9])
def test_a_stream_without_its_end_mark_was_cut(keep: float) -> None:
    cut = STREAM[: int(len(STREAM) * keep)]
    assert isinstance(read_stream(cut), Malformed)
    assert read_stream(STREAM.removesuffix(b"data: [DONE]\n\n")) == Malformed("was cut: its stream has no end mark")


def test_a_broken_chunk_breaks_the_stream() -> None:
    assert isinstance(read_stream(delta("a") + b"data: <html>\n\n" + b"data: [DONE]\n\n"), Malformed)


@pytest.mark.parametrize(
    "failed",
    [
        chunk(error={"message": "down", "code": 502}),
        chunk(choices=[{"index": 0, "delta": {}, "error": {"message": "down", "code": 502}}]),
    ],
)
def test_an_error_in_a_stream_is_a_complaint(failed: bytes) -> None:
    assert read_stream(delta("a") + failed + b"data: [DONE]\n\n") == Complaint(message="down", code="502")
