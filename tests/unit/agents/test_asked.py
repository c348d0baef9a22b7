"""A program that is asked once says by name what one prompt cannot hold; what it answers is in tests/agents_real."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from skillopt.agents.asked import CliChat, told
from skillopt.agents.codex.adapter import Codex, CodexSettings
from skillopt.agents.finding import Program
from skillopt.agents.grounds import Unconfined
from skillopt.agents.team import Team
from skillopt.domain.chat import ChatRequest, Image, JsonSchema, Message, Tool, ToolCall
from skillopt.domain.errors import RefusedError

TEXT = Message("user", "What is it?")
SHOWN = Message("user", "What is it?", (Image(media_type="image/png", digest="d", fetch=lambda: b""),))


@pytest.mark.parametrize(
    ("request_", "says"),
    [
        (ChatRequest(messages=(SHOWN,), max_tokens=1), "no images"),
        (ChatRequest(messages=(TEXT,), max_tokens=1, schema=JsonSchema(name="s", definition="{}")), "no schema"),
        (
            ChatRequest(messages=(SHOWN,), max_tokens=1, tools=(Tool(name="t", description="", parameters="{}"),)),
            "no images and no tools",
        ),
        (
            ChatRequest(
                messages=(TEXT, Message("assistant", "", calls=(ToolCall(id="c", name="t", arguments="{}"),))),
                max_tokens=1,
            ),
            "no tools",
        ),
    ],
)
def test_what_a_prompt_cannot_say_is_refused_before_anything_is_started(request_: ChatRequest, says: str) -> None:
    program = Program(path=Path("/nowhere/codex"), version="0", readable=(), search="")
    settings = CodexSettings(model="m", base_url="http://127.0.0.1:1/v1")
    chat = CliChat(Team(adapter=Codex(), program=program, grounds=Unconfined(), settings=settings, key=None))

    async def ask() -> None:
        try:
            await chat.send(request_)
        finally:
            await chat.close()

    with pytest.raises(RefusedError, match=f"codex is asked by one prompt, which has {says}\\."):
        asyncio.run(ask())


def test_a_conversation_is_told_in_one_prompt() -> None:
    assert told((Message("system", "Be brief."), TEXT)) == "What is it?"
    talk = told((TEXT, Message("assistant", "A cat."), Message("user", "Sure?")))
    assert talk == "# They said\n\nWhat is it?\n\n# You said\n\nA cat.\n\n# They said\n\nSure?"
