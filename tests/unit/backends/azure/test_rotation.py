"""Rotation over scripted chats: whose turn it is, and what is never asked twice. On the wire: tests/wire/test_azure."""

from __future__ import annotations

import asyncio

import pytest

from skillopt.backends.azure.rotation import Rotation
from skillopt.domain.chat import ChatRequest, Message
from skillopt.domain.errors import UnavailableError
from skillopt.testing.clock import run_virtual
from skillopt.testing.scripted import ScriptedChat

REQUEST = ChatRequest(messages=(Message("user", "hello"),), max_tokens=50)


def chats(*scenarios: str) -> list[ScriptedChat]:
    return [ScriptedChat.from_scenario(scenario, timeout=3.0) for scenario in scenarios]


def test_one_that_failed_is_asked_again_after_its_rest() -> None:
    async def scenario() -> None:
        broken, sound = chats("echo,kinds=unavailable,repeats=1", "echo")
        rotation = Rotation([broken, sound])
        with pytest.raises(UnavailableError):
            await rotation.send(REQUEST)
        for _ in range(4):
            await rotation.send(REQUEST)
        assert (broken.calls, sound.calls) == (1, 4)
        await asyncio.sleep(31)
        for _ in range(4):
            await rotation.send(REQUEST)
        assert (broken.calls, sound.calls) == (3, 6)
        await rotation.close()

    run_virtual(scenario())


def test_it_is_the_model_that_its_chats_are() -> None:
    one, other = chats("echo", "echo")
    rotation = Rotation([one, other])
    assert rotation.identity == one.identity
    assert rotation.worst(REQUEST) == one.worst(REQUEST)
    assert rotation.timeout == 6.0
