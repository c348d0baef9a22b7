from __future__ import annotations

import json

import pytest

from skillopt.testing.faults import FaultKind
from skillopt.testing.server.wire import Part, data_frame, fault_body, named_frame, pieces, refusal_body, text_of


@pytest.mark.parametrize("text", ["", "a", "ab", "abc", "abcd", "hello there", "日本語です"])
def test_pieces_join_to_the_text_and_are_at_most_three(text: str) -> None:
    assert "".join(pieces(text)) == text
    assert len(pieces(text)) <= 3
    assert all(pieces(text))


def test_content_may_be_nothing_a_text_or_parts() -> None:
    assert text_of(None) == ""
    assert text_of("a") == "a"
    assert text_of([Part("text", "a"), Part("image"), Part("text", "b")]) == "ab"


def test_frames_are_one_line_of_json_and_an_empty_line() -> None:
    assert data_frame({"a": "x\ny"}) == b'data: {"a":"x\\ny"}\n\n'
    assert named_frame("ping", {"n": 1}) == b'event: ping\ndata: {"type":"ping","n":1}\n\n'


@pytest.mark.parametrize("vendor", ["openai", "anthropic"])
def test_error_bodies_are_json_with_a_message(vendor: str) -> None:
    for body in (fault_body(vendor, FaultKind.AUTH, "r1"), refusal_body(vendor, "no", "r1")):
        error = body["error"]
        assert isinstance(error, dict)
        assert error["message"]
        json.dumps(body)
