"""Chats that each break one promise of the port, to show that the contract suite notices.
Owns the mistakes; every one of them has been made by a real backend somewhere. Knows no test."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from types import MappingProxyType

import msgspec

from skillopt.domain.chat import ChatRequest, ModelIdentity, Reply
from skillopt.domain.errors import EmptyReplyError, ProviderError, RateLimitedError, TruncatedError, UnavailableError
from skillopt.domain.usage import NOTHING, Usage
from skillopt.kernel.ports import Chat
from skillopt.testing.scripted import ScriptedChat

_TIMEOUT = 3.0


class _Sound:
    """A chat without a fault of its own; the others change one thing."""

    def __init__(self, scenario: str) -> None:
        self.inner = ScriptedChat.from_scenario(scenario, timeout=_TIMEOUT)

    @property
    def identity(self) -> ModelIdentity:
        """Who answers."""
        return self.inner.identity

    @property
    def timeout(self) -> float:
        """The most seconds a request may take."""
        return self.inner.timeout

    def worst(self, request: ChatRequest) -> Usage:
        """Return the most that a request can cost."""
        return self.inner.worst(request)

    async def send(self, request: ChatRequest) -> Reply:
        """Ask once."""
        return await self.inner.send(request)

    async def close(self) -> None:
        """Let go."""
        await self.inner.close()


class TakesEmptyForAnswer(_Sound):
    """Gives an empty reply where there was none."""

    async def send(self, request: ChatRequest) -> Reply:
        """Ask once, and make something up."""
        try:
            return await self.inner.send(request)
        except UnavailableError:
            return Reply(text="", usage=self.worst(request))


class TakesLengthForAnswer(_Sound):
    """Passes on a reply that stopped in the middle."""

    async def send(self, request: ChatRequest) -> Reply:
        """Ask once, and take half for whole."""
        try:
            return await self.inner.send(request)
        except TruncatedError:
            return Reply(text="half of a", usage=self.worst(request), finish="length")


class RaisesPlainErrors(_Sound):
    """Lets the errors of its HTTP library through."""

    async def send(self, request: ChatRequest) -> Reply:
        """Ask once, and raise what nobody expects."""
        try:
            return await self.inner.send(request)
        except ProviderError as error:
            raise ConnectionError(str(error)) from error


class BlamesTheNetwork(_Sound):
    """Calls every failure an outage, so that a wrong key is tried again all night."""

    async def send(self, request: ChatRequest) -> Reply:
        """Ask once, and lose the reason."""
        try:
            return await self.inner.send(request)
        except ProviderError as error:
            raise UnavailableError(str(error), hint="Try again.") from error


class ForgetsRetryAfter(_Sound):
    """Drops the provider's word on when to come back."""

    async def send(self, request: ChatRequest) -> Reply:
        """Ask once, and forget a header."""
        try:
            return await self.inner.send(request)
        except RateLimitedError as error:
            raise RateLimitedError(error.message, hint=error.hint, status=error.status) from error


class LeavesWorkBehind(_Sound):
    """Goes on after it was cancelled."""

    async def send(self, request: ChatRequest) -> Reply:
        """Ask once, out of reach of a cancel."""
        return await asyncio.shield(asyncio.ensure_future(self.inner.send(request)))


class DeafToCancel(_Sound):
    """Turns a cancel into a reply."""

    async def send(self, request: ChatRequest) -> Reply:
        """Ask once, and swallow the cancel."""
        try:
            return await self.inner.send(request)
        except asyncio.CancelledError:
            return Reply(text="never mind", usage=NOTHING)


class OneAtATime(_Sound):
    """Queues sends behind each other."""

    def __init__(self, scenario: str) -> None:
        super().__init__(scenario)
        self._turn = asyncio.Lock()

    async def send(self, request: ChatRequest) -> Reply:
        """Ask once, when it is one's turn."""
        async with self._turn:
            return await self.inner.send(request)


class MixesUpReplies(_Sound):
    """Keeps the request in an attribute, where the next send finds it."""

    def __init__(self, scenario: str) -> None:
        super().__init__(scenario)
        self._request: ChatRequest | None = None

    async def send(self, request: ChatRequest) -> Reply:
        """Ask once, perhaps for somebody else."""
        self._request = request
        await asyncio.sleep(0)
        return await self.inner.send(self._request)


class DropsImages(_Sound):
    """Sends the text and leaves out what it cannot say."""

    async def send(self, request: ChatRequest) -> Reply:
        """Ask once, about pictures that nobody sees."""
        messages = tuple(msgspec.structs.replace(message, images=()) for message in request.messages)
        return await self.inner.send(msgspec.structs.replace(request, messages=messages))


class DropsCalls(_Sound):
    """Takes a call of a tool for an empty reply."""

    async def send(self, request: ChatRequest) -> Reply:
        """Ask once, and hear only words."""
        reply = await self.inner.send(request)
        if not reply.text:
            raise EmptyReplyError("The reply has no text.")
        return reply


class ForgetsTheSchema(_Sound):
    """Breaks where a request has a schema, with an error that blames nobody."""

    async def send(self, request: ChatRequest) -> Reply:
        """Ask once, as long as no form is wanted."""
        if request.schema is not None:
            raise UnavailableError("Something went wrong.")
        return await self.inner.send(request)


class RetriesInside(_Sound):
    """Tries again by itself, unseen by budget and ledger."""

    async def send(self, request: ChatRequest) -> Reply:
        """Ask up to twice."""
        try:
            return await self.inner.send(request)
        except UnavailableError:
            return await self.inner.send(request)


class NeverGivesUp(_Sound):
    """Names a timeout and does not keep it."""

    def __init__(self, scenario: str) -> None:
        super().__init__(scenario)
        self.inner = ScriptedChat.from_scenario(scenario, timeout=1e6)

    @property
    def timeout(self) -> float:
        """A number."""
        return _TIMEOUT


class PromisesTooLittle(_Sound):
    """Says that a request costs less than it may."""

    def worst(self, request: ChatRequest) -> Usage:
        """Return a hopeful number."""
        return Usage(calls=1, input_tokens=self.inner.worst(request).input_tokens, output_tokens=1)


class ChargesNothing(_Sound):
    """Does not say what a reply cost."""

    async def send(self, request: ChatRequest) -> Reply:
        """Ask once, and lose the bill."""
        return msgspec.structs.replace(await self.inner.send(request), usage=NOTHING)


class ChangesItsName(_Sound):
    """Has another identity after every call."""

    @property
    def identity(self) -> ModelIdentity:
        """Who answers, today."""
        return msgspec.structs.replace(self.inner.identity, sampling=str(self.inner.calls))


BROKEN_CHATS: Mapping[str, Callable[[str], Chat]] = MappingProxyType(
    {
        broken.__name__: broken
        for broken in (
            TakesEmptyForAnswer,
            TakesLengthForAnswer,
            RaisesPlainErrors,
            BlamesTheNetwork,
            ForgetsRetryAfter,
            LeavesWorkBehind,
            DeafToCancel,
            OneAtATime,
            MixesUpReplies,
            DropsImages,
            DropsCalls,
            ForgetsTheSchema,
            RetriesInside,
            NeverGivesUp,
            PromisesTooLittle,
            ChargesNothing,
            ChangesItsName,
        )
    }
)
