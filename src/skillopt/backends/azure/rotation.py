"""Rotation: several chats with the same model, asked in turn; one that fails rests while the others go on.
Owns whose turn it is; refuses to ask twice what may have been heard once."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from skillopt.domain.chat import ChatRequest, ModelIdentity, Reply
from skillopt.domain.errors import ProviderError, UnavailableError
from skillopt.domain.usage import NOTHING, Usage
from skillopt.kernel.ports import Chat

_REST = 30.0  # seconds after a failure, unless the provider says when to come back


class Rotation:
    """The Chat port over chats that stand in for each other.

    A request goes to one of them. It is passed on to the next only when nothing of it was sent; otherwise the failure
    is handed back, as always, and the attempt that follows meets the next one.
    """

    def __init__(self, chats: Sequence[Chat]) -> None:
        self._chats = tuple(chats)
        self._turn = 0
        self._rests = [0.0] * len(chats)

    @property
    def identity(self) -> ModelIdentity:
        """Who answers: all of them are the same model."""
        return self._chats[0].identity

    @property
    def timeout(self) -> float:
        """The most seconds a single request may take, however often it is passed on."""
        return sum(chat.timeout for chat in self._chats)

    def worst(self, request: ChatRequest) -> Usage:
        """Return the most that one attempt can cost."""
        return self._chats[0].worst(request)

    async def send(self, request: ChatRequest) -> Reply:
        """Ask once, whoever's turn it is."""
        *others, last = self._order(asyncio.get_running_loop().time())
        for place in others:
            try:
                return await self._ask(place, request)
            except UnavailableError as error:
                if error.usage != NOTHING:
                    raise
        return await self._ask(last, request)

    async def close(self) -> None:
        """Let go of all connections."""
        await asyncio.gather(*(chat.close() for chat in self._chats))

    def _order(self, now: float) -> list[int]:
        """Return whom to ask in what order: by turns, those that rest last, the soonest rested first."""
        count = len(self._chats)
        turns = [(self._turn + step) % count for step in range(count)]
        self._turn = (turns[0] + 1) % count
        return sorted(turns, key=lambda place: max(0.0, self._rests[place] - now))

    async def _ask(self, place: int, request: ChatRequest) -> Reply:
        try:
            return await self._chats[place].send(request)
        except ProviderError as error:
            if error.retryable:
                now = asyncio.get_running_loop().time()
                self._rests[place] = now + (_REST if error.retry_after is None else error.retry_after)
                if min(self._rests) <= now:
                    error.retry_after = None  # another one is free: the next attempt need not wait for this one
            raise
