"""A unit of paid work: what determines its answer, what it may cost, how to ask once; and who is asked at each stage.
Owns the key and the names of the stages; refuses to know phases, journals and budgets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import blake2b
from typing import Literal, Protocol, get_args

import msgspec

from skillopt.domain.agency.transcripts import LeftFile
from skillopt.domain.chat import ChatRequest, Message, Reply, in_key
from skillopt.domain.rollouts import Failure
from skillopt.domain.tasks import Task
from skillopt.domain.usage import Usage
from skillopt.kernel.journal import Key
from skillopt.kernel.ports import Chat

Stage = Literal[
    "rollout",
    "reflect",
    "merge",
    "rank",
    "budget",
    "rewrite",
    "repair",
    "slow_update",
    "meta_skill",
    "notes",
    "judge",
]
STAGES: tuple[Stage, ...] = get_args(Stage)
Outcome = Reply | Failure

_encoder = msgspec.msgpack.Encoder(enc_hook=in_key)


class Work(Protocol):
    """One unit; asking twice with the same key is asking the same question."""

    @property
    def key(self) -> Key:
        """The digest of everything that determines the answer."""
        ...

    @property
    def role(self) -> str:
        """Who is asked: target, optimizer or judge; nobody where a program runs."""
        ...

    @property
    def account(self) -> str:
        """Whose slots it uses."""
        ...

    def worst(self) -> Usage:
        """The most that one attempt can cost."""
        ...

    async def perform(self) -> Reply:
        """Ask once; raises a ProviderError or AgentError."""
        ...


class Assessor(Protocol):
    """Has answers scored by a program."""

    def work(self, task: Task, answer: str, files: Sequence[LeftFile] = ()) -> Work:
        """Return the work of scoring this answer and the files left with it; its reply is a `written` score.

        A program that broke is an error.
        """
        ...


class Ask(msgspec.Struct, frozen=True, gc=False):
    """Asking a chat model."""

    key: Key
    role: str
    account: str
    chat: Chat
    request: ChatRequest

    def worst(self) -> Usage:
        """The most that one attempt can cost."""
        return self.chat.worst(self.request)

    async def perform(self) -> Reply:
        """Ask once."""
        return await self.chat.send(self.request)


class Asker:
    """Makes the works of one role and verb; the model's identity is digested once, not for every call."""

    def __init__(
        self,
        *,
        verb: str,
        role: str,
        chat: Chat,
        max_tokens: int,
        temperature: float | None = None,
        version: str = "",
    ) -> None:
        self.verb = verb
        self.role = role
        self._chat = chat
        self._max_tokens = max_tokens
        self._temperature = temperature
        self._account = chat.identity.account
        self._prefix = blake2b(_encoder.encode(("v1", verb, chat.identity, version)), digest_size=16)

    def ask(self, messages: tuple[Message, ...], *, trial: int = 0) -> Ask:
        """Return the work of asking this once more than `trial` times."""
        request = ChatRequest(messages=messages, max_tokens=self._max_tokens, temperature=self._temperature)
        digest = self._prefix.copy()
        digest.update(_encoder.encode((request, trial)))
        return Ask(digest.digest(), self.role, self._account, self._chat, request)


class Staff:
    """Who is asked at each stage of a run."""

    def __init__(self, askers: Mapping[Stage, Asker]) -> None:
        missing = [stage for stage in STAGES if stage not in askers]
        if missing:
            raise ValueError(f"Nobody is asked at {', '.join(missing)}.")
        self._askers = dict(askers)

    def at(self, stage: Stage) -> Asker:
        """Return who is asked at this stage."""
        return self._askers[stage]
