from __future__ import annotations

import msgspec
import pytest

from skillopt.domain.chat import Reply, ToolCall
from skillopt.domain.errors import StoreError
from skillopt.domain.rollouts import Failure
from skillopt.domain.usage import Usage
from skillopt.kernel.events import Event, Mean, Measured, TaskScore, Warned
from skillopt.kernel.journal import Intent, PhaseRecord, Ref, Result
from skillopt.store import codec

USAGE = Usage(calls=1, input_tokens=2, cached_tokens=3, output_tokens=4, nano_usd=5)
REPLY = Reply(text="naïve 日本 \0 🙂", usage=USAGE, finish="length", model="m", request_id="r", seconds=1.5)
FAILURE = Failure(kind="AuthError", who="you", message="The key was refused.")


def measured(hard: float) -> Event:
    mean = Mean(hard=hard, soft=None, n=1)
    rows = (TaskScore("t", 0, hard, None), TaskScore("u", 1, None, None, "", "UnavailableError"))
    return Measured(label="best", split="val", skill_digest="d", mean=mean, by_type={"b": mean, "a": mean}, rows=rows)


@pytest.mark.parametrize(("run", "attempt"), [(1, 1), (1, 2**32 - 1), (2, 0), (2**31 - 1, 2**32 - 1)])
def test_references_fit_one_integer_in_order(run: int, attempt: int) -> None:
    packed = codec.pack(run, attempt)
    assert codec.unpack(packed) == Ref(run, attempt)
    assert packed < 2**63
    assert codec.span(run)[0] <= packed <= codec.span(run)[1] < codec.span(run + 1)[0]


@pytest.mark.parametrize("table", codec.COLUMNS)
def test_a_statement_has_a_place_for_each_column_of_each_row(table: str) -> None:
    columns = len(codec.COLUMNS[table].split(","))
    assert codec.insert(table, 3).count("?") == 3 * columns


def test_an_intent_comes_back_as_it_was() -> None:
    for speculative in (False, True):
        intent = Intent(attempt=7, key=b"\0key", role="judge", worst=USAGE, speculative=speculative)
        row = codec.intent_row(3, intent, 12.5)
        assert len(row) == len(codec.COLUMNS["intents"].split(","))
        assert codec.read_intent(row) == (intent, 12.5)


@pytest.mark.parametrize("value", [REPLY, FAILURE])
def test_a_result_comes_back_as_it_was(value: Reply | Failure) -> None:
    result = Result(attempt=7, key=b"\0key", charged=USAGE, value=value)
    encoded = codec.result_row(3, result, 12.5)
    assert encoded.blob is None
    assert len(encoded.row) == len(codec.COLUMNS["results"].split(","))
    body = encoded.row[-2]
    assert isinstance(body, bytes)
    assert codec.read_result(encoded.row, body) == (result, 12.5)
    assert (codec.answer_row(encoded.row) is None) == isinstance(value, Failure)


@pytest.mark.parametrize(("extra", "large"), [(0, False), (1, True)])
def test_only_a_large_body_leaves_its_row(extra: int, large: bool) -> None:
    around = len(codec.encode(Reply(text="x" * 30_000, usage=USAGE))) - 30_000
    text = "x" * (codec.LARGE_BODY - around + extra)
    result = Result(attempt=1, key=b"k", charged=USAGE, value=Reply(text=text, usage=USAGE))
    encoded = codec.result_row(1, result, 0.0)
    assert (encoded.blob is not None) is large
    assert (encoded.row[-2] is None, encoded.row[-1] is not None) == (large, large)
    if encoded.blob is not None:
        assert codec.decode_value(encoded.blob) == result.value


def test_a_phase_comes_back_as_it_was() -> None:
    record = PhaseRecord(path="step-1/rollout", outcomes=(Ref(1, 2), FAILURE, Ref(3, 4)))
    row = codec.phase_row(9, record, 1.0).row
    assert isinstance(row[-2], bytes)
    assert codec.decode_phase("step-1/rollout", row[-2]) == record


def test_equal_events_have_equal_bytes() -> None:
    assert codec.encode_event(measured(1)) == codec.encode_event(measured(1.0))
    assert codec.encode_event(measured(1)) != codec.encode_event(measured(0.5))
    assert codec.decode_event(codec.encode_event(measured(1))) == measured(1.0)


def test_what_cannot_be_written_is_refused() -> None:
    with pytest.raises(StoreError, match=r"cannot hold a Reply.*surrogate"):
        codec.encode(Reply(text="half a pair: \ud83d", usage=USAGE))
    with pytest.raises(StoreError, match="cannot hold a Warned"):
        codec.encode_event(Warned(message="\udc00"))


@pytest.mark.parametrize("body", [b"", b"\xc1", b"\x80", codec.encode(FAILURE)[:-1]])
def test_a_damaged_body_is_an_error(body: bytes) -> None:
    with pytest.raises(StoreError, match="cannot read"):
        codec.decode_value(body)
    with pytest.raises(StoreError, match="cannot read"):
        codec.decode_event(body)
    with pytest.raises(StoreError, match="cannot read"):
        codec.decode_phase("p", body)
    with pytest.raises(StoreError, match="cannot read"):
        codec.decode_stored(1, b"k", body)


def test_a_failure_is_never_read_as_an_answer() -> None:
    with pytest.raises(StoreError, match="cannot read"):
        codec.decode_stored(1, b"k", codec.encode(FAILURE))


def test_a_reply_of_the_first_version_reads_as_it_did() -> None:
    old = {"type": "reply", "text": "Hi.", "usage": msgspec.to_builtins(USAGE), "finish": "stop", "model": "m"}
    body = msgspec.msgpack.encode({**old, "request_id": "r", "seconds": 0.5, "reasoning_tokens": None})
    same = Reply(text="Hi.", usage=USAGE, model="m", request_id="r", seconds=0.5)
    assert codec.decode_value(body) == same
    assert len(codec.encode(same)) < len(body)


def test_calls_come_back_as_they_were() -> None:
    reply = Reply(text="", usage=USAGE, finish="tool", calls=(ToolCall(id="c", name="f", arguments="{"),))
    assert codec.decode_value(codec.encode(reply)) == reply
