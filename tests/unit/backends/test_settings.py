from __future__ import annotations

import msgspec
import pytest

from skillopt.backends.completions import CompletionsSettings
from skillopt.backends.openai_chat import OpenAISettings
from skillopt.backends.settings import StageSettings, encoded_constants, sampling
from skillopt.domain.errors import UsageError

PLAIN = {"backend": "openai", "base_url": "http://127.0.0.1:1/v1", "model": "m"}


@pytest.mark.parametrize("wrong", [{"max_tokens": 0}, {"timeout": 0}, {"stall_seconds": -1}])
def test_what_cannot_work_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(msgspec.ValidationError, match="more than 0"):
        msgspec.convert({**PLAIN, **wrong}, OpenAISettings)


@pytest.mark.parametrize("wrong", [{"max_tokens": 0}, {"timeout": 0}])
def test_a_stage_that_cannot_work_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(msgspec.ValidationError, match="more than 0"):
        msgspec.convert(wrong, StageSettings)


def test_a_stage_cannot_change_what_its_model_does_not_have() -> None:
    stages = {"rewrite": {"reasoning_effort": "high"}}
    msgspec.convert({**PLAIN, "stages": stages}, OpenAISettings)
    with pytest.raises(msgspec.ValidationError, match=r"stages\.rewrite sets reasoning_effort"):
        msgspec.convert({**PLAIN, "backend": "completions", "stages": stages}, CompletionsSettings)


def test_a_stage_has_a_known_name() -> None:
    with pytest.raises(msgspec.ValidationError, match="rewrte"):
        msgspec.convert({**PLAIN, "stages": {"rewrte": {}}}, OpenAISettings)


def test_only_what_a_stage_sets_is_a_change() -> None:
    assert StageSettings().changes == {}
    assert StageSettings(temperature=0.0, max_tokens=9).changes == {"temperature": 0.0, "max_tokens": 9}


def test_constants_are_fields_after_a_comma() -> None:
    assert encoded_constants({}, {}, ()) == b""
    assert encoded_constants({"a": 1}, {"b": [2]}, ("c",)) == b',"a":1,"b":[2]'
    with pytest.raises(UsageError, match="c, d"):
        encoded_constants({}, {"d": 1, "c": 1, "e": 1}, ("c", "d"))


def test_sampling_has_one_spelling_and_leaves_out_what_changes_nothing() -> None:
    assert sampling({"b": {"y": 1, "x": 0}, "a": 0.0, "n": None, "e": {}}) == '{"a":0.0,"b":{"x":0,"y":1}}'


def test_no_repr_shows_a_header() -> None:
    shown = msgspec.convert({**PLAIN, "headers": {"x-key": "hunter2"}}, OpenAISettings)
    assert "hunter2" not in repr(shown)
