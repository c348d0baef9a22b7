"""Tasks with images from file to score: a target that can only answer by looking, in memory and over the wire."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import json
from pathlib import Path

import pytest

from skillopt import aevaluate, evaluate
from skillopt.backends.openai_chat import OpenAIChat, OpenAISettings
from skillopt.domain.chat import ChatRequest, Reply
from skillopt.domain.errors import UsageError
from skillopt.testing.conversation import BrainReply, Conversation
from skillopt.testing.scripted import ScriptedChat
from tests.wire.raw_server import Act, RawServer, reply

SKILL = "# Look\n"
SPLIT = {"environment": {"split": {"ratio": [1, 1, 1]}}}
ANIMALS = ("cat", "dog", "hen")


def drawn(name: str) -> bytes:
    """Return a picture: nobody here sees, so its bytes tell what it shows."""
    return b"\x89PNG\r\n\x1a\n" + name.encode()


def write_tasks(folder: Path, animals: tuple[str, ...] = ANIMALS) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for number, name in enumerate(animals):
        (folder / f"{number}.png").write_bytes(drawn(name))
    rows = [
        {"id": f"t{number}", "input": f"What is it? ({number})", "images": [f"{number}.png"], "reference": name}
        for number, name in enumerate(ANIMALS)
    ]
    path = folder / "tasks.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


class Looker:
    """A brain that knows animals by the digests of their pictures, and counts what it is asked."""

    def __init__(self) -> None:
        self.asked = 0

    def __call__(self, conversation: Conversation) -> BrainReply:
        self.asked += 1
        known = {hashlib.sha256(drawn(name)).hexdigest(): name for name in ANIMALS}
        (image,) = conversation.turns[0].images
        return BrainReply(text=known[image])

    __qualname__ = "Looker"


def test_a_target_that_looks_is_right_and_answers_are_kept_by_what_was_shown(tmp_path: Path) -> None:
    tasks = write_tasks(tmp_path / "tasks")
    looker = Looker()

    def score() -> float | None:
        chat = ScriptedChat(looker)
        result = evaluate(
            skill=SKILL, tasks=tasks, attempt=chat, settings=SPLIT, workspace=tmp_path / "kept", version="1"
        )
        return result.score.hard

    assert (score(), looker.asked) == (1.0, 3)
    assert (score(), looker.asked) == (1.0, 3), "the same pictures were asked for again"
    write_tasks(tmp_path / "tasks", animals=("cat", "dog", "cat"))
    assert score() == pytest.approx(2 / 3), "an old answer was taken for a new picture"
    assert looker.asked == 4


def test_over_the_wire_the_model_is_sent_the_bytes(tmp_path: Path) -> None:
    tasks = write_tasks(tmp_path / "tasks")
    completion = {"choices": [{"message": {"content": "cat"}, "finish_reason": "stop"}], "model": "m"}
    server = RawServer(Act(reply(json.dumps(completion).encode())))

    async def run() -> float | None:
        async with server:
            chat = OpenAIChat(OpenAISettings(base_url=server.base_url, model="m", timeout=20.0))
            return (await aevaluate(skill=SKILL, tasks=tasks, attempt=chat, settings=SPLIT)).score.hard

    assert asyncio.run(run()) == pytest.approx(1 / 3)
    shown = set()
    for request in server.requests:
        sent = json.loads(request.partition(b"\r\n\r\n")[2])
        image, question = sent["messages"][-1]["content"]
        kind, _, data = image["image_url"]["url"].partition(";base64,")
        assert kind == "data:image/png"
        assert question["text"].startswith("What is it?")
        shown.add(base64.b64decode(data))
    assert shown == {drawn(name) for name in ANIMALS}


def test_a_picture_that_changes_under_way_ends_the_run_instead_of_answering_another_question(tmp_path: Path) -> None:
    tasks = write_tasks(tmp_path / "tasks")
    completion = {"choices": [{"message": {"content": "cat"}, "finish_reason": "stop"}], "model": "m"}

    class Meddler(OpenAIChat):
        """A chat beside which somebody edits the pictures."""

        async def send(self, request: ChatRequest) -> Reply:
            write_tasks(tmp_path / "tasks", animals=("elk", "elk", "elk"))
            return await super().send(request)

    async def run() -> None:
        async with RawServer(Act(reply(json.dumps(completion).encode()))) as server:
            chat = Meddler(OpenAISettings(base_url=server.base_url, model="m", timeout=20.0))
            await aevaluate(skill=SKILL, tasks=tasks, attempt=chat, settings=SPLIT)

    with pytest.raises(UsageError, match="has changed since this run read its tasks"):
        asyncio.run(run())


def test_a_function_is_given_names_and_opens_what_it_likes(tmp_path: Path) -> None:
    tasks = write_tasks(tmp_path / "tasks")
    (tmp_path / "tasks" / "0.png").write_bytes(b"II*\0 a TIFF, which no chat model takes")
    seen = []

    def attempt(_skill: str, task: object) -> str:
        seen.append(getattr(task, "images", ()))
        return "cat"

    assert evaluate(skill=SKILL, tasks=tasks, attempt=attempt, settings=SPLIT).score.hard == pytest.approx(1 / 3)
    assert sorted(seen) == [("0.png",), ("1.png",), ("2.png",)]
