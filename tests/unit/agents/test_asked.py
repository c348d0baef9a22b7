from __future__ import annotations

import asyncio
import hashlib
from pathlib import Path

import msgspec
import pytest

from skillopt.agents.asked import CliChat, told
from skillopt.domain.chat import ChatRequest, Image, JsonSchema, Message, Reply
from skillopt.domain.errors import (
    AuthError,
    CrashedError,
    EmptyReplyError,
    NotLoggedInError,
    RefusedError,
    SkilloptError,
    TruncatedError,
    UnavailableError,
)
from skillopt.domain.usage import Price, Usage
from tests.unit.agents.programs import ScriptedAdapter, ScriptedSettings, Turnstile, team

SYSTEM, HELLO = Message("system", "Be kind."), Message("user", "Hello?")
REQUEST = ChatRequest(messages=(SYSTEM, HELLO), max_tokens=100)


def asked(folder: Path, code: str, request: ChatRequest = REQUEST, **settings: object) -> Reply:
    async def scene() -> Reply:
        chat = CliChat(team(folder, code, settings=msgspec.convert(settings, ScriptedSettings), key="sk-secret"))
        try:
            return await chat.send(request)
        finally:
            await chat.close()

    return asyncio.run(scene())


def test_one_message_is_the_prompt_and_the_system_text_is_apart(tmp_path: Path) -> None:
    reply = asked(tmp_path, "print(os.environ['SYSTEM'], '|', prompt, '|', os.environ['KEY'])")
    assert reply.text == "Be kind. | Hello? | sk-secret\n"
    assert reply.usage == Usage(calls=1)
    assert reply.transcript is None


def test_of_several_turns_each_stands_under_who_said_it() -> None:
    turns = (SYSTEM, HELLO, Message("assistant", "Yes?"), Message("user", "Add 1 and 1."))
    assert told(turns) == "# They said\n\nHello?\n\n# You said\n\nYes?\n\n# They said\n\nAdd 1 and 1."
    assert told((SYSTEM, HELLO)) == "Hello?"


def test_it_is_asked_in_an_empty_folder_as_no_agent_and_nothing_is_left(tmp_path: Path) -> None:
    adapter = ScriptedAdapter()

    async def scene() -> str:
        chat = CliChat(team(tmp_path, "print(os.listdir())", adapter=adapter))
        text = (await chat.send(REQUEST)).text
        await chat.close()
        return text

    assert asyncio.run(scene()) == "[]\n"
    (job,) = adapter.jobs
    assert (job.agent, job.skill, job.schema, job.confined) == (None, "", None, False)
    assert not any(Path(place).exists() for place in (job.work, job.home))


IMAGE = Image(media_type="image/png", digest=hashlib.sha256(b"x").hexdigest(), fetch=lambda: b"x")


@pytest.mark.parametrize(
    ("request_", "lacks"),
    [
        (ChatRequest(messages=(Message("user", "What?", images=(IMAGE,)),), max_tokens=9), "no images"),
        (msgspec.structs.replace(REQUEST, schema=JsonSchema(name="s", definition="{}")), "no schema"),
    ],
)
def test_what_a_prompt_cannot_say_is_refused_and_never_left_out(
    tmp_path: Path, request_: ChatRequest, lacks: str
) -> None:
    started = tmp_path / "started"
    with pytest.raises(RefusedError, match=lacks):
        asked(tmp_path, f"open({str(started)!r}, 'w')", request_)
    assert not started.exists()


def problem(cause: str) -> str:
    return f"print(json.dumps({{'problem': {{'cause': {cause!r}, 'message': 'no'}}}}))"


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        (problem("auth"), AuthError),
        (problem("login"), NotLoggedInError),
        (problem("unavailable"), UnavailableError),
        (problem("truncated"), TruncatedError),
        (problem("filtered"), RefusedError),
        ("print('42', flush=True); sys.exit(3)", CrashedError),
        ("print(' ')", EmptyReplyError),
        (problem("empty"), EmptyReplyError),
    ],
)
def test_what_is_no_answer_says_who_must_act(tmp_path: Path, code: str, kind: type[SkilloptError]) -> None:
    with pytest.raises(kind) as raised:
        asked(tmp_path, code)
    assert type(raised.value) is kind


def test_at_its_timeout_it_is_unavailable_and_may_be_asked_again(tmp_path: Path) -> None:
    with pytest.raises(UnavailableError, match="was ended") as raised:
        asked(tmp_path, "print('42', flush=True)\nwhile True: time.sleep(60)", timeout=1.0)
    assert raised.value.retryable


def test_an_empty_reply_costs_what_the_program_says(tmp_path: Path) -> None:
    with pytest.raises(EmptyReplyError) as raised:
        asked(tmp_path, "print(json.dumps({'text': '', 'usage': {'calls': 1, 'output_tokens': 4}}))")
    assert raised.value.usage == Usage(calls=1, output_tokens=4)


def test_many_are_asked_at_once_and_each_gets_its_own_answer(tmp_path: Path) -> None:
    async def scene() -> list[str]:
        chat = CliChat(team(tmp_path, "print(prompt, end='')"))
        requests = [ChatRequest(messages=(Message("user", str(number)),), max_tokens=9) for number in range(12)]
        replies = await asyncio.gather(*map(chat.send, requests))
        await chat.close()
        return [reply.text for reply in replies]

    assert asyncio.run(scene()) == [str(number) for number in range(12)]


def test_as_many_are_asked_at_once_as_may_and_no_more(tmp_path: Path) -> None:
    async def scene() -> int:
        turnstile = Turnstile(3)
        chat = CliChat(team(tmp_path, "print(prompt)", grounds=turnstile), at_once=3)
        async with asyncio.timeout(60):
            await asyncio.gather(*(chat.send(REQUEST) for _ in range(6)))
        await chat.close()
        return turnstile.most

    assert asyncio.run(scene()) == 3


def test_a_question_of_many_turns_is_reserved_at_all_that_the_program_is_told(tmp_path: Path) -> None:
    turns = (Message("user", "a"), Message("assistant", "b")) * 5_000
    worst = CliChat(team(tmp_path, "")).worst(ChatRequest(messages=turns, max_tokens=9))
    assert worst.input_tokens >= len(told(turns).encode())


def test_a_question_is_reserved_at_what_is_read_and_may_be_written(tmp_path: Path) -> None:
    settings = ScriptedSettings(price=Price(input=1.0, output=1.0), timeout=9.0, effort="low")
    chat = CliChat(team(tmp_path, "", settings=settings))
    worst = chat.worst(REQUEST)
    assert worst.output_tokens == REQUEST.max_tokens
    assert worst.input_tokens >= len(SYSTEM.content) + len(HELLO.content)
    assert worst.nano_usd == worst.tokens * 1000
    assert (chat.timeout, chat.identity.sampling) == (9.0, "low")
