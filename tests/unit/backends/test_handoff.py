"""Questions as files: what is written, what counts as an answer, and that nothing waits."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from skillopt.backends.handoff import LONGEST_ANSWER, HandoffChat, HandoffSettings
from skillopt.domain.chat import ChatRequest, Image, JsonSchema, Message, Reply, Tool
from skillopt.domain.errors import RefusedError, UnansweredError

REQUEST = ChatRequest(messages=(Message("system", "Be brief."), Message("user", "Say “hi”.")), max_tokens=64)
NAME = "95182f117715e5cb"  # of this question, since the first version


def ask(root: Path, request: ChatRequest = REQUEST, model: str = "handoff") -> Reply:
    async def whole() -> Reply:
        chat = HandoffChat(HandoffSettings(model=model), root)
        try:
            return await chat.send(request)
        finally:
            await chat.close()

    return asyncio.run(whole())


def left(root: Path) -> list[dict[str, object]]:
    pending = json.loads((root / "handoff" / "pending.json").read_text(encoding="utf-8"))
    assert pending["format"] == "skillopt.handoff.v1"
    questions = pending["pending"]
    assert isinstance(questions, list)
    return questions


def test_a_question_waits_until_it_is_answered(tmp_path: Path) -> None:
    with pytest.raises(UnansweredError, match="waits for its answer") as caught:
        ask(tmp_path)
    (question,) = left(tmp_path)
    assert str(question["answer_file"]) in str(caught.value.hint)
    assert question["max_tokens"] == 64
    assert question["messages"] == [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Say “hi”."},
    ]
    (tmp_path / "handoff" / str(question["answer_file"])).write_text("Hi.\n", encoding="utf-8")
    got = ask(tmp_path)
    assert (got.text, got.finish, got.request_id) == ("Hi.\n", "stop", question["id"])
    assert (got.usage.calls, got.usage.nano_usd) == (1, 0)
    assert left(tmp_path) == []
    assert ask(tmp_path).text == "Hi.\n"


@pytest.mark.parametrize(
    ("content", "says"),
    [(b"", "empty"), (b" \n", "empty"), (b"\xff\xfe", "not UTF-8"), (b"x" * (LONGEST_ANSWER + 1), "more than")],
)
def test_what_is_no_answer_still_waits(tmp_path: Path, content: bytes, says: str) -> None:
    with pytest.raises(UnansweredError):
        ask(tmp_path)
    (question,) = left(tmp_path)
    (tmp_path / "handoff" / str(question["answer_file"])).write_bytes(content)
    with pytest.raises(UnansweredError, match=says):
        ask(tmp_path)
    assert bool(left(tmp_path)) is not bool(content)


def test_roles_may_share_a_folder(tmp_path: Path) -> None:
    for model in ("one", "other"):
        with pytest.raises(UnansweredError):
            ask(tmp_path, model=model)
    assert sorted(str(question["model"]) for question in left(tmp_path)) == ["one", "other"]
    assert len({question["id"] for question in left(tmp_path)}) == 2


def test_the_folder_is_nobody_elses(tmp_path: Path) -> None:
    with pytest.raises(UnansweredError):
        ask(tmp_path)
    assert (tmp_path / "handoff").stat().st_mode & 0o777 == 0o700
    assert (tmp_path / "handoff" / ".gitignore").read_text() == "*\n"
    for file in (tmp_path / "handoff").rglob("*.json"):
        assert file.stat().st_mode & 0o777 == 0o600
    assert not list(tmp_path.rglob("*.part"))


def test_a_chat_that_asked_nothing_writes_nothing(tmp_path: Path) -> None:
    asyncio.run(HandoffChat(HandoffSettings(), tmp_path).close())
    assert list(tmp_path.iterdir()) == []


def test_half_a_character_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RefusedError, match="lone surrogate"):
        ask(tmp_path, ChatRequest(messages=(Message("user", "\ud83d"),), max_tokens=9))


def test_a_long_answer_counts_no_more_than_was_promised(tmp_path: Path) -> None:
    with pytest.raises(UnansweredError):
        ask(tmp_path)
    (question,) = left(tmp_path)
    (tmp_path / "handoff" / str(question["answer_file"])).write_text("word " * 1000, encoding="utf-8")
    worst = HandoffChat(HandoffSettings(), tmp_path).worst(REQUEST)
    assert ask(tmp_path).usage == worst


def test_images_are_files_beside_the_question(tmp_path: Path) -> None:
    image = Image(media_type="image/jpeg", digest="0123456789abcdef" * 4, fetch=lambda: b"jpeg")
    shown = ChatRequest(messages=(Message("user", "What is it?", (image,)),), max_tokens=64)
    with pytest.raises(UnansweredError):
        ask(tmp_path, shown)
    (question,) = left(tmp_path)
    assert question["messages"] == [{"role": "user", "content": "What is it?"}]
    assert question["images"] == ["images/0123456789abcdef.jpeg"]
    assert (tmp_path / "handoff" / "images" / "0123456789abcdef.jpeg").read_bytes() == b"jpeg"
    other = Image(media_type="image/jpeg", digest="f" * 64, fetch=lambda: b"other")
    with pytest.raises(UnansweredError):
        ask(tmp_path, ChatRequest(messages=(Message("user", "What is it?", (other,)),), max_tokens=64))
    assert len(left(tmp_path)) == 2
    (tmp_path / "handoff" / str(question["answer_file"])).write_text("A cat.", encoding="utf-8")
    assert ask(tmp_path, shown).text == "A cat."


def test_whoever_answers_is_told_the_schema(tmp_path: Path) -> None:
    schema = JsonSchema(name="said", definition='{"type":"object"}')
    with pytest.raises(UnansweredError):
        ask(tmp_path, ChatRequest(messages=REQUEST.messages, max_tokens=64, schema=schema))
    (question,) = left(tmp_path)
    assert question["schema"] == {"name": "said", "definition": '{"type":"object"}', "strict": True}


def test_a_question_of_text_is_named_as_it_always_was(tmp_path: Path) -> None:
    with pytest.raises(UnansweredError):
        ask(tmp_path)
    (question,) = left(tmp_path)
    assert (question["id"], sorted(question)) == (NAME, ["answer_file", "id", "max_tokens", "messages", "model"])


@pytest.mark.parametrize(
    "request_",
    [
        ChatRequest(messages=REQUEST.messages, max_tokens=1, tools=(Tool(name="t", description="", parameters="{}"),)),
        ChatRequest(messages=(*REQUEST.messages, Message("tool", "x", call_id="c")), max_tokens=1),
    ],
)
def test_tools_are_refused(tmp_path: Path, request_: ChatRequest) -> None:
    with pytest.raises(RefusedError, match="with tools cannot be left as a file"):
        ask(tmp_path, request_)
