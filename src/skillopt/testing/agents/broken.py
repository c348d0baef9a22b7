"""Agents that each break one promise of the Agent port: what the contract suite has to catch.
Owns their faults; a suite that lets one of them pass is worth nothing."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from types import MappingProxyType

import msgspec

from skillopt.domain.agency.errands import Errand
from skillopt.domain.chat import ModelIdentity, Reply
from skillopt.domain.errors import AgentError, AgentTimeoutError, AuthError, CrashedError
from skillopt.domain.usage import Usage
from skillopt.kernel.ports import Agent
from skillopt.testing.agents.scripted import ScriptedAgent


class _Sound:
    """An agent without a fault of its own; the others change one thing."""

    def __init__(self, inner: ScriptedAgent) -> None:
        self.inner = inner

    @property
    def identity(self) -> ModelIdentity:
        """Who answers."""
        return self.inner.identity

    def worst(self, errand: Errand) -> Usage:
        """Return the most that a run can cost."""
        return self.inner.worst(errand)

    async def run(self, errand: Errand) -> Reply:
        """Do it once."""
        return await self.inner.run(errand)

    async def close(self) -> None:
        """Let go."""
        await self.inner.close()


class TakesACrashForAnAnswer(_Sound):
    """Passes on what a program said before it broke."""

    async def run(self, errand: Errand) -> Reply:
        """Do it once, and take half for whole."""
        try:
            return await self.inner.run(errand)
        except CrashedError:
            return Reply(text="half of a", usage=Usage(calls=1))


class RaisesPlainErrors(_Sound):
    """Lets the errors of its runtime through."""

    async def run(self, errand: Errand) -> Reply:
        """Do it once, and raise what nobody expects."""
        try:
            return await self.inner.run(errand)
        except AgentError as error:
            raise OSError(str(error)) from error


class BlamesTheProgram(_Sound):
    """Calls a refused key a crash, so that the person looks in the wrong place."""

    async def run(self, errand: Errand) -> Reply:
        """Do it once, and lose the reason."""
        try:
            return await self.inner.run(errand)
        except AuthError as error:
            raise CrashedError(str(error)) from error


class TriesARefusalAgain(_Sound):
    """Sends a key that nobody takes twice."""

    async def run(self, errand: Errand) -> Reply:
        """Do it up to twice."""
        try:
            return await self.inner.run(errand)
        except AuthError:
            return await self.inner.run(errand)


class AnswersAtTheDeadline(_Sound):
    """Takes what there is when the time is over for an answer."""

    async def run(self, errand: Errand) -> Reply:
        """Do it once, and make something up."""
        try:
            return await self.inner.run(errand)
        except AgentTimeoutError:
            return Reply(text="as far as I got", usage=Usage(calls=1))


class LeavesRunsBehind(_Sound):
    """Goes on after it was cancelled."""

    async def run(self, errand: Errand) -> Reply:
        """Do it once, out of reach of a cancel."""
        return await asyncio.shield(asyncio.ensure_future(self.inner.run(errand)))


class MixesUpErrands(_Sound):
    """Keeps the errand in an attribute, where the next run finds it."""

    def __init__(self, inner: ScriptedAgent) -> None:
        super().__init__(inner)
        self._errand: Errand | None = None

    async def run(self, errand: Errand) -> Reply:
        """Do it once, perhaps somebody else's."""
        self._errand = errand
        await asyncio.sleep(0)
        return await self.inner.run(self._errand)


class TellsNothing(_Sound):
    """Does not say what was done."""

    async def run(self, errand: Errand) -> Reply:
        """Do it once, and lose the transcript."""
        return msgspec.structs.replace(await self.inner.run(errand), transcript=None)


class PromisesTooLittle(_Sound):
    """Says that a run costs less than it may."""

    def worst(self, errand: Errand) -> Usage:
        """Return a hopeful number."""
        del errand
        return Usage(calls=1, output_tokens=1)


class ChangesItsName(_Sound):
    """Has another identity after every run."""

    @property
    def identity(self) -> ModelIdentity:
        """Who answers, today."""
        return msgspec.structs.replace(self.inner.identity, sampling=str(self.inner.runs))


BROKEN_AGENTS: Mapping[str, Callable[[ScriptedAgent], Agent]] = MappingProxyType(
    {
        broken.__name__: broken
        for broken in (
            TakesACrashForAnAnswer,
            RaisesPlainErrors,
            BlamesTheProgram,
            TriesARefusalAgain,
            AnswersAtTheDeadline,
            LeavesRunsBehind,
            MixesUpErrands,
            TellsNothing,
            PromisesTooLittle,
            ChangesItsName,
        )
    }
)
