"""Presets: what is particular about each server, and whose key goes where."""

from __future__ import annotations

import json
import typing

import msgspec
import pytest

from skillopt.backends.http import parse_url
from skillopt.backends.openai_chat import OpenAIChat, OpenAISettings
from skillopt.backends.providers.presets import ANY_SERVER, PRESETS, PresetName, preset_of, usual_key

LOCAL = {"vllm", "ollama", "llama_cpp", "lm_studio"}


def settings(**given: object) -> OpenAISettings:
    return msgspec.convert({"backend": "openai", "model": "m-1", **given}, OpenAISettings)


def extra_body(chosen: OpenAISettings) -> object:
    return json.loads(OpenAIChat(chosen).identity.sampling).get("extra_body")


def test_every_name_has_its_preset() -> None:
    assert set(PRESETS) == set(typing.get_args(PresetName))
    assert preset_of(None) is ANY_SERVER


@pytest.mark.parametrize("name", sorted(PRESETS))
def test_a_preset_is_enough_to_reach_a_server(name: PresetName) -> None:
    url = parse_url(settings(preset=name).address)
    assert url.is_loopback is (name in LOCAL)
    assert (url.scheme == "https") is not url.is_loopback
    assert usual_key(url.host) == PRESETS[name].key
    assert (PRESETS[name].key is None) is (name in LOCAL)


@pytest.mark.parametrize("host", ["api.openai.com.evil.org", "evil-api.openai.com", "openai.com", "127.0.0.1", ""])
def test_a_host_that_looks_alike_has_no_usual_key(host: str) -> None:
    assert usual_key(host) is None


def test_anthropic_has_its_usual_key_too() -> None:
    assert usual_key("api.anthropic.com") == "ANTHROPIC_API_KEY"


def test_a_base_url_of_ones_own_comes_before_the_presets() -> None:
    assert settings(preset="vllm", base_url="http://10.0.0.1:9/v1").address == "http://10.0.0.1:9/v1"


@pytest.mark.parametrize("preset", ["vllm", "llama_cpp"])
def test_thinking_by_template(preset: str) -> None:
    assert extra_body(settings(preset=preset)) is None
    for word, think in (("enabled", True), ("disabled", False)):
        chosen = settings(preset=preset, thinking=word)
        assert extra_body(chosen) == {"chat_template_kwargs": {"enable_thinking": think}}


def test_thinking_of_minimax_and_deepseek() -> None:
    apart = {"reasoning_split": True}
    assert extra_body(settings(preset="minimax")) == apart
    assert extra_body(settings(preset="minimax", thinking="enabled")) == {**apart, "thinking": {"type": "adaptive"}}
    assert extra_body(settings(preset="minimax", thinking="disabled")) == {**apart, "thinking": {"type": "disabled"}}
    assert extra_body(settings(preset="deepseek", thinking="enabled")) == {"thinking": {"type": "enabled"}}


def test_what_is_written_out_comes_before_the_presets() -> None:
    chosen = settings(preset="minimax", extra_body={"reasoning_split": False})
    assert extra_body(chosen) == {"reasoning_split": False}


def test_regions_of_minimax() -> None:
    regions = PRESETS["minimax"].regions
    hosts = {name: parse_url(settings(preset="minimax", region=name).address).host for name in regions}
    assert hosts == {"global_en": "api.minimax.io", "cn_zh": "api.minimaxi.com"}
    assert {usual_key(host) for host in hosts.values()} == {"MINIMAX_API_KEY"}


def test_it_is_the_same_model_by_preset_or_by_hand() -> None:
    by_hand = settings(
        base_url="http://127.0.0.1:8000/v1", extra_body={"chat_template_kwargs": {"enable_thinking": False}}
    )
    assert OpenAIChat(settings(preset="vllm", thinking="disabled")).identity == OpenAIChat(by_hand).identity


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({}, "base_url is missing"),
        ({"preset": "opnai"}, "opnai"),
        ({"base_url": "http://127.0.0.1:1/v1", "thinking": "enabled"}, "no meaning without a preset"),
        ({"preset": "groq", "thinking": "disabled"}, "no meaning with preset groq"),
        ({"preset": "groq", "region": "cn_zh"}, "region 'cn_zh' is not one of this preset's: none"),
        ({"preset": "minimax", "region": "cn"}, "cn_zh, global_en"),
        ({"preset": "minimax", "region": "cn_zh", "base_url": "https://x.example/v1"}, "give one"),
        ({"preset": "minimax", "model": "MiniMax-M2.1", "thinking": "disabled"}, "thinks anyway"),
        ({"preset": "openai", "api": "responses", "seed": 3}, "no seed"),
        ({"preset": "openai", "thinking": "maybe"}, "maybe"),
    ],
)
def test_what_cannot_be_meant_is_refused(given: dict[str, object], says: str) -> None:
    with pytest.raises(msgspec.ValidationError, match=says):
        settings(**given)
