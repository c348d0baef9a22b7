"""The older completions dialect, for base models: a conversation written out as one text that the model continues.
Owns how turns become a text; replies differ from chat completions only in where the words stand."""

from __future__ import annotations

import msgspec

from skillopt.backends.dialects.chat_completions import ChatCompletions, read_completion, read_stream
from skillopt.backends.dialects.reply import Reading, is_stream
from skillopt.backends.dialects.request import bounds
from skillopt.domain.chat import ChatRequest, Feature, Message
from skillopt.domain.errors import RefusedError

LACKS: frozenset[Feature] = frozenset({"images", "schema", "tools"})


class TurnTemplate(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How a conversation is written out as one text; `{text}` is what was said.

    system: A system message.
    user: A user's turn.
    assistant: An earlier answer.
    ask: What comes last, for the model to go on from.
    """

    system: str = "{text}\n\n"
    user: str = "User: {text}\n"
    assistant: str = "Assistant: {text}\n"
    ask: str = "Assistant:"

    def __post_init__(self) -> None:
        for role in ("system", "user", "assistant"):
            if "{text}" not in getattr(self, role):
                raise ValueError(f"template.{role} has no {{text}}")

    def written(self, messages: tuple[Message, ...]) -> str:
        """Return a conversation as one text."""
        shapes = {"system": self.system, "user": self.user, "assistant": self.assistant}
        turns = [shapes[message.role].replace("{text}", message.content) for message in messages]
        return "".join((*turns, self.ask))


class Completions:
    """The dialect of `/completions`, for one model with its settings."""

    name = "completions"
    finishes = ChatCompletions.finishes

    def __init__(
        self,
        model: str,
        template: TurnTemplate,
        *,
        temperature: float | None = None,
        seed: int | None = None,
        stream: bool = False,
        constants: bytes = b"",
    ) -> None:
        self._start = b'{"model":%b,"prompt":' % msgspec.json.encode(model)
        self._template = template
        self._temperature = temperature
        self._seed = seed
        self._stream = stream
        self._bounds = bounds(f"{model}, a base model behind /completions,", LACKS, {})
        self._end = constants + b"}"

    def body(self, request: ChatRequest) -> bytes:
        """Return the JSON of a request; there is no way to say anything but text."""
        if not request.is_text:
            self._bounds.check(request)
        temperature = self._temperature if request.temperature is None else request.temperature
        seed = self._seed if request.seed is None else request.seed
        parts = [self._start, _text(self._template.written(request.messages)), b',"max_tokens":%d' % request.max_tokens]
        if temperature is not None:
            parts.append(b',"temperature":%b' % msgspec.json.encode(temperature))
        if seed is not None:
            parts.append(b',"seed":%d' % seed)
        return b"".join((*parts, self._end))

    def read(self, body: bytes) -> Reading:
        """Read a whole reply, streamed or not."""
        return read_stream(body) if self._stream and is_stream(body) else read_completion(body)


def _text(text: str) -> bytes:
    try:
        return msgspec.json.encode(text)
    except UnicodeEncodeError as error:
        raise RefusedError(
            "A message has half a character (a lone surrogate), which no server can read.",
            hint="Clean the task or the skill it comes from.",
        ) from error
