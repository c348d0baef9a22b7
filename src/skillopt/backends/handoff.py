"""HandoffChat: questions as files, for a person or another agent to answer in files; no key, no network.
Owns the folder and its format; refuses to wait: what has no answer yet ends the session, and running again goes on."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

import msgspec

from skillopt.backends.settings import StageSettings, check_stages
from skillopt.domain.chat import ChatRequest, Image, JsonSchema, Message, ModelIdentity, Reply, in_key
from skillopt.domain.errors import RefusedError, UnansweredError
from skillopt.domain.usage import Usage
from skillopt.kernel.work import Stage

FORMAT = "skillopt.handoff.v1"
LONGEST_ANSWER = 1024 * 1024  # bytes
_TIMEOUT = 60.0  # files answer at once; the port wants a number
_CHARACTERS_PER_TOKEN = 4


class HandoffSettings(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag="handoff", tag_field="backend"
):
    """Questions as files: you, or another agent, write the answers, and the same command goes on.

    folder: Where questions and answers are; several roles may share one.
    model: Who answers: a name for the journal, in which other names have other answers.
    max_tokens: The most tokens of one reply, which whoever answers is told.
    stages: What single stages change of this model, such as `{rewrite: {max_tokens: 64000}}`.
    """

    folder: str = "handoff"
    model: str = "handoff"
    max_tokens: int = 4096
    stages: dict[Stage, StageSettings] = {}

    def __post_init__(self) -> None:
        if self.max_tokens < 1:
            raise ValueError("max_tokens must be at least 1")
        check_stages(self.stages, self.__struct_fields__)


class Question(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One question as `pending.json` and its own file hold it; images are files beside it, by their place."""

    id: str
    answer_file: str
    model: str
    max_tokens: int
    messages: tuple[Message, ...]
    images: tuple[str, ...] = ()
    schema: JsonSchema | None = None


class Pending(msgspec.Struct, frozen=True, kw_only=True):
    """The content of `pending.json`: every question of the folder that has no answer yet."""

    format: str = FORMAT
    pending: tuple[Question, ...] = ()


class HandoffChat:
    """The Chat port over a folder: `questions/ID.json`, `answers/ID.md`, and `pending.json` for what is left."""

    def __init__(self, settings: HandoffSettings, root: Path) -> None:
        self._model = settings.model
        self._shown = settings.folder
        self._folder = root / settings.folder
        self._asked = False

    @property
    def identity(self) -> ModelIdentity:
        """Who answers; where the files are is no part of it."""
        return ModelIdentity(backend="handoff", address="files", model=self._model)

    @property
    def timeout(self) -> float:
        """A file is there or not: nothing takes longer than this."""
        return _TIMEOUT

    def worst(self, request: ChatRequest) -> Usage:
        """Return the most that is counted for one answer; it costs nothing."""
        return Usage(calls=1, input_tokens=_tokens(_size(request)), output_tokens=request.max_tokens)

    async def send(self, request: ChatRequest) -> Reply:
        """Return the answer if it is there; otherwise leave the question and say that it waits."""
        question = self._question(request)
        answer = self._answer(question, request.images)
        (self._folder / "questions" / f"{question.id}.json").unlink(missing_ok=True)
        used = Usage(
            calls=1,
            input_tokens=_tokens(_size(request)),
            output_tokens=min(request.max_tokens, _tokens(len(answer))),
        )
        return Reply(text=answer, usage=used, model=self._model, request_id=question.id)

    async def close(self) -> None:
        """Write what is left to answer, of this role and of others that share the folder."""
        if not self._asked:
            return
        files = sorted((self._folder / "questions").glob("*.json"))
        questions = tuple(msgspec.json.decode(file.read_bytes(), type=Question) for file in files)
        pending = Pending(pending=tuple(each for each in questions if not self._begun(each)))
        _write(self._folder / "pending.json", msgspec.json.format(msgspec.json.encode(pending), indent=2))

    def _question(self, request: ChatRequest) -> Question:
        if "tools" in request.wants:
            raise RefusedError(
                "A question with tools cannot be left as a file: an answer is a text.",
                hint="Choose another backend for this role.",
            )
        try:
            content = msgspec.json.encode((self._model, request), enc_hook=in_key)
        except UnicodeEncodeError as error:
            raise RefusedError(
                "A message has half a character (a lone surrogate), which no file can hold.",
                hint="Clean the task or the skill it comes from.",
            ) from error
        name = hashlib.sha256(content).hexdigest()[:16]
        return Question(
            id=name,
            answer_file=f"answers/{name}.md",
            model=self._model,
            max_tokens=request.max_tokens,
            messages=tuple([Message(message.role, message.content) for message in request.messages]),
            images=tuple([_place(image) for image in request.images]),
            schema=request.schema,
        )

    def _answer(self, question: Question, images: Sequence[Image]) -> str:
        """Read an answer; an empty file is one that somebody has only begun."""
        self._asked = True
        path = self._folder / question.answer_file
        if not path.is_file():
            self._leave(question, images)
            raise self._unanswered(question, "waits for its answer")
        if path.stat().st_size > LONGEST_ANSWER:
            raise self._unanswered(question, f"has an answer of more than {LONGEST_ANSWER} bytes")
        try:
            text = path.read_bytes().decode("utf-8")
        except UnicodeDecodeError:
            raise self._unanswered(question, "has an answer that is not UTF-8 text") from None
        if not text.strip():
            raise self._unanswered(question, "has an empty answer")
        return text

    def _begun(self, question: Question) -> bool:
        path = self._folder / question.answer_file
        return path.is_file() and path.stat().st_size > 0

    def _leave(self, question: Question, images: Sequence[Image]) -> None:
        for folder in ("", "questions", "answers", *(["images"] if images else [])):
            (self._folder / folder).mkdir(mode=0o700, parents=True, exist_ok=True)
        _write(self._folder / ".gitignore", b"*\n")
        for image in images:
            _write(self._folder / _place(image), image.data)
        _write(self._folder / "questions" / f"{question.id}.json", msgspec.json.encode(question))

    def _unanswered(self, question: Question, why: str) -> UnansweredError:
        return UnansweredError(
            f"Question {question.id} {why}.",
            hint=f"Write it to {self._shown}/{question.answer_file}, then run the same command again.",
        )


def _write(path: Path, content: bytes) -> None:
    """Write a file whole or not at all; one that says the same already is left alone."""
    if path.is_file() and path.read_bytes() == content:
        return
    part = path.with_name(f"{path.name}.part")
    part.touch(mode=0o600)
    part.write_bytes(content)
    part.replace(path)


def _place(image: Image) -> str:
    """Return where an image is put: by its content, so that many questions share one file."""
    return f"images/{image.digest[:16]}.{image.media_type.removeprefix('image/')}"


def _size(request: ChatRequest) -> int:
    return sum(len(message.content) for message in request.messages)


def _tokens(characters: int) -> int:
    return max(1, -(-characters // _CHARACTERS_PER_TOKEN))
