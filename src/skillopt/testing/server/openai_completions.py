"""OpenAI's older completions, as base models know them: one text in, its continuation out.
Owns their shapes, and how turns are told in a text; nothing else."""

from __future__ import annotations

import re
from types import MappingProxyType

import msgspec

from skillopt.testing.conversation import BrainReply, Conversation, Speaker, Turn
from skillopt.testing.faults import FaultKind
from skillopt.testing.server.connection import HttpReply
from skillopt.testing.server.openai_chat import OpenAIChat, StreamOptions
from skillopt.testing.server.wire import Call, JsonObject, data_frame, pieces

_TURN = re.compile(r"^(User|Assistant):[ ]?", re.MULTILINE)
_FINISHES = MappingProxyType({"length": "length", "filtered": "content_filter"})


class _Body(msgspec.Struct, frozen=True):
    model: str
    prompt: str
    max_tokens: int | None = None
    stream: bool | None = None
    stream_options: StreamOptions | None = None
    seed: int | None = None


_decoder = msgspec.json.Decoder(_Body)
_chat = OpenAIChat()


class OpenAICompletions:
    """The dialect of `/completions`; a line that begins with `User:` or `Assistant:` begins a turn."""

    vendor = "openai"

    def read(self, body: bytes) -> Call:
        """Read a request."""
        asked = _decoder.decode(body)
        system, *said = _TURN.split(asked.prompt)
        turns = [
            Turn(_speaker(name), text.removesuffix("\n")) for name, text in zip(said[::2], said[1::2], strict=True)
        ]
        conversation = Conversation(
            model=asked.model,
            system=system.strip(),
            turns=tuple(turn for turn in turns if turn.text),
            max_tokens=asked.max_tokens,
            seed=asked.seed,
        )
        options = asked.stream_options
        return Call(
            conversation=conversation,
            stream=asked.stream is True,
            stream_usage=options is not None and options.include_usage,
        )

    def reply(self, call: Call, said: BrainReply, request_id: str) -> JsonObject:
        """Return a completion."""
        whole = _chat.reply(call, said, request_id)
        return {**whole, "object": "text_completion", "choices": [_choice(said.text, _finish(said))]}

    def events(self, call: Call, said: BrainReply, request_id: str) -> tuple[bytes, ...]:
        """Return the chunks of a completion, and the mark that ends them."""
        whole = _chat.reply(call, said, request_id)
        chunk = {"id": whole["id"], "object": "text_completion", "created": 0, "model": whole["model"]}
        frames = [data_frame({**chunk, "choices": [_choice(piece, None)]}) for piece in pieces(said.text)]
        frames.append(data_frame({**chunk, "choices": [_choice("", _finish(said))]}))
        if call.stream_usage:
            frames.append(data_frame({**chunk, "choices": [], "usage": whole["usage"]}))
        return (*frames, b"data: [DONE]\n\n")

    def failure(self, call: Call, kind: FaultKind, request_id: str) -> HttpReply:
        """Return an error object where a completion should be."""
        return _chat.failure(call, kind, request_id)


def _speaker(name: str) -> Speaker:
    return "user" if name == "User" else "assistant"


def _choice(text: str, finish: str | None) -> JsonObject:
    return {"index": 0, "text": text, "finish_reason": finish, "logprobs": None}


def _finish(said: BrainReply) -> str:
    return _FINISHES.get(said.finish, "stop")
