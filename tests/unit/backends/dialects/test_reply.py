"""Every dialect: a reply that was cut anywhere is never an answer, and nothing a server says breaks a reader."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillopt.backends.dialects import chat_completions, messages, responses
from skillopt.backends.dialects.reply import Bill, Completion, Malformed, Reading, bounded, events, is_stream
from skillopt.testing.conversation import BrainReply
from skillopt.testing.server.anthropic_messages import AnthropicMessages
from skillopt.testing.server.openai_chat import OpenAIChat
from skillopt.testing.server.openai_completions import OpenAICompletions
from skillopt.testing.server.openai_responses import OpenAIResponses
from skillopt.testing.server.wire import Dialect

Reader = Callable[[bytes], Reading]
TEXT = "naïve 日本 🙂 text"
ASKED: dict[type, dict[str, object]] = {
    OpenAIChat: {"messages": [{"role": "user", "content": "hi"}], "stream_options": {"include_usage": True}},
    OpenAICompletions: {"prompt": "User: hi\nAssistant:", "stream_options": {"include_usage": True}},
    OpenAIResponses: {"input": "hi"},
    AnthropicMessages: {"messages": [{"role": "user", "content": "hi"}]},
}
READERS: dict[type, tuple[Reader, Reader]] = {
    OpenAIChat: (chat_completions.read_completion, chat_completions.read_stream),
    OpenAICompletions: (chat_completions.read_completion, chat_completions.read_stream),
    OpenAIResponses: (responses.read_response, responses.read_stream),
    AnthropicMessages: (messages.read_message, messages.read_stream),
}


def spoken(made: type[Dialect], *, stream: bool) -> bytes:
    """What a server of this dialect says."""
    dialect = made()
    call = dialect.read(json.dumps({"model": "m", "stream": stream, **ASKED[made]}).encode())
    said = BrainReply(text=TEXT)
    if stream:
        return b"".join(dialect.events(call, said, "r"))
    return json.dumps(dialect.reply(call, said, "r"), ensure_ascii=False).encode()


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("made", READERS)
def test_a_reply_cut_anywhere_is_no_answer(made: type[Dialect], *, stream: bool) -> None:
    body, read = spoken(made, stream=stream), READERS[made][stream]
    whole = read(body)
    assert isinstance(whole, Completion)
    assert whole.text == TEXT
    assert whole.bill is not None
    for length in range(len(body)):
        found = read(body[:length])
        assert isinstance(found, Malformed) or found == whole, body[:length]


@given(st.binary(max_size=200))
def test_no_bytes_break_a_reader(body: bytes) -> None:
    for readers in READERS.values():
        for read in readers:
            assert not isinstance(read(body), Completion)


NAMES = st.sampled_from(
    ["choices", "message", "content", "output", "usage", "type", "text", "error", "delta", "response", "input_tokens"]
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=4),
    max_leaves=12,
)


@given(JSON)
def test_no_json_breaks_a_reader(value: object) -> None:
    whole = json.dumps(value).encode()
    for read, read_stream in READERS.values():
        read(whole)
        read_stream(b"data: " + whole + b"\n\n")


def test_events_are_what_stands_after_data() -> None:
    body = b": note\nevent: x\ndata: 1\n\nid: 3\r\ndata:2\r\ndata: 3\r\n\r\n\n\ndata: 4"
    assert list(events(body)) == [b"1", b"2\n3", b"4"]


@pytest.mark.parametrize(("body", "stream"), [(b' \n{"a":1}', False), (b"data: {}", True), (b"", True)])
def test_a_stream_is_told_from_a_whole_reply(body: bytes, *, stream: bool) -> None:
    assert is_stream(body) is stream


@pytest.mark.parametrize("wrong", ["input_tokens", "cached_tokens", "output_tokens", "cache_written_tokens"])
def test_a_bill_with_less_than_nothing_is_none(wrong: str) -> None:
    fields = {"input_tokens": 1, "cached_tokens": 1, "output_tokens": 1, "cache_written_tokens": 1, wrong: -1}
    assert bounded(Bill(**fields)) is None
