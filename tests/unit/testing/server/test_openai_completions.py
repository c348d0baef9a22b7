from __future__ import annotations

from collections.abc import Callable
from typing import Any

Ask = Callable[..., Any]
HELLO = {"model": "m", "prompt": "Be kind.\n\nUser: hello there\nAssistant:"}


def test_a_completion_has_the_shape_of_one(ask: Ask) -> None:
    body = ask("/s/echo/v1/completions", HELLO).json()
    assert (body["object"], body["model"]) == ("text_completion", "m")
    assert body["choices"] == [{"index": 0, "text": "hello there", "finish_reason": "stop", "logprobs": None}]
    assert (body["usage"]["prompt_tokens"], body["usage"]["completion_tokens"]) == (5, 3)


def test_a_stream_ends_with_its_usage_and_its_mark(ask: Ask) -> None:
    asked = ask("/s/echo/v1/completions", {**HELLO, "stream": True, "stream_options": {"include_usage": True}})
    values = [value for _, value in asked.events()]
    chunks = [value for value in values if isinstance(value, dict)]
    assert "".join(choice["text"] for chunk in chunks for choice in chunk["choices"]) == "hello there"
    assert chunks[-1]["usage"]["completion_tokens"] == 3


def test_turns_are_told_by_their_first_words(ask: Ask) -> None:
    prompt = "Be kind.\n\nUser: one\nAssistant: two\nUser: three\nand more\nAssistant:"
    assert ask("/s/echo/v1/completions", {**HELLO, "prompt": prompt}).json()["choices"][0]["text"] == "three\nand more"
