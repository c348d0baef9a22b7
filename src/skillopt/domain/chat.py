"""What is said to a model and what it says back, whatever the wire format.
Owns the request and reply values; refuses to know providers, skills or scores."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import msgspec

from skillopt.domain.agency.transcripts import Transcript
from skillopt.domain.usage import Usage

Role = Literal["system", "user", "assistant"]
Finish = Literal["stop", "length", "filtered", "tool", "unknown"]


def without_halves(text: str) -> str:
    """Return the text with lone surrogates replaced: JSON can spell them, but no file or request can hold them."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


class Message(msgspec.Struct, frozen=True, gc=False):
    """One turn of a conversation."""

    role: Role
    content: str


class ChatRequest(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One request, complete: everything here may change the answer and so is part of its key."""

    messages: tuple[Message, ...]
    max_tokens: int
    temperature: float | None = None
    seed: int | None = None


class Reply(msgspec.Struct, frozen=True, kw_only=True, gc=False, omit_defaults=True, tag="reply"):
    """One answer of a model. `seconds` is how long it took; nothing that decides anything reads it.

    `reasoning_tokens` are those of the output that were thought and not said; None where the provider does not tell.
    `transcript` is what an agent did on the way; a model that was only asked has none.
    """

    text: str
    usage: Usage
    finish: Finish = "stop"
    model: str = ""
    request_id: str = ""
    seconds: float = 0.0
    reasoning_tokens: int | None = None
    transcript: Transcript | None = None

    def scrubbed(self, scrub: Callable[[str], str]) -> Reply:
        """Return this reply without secrets and half characters; the same object when there was nothing to change."""
        said = (self.text, self.model, self.request_id)
        lines = "\n".join(said)
        told = self.transcript
        # one look instead of three: no secret is broken by a line's end
        if told is None and scrub(without_halves(lines)) == lines:
            return self
        text, model, request_id = (scrub(without_halves(part)) for part in said)
        if told is not None:
            told = told.scrubbed(lambda part: scrub(without_halves(part)))
        return msgspec.structs.replace(self, text=text, model=model, request_id=request_id, transcript=told)


class ModelIdentity(msgspec.Struct, frozen=True, kw_only=True):
    """Who answers: what is part of every key, and the account whose limits are shared."""

    backend: str
    address: str
    model: str
    sampling: str = ""

    @property
    def account(self) -> str:
        """The name under which calls share slots and rate limits."""
        return f"{self.backend} {self.address}"
