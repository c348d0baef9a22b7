"""An agent in this process: it does its errands from a brain, with no program and no folder.
Owns counting and the way faults show themselves through the Agent port; refuses to know processes."""

from __future__ import annotations

import asyncio

from skillopt.domain.agency.errands import Errand
from skillopt.domain.agency.transcripts import Action, Transcript
from skillopt.domain.chat import ModelIdentity, Reply
from skillopt.domain.errors import AgentTimeoutError, CrashedError
from skillopt.domain.usage import Usage
from skillopt.testing.brains import brain_named
from skillopt.testing.conversation import Brain, Conversation, Turn
from skillopt.testing.faults import FaultKind, provider_error

_SILENT = frozenset({FaultKind.HANG, FaultKind.HANG_STREAM})
_PROGRAM = "scripted 1"


class ScriptedAgent:
    """An Agent that reads the errand's skill, asks its brain once and answers; it counts what it is sent on.

    `runs` are the errands that began, `in_flight` those that have not ended. A brain that shows a fault fails the run:
    `crash` as a program that broke, silence as a deadline, every other as the provider's error.
    """

    def __init__(
        self, brain: str | Brain, *, model: str = "scripted-target", timeout: float = 600.0, most_tokens: int = 10_000
    ) -> None:
        self._brain = brain_named(brain) if isinstance(brain, str) else brain
        self._identity = ModelIdentity(backend=_PROGRAM, address="this process", model=model)
        self._timeout = timeout
        self._most_tokens = most_tokens
        self.runs = 0
        self.in_flight = 0

    @property
    def identity(self) -> ModelIdentity:
        """Who answers."""
        return self._identity

    def worst(self, errand: Errand) -> Usage:
        """Return one call of reading the errand and of writing the most."""
        return Usage(calls=1, input_tokens=self._asked(errand).input_tokens, output_tokens=self._most_tokens)

    async def run(self, errand: Errand) -> Reply:
        """Do the errand from the brain, or fail as the brain says."""
        self.runs += 1
        self.in_flight += 1
        try:
            async with asyncio.timeout(self._timeout):
                return await self._done(self._asked(errand))
        except TimeoutError:
            raise AgentTimeoutError(f"The scripted agent was still at work after {self._timeout:g} s.") from None
        finally:
            self.in_flight -= 1

    async def close(self) -> None:
        """Nothing is held open."""

    def _asked(self, errand: Errand) -> Conversation:
        turns = (Turn("user", errand.instruction),)
        return Conversation(model=self._identity.model, system=errand.skill.rendered, turns=turns)

    async def _done(self, asked: Conversation) -> Reply:
        await asyncio.sleep(0)
        said = self._brain(asked)
        usage = Usage(calls=1, input_tokens=asked.input_tokens, output_tokens=said.output_tokens)
        if said.fault in _SILENT:
            await asyncio.Event().wait()
        if said.fault is FaultKind.CRASH:
            raise CrashedError("The scripted agent ended with exit code 1.", usage=usage)
        if said.fault is not None and said.fault is not FaultKind.SLOW:
            raise provider_error(said.fault, model=asked.model)
        if not said.text.strip():
            raise CrashedError("The scripted agent ended without an answer.", usage=usage)
        did = Transcript(
            program=_PROGRAM,
            actions=(Action(kind="said", text=said.text),),
            skill_opened="yes",
            task_read="yes",
            requests=1,
        )
        return Reply(text=said.text, usage=usage, model=asked.model, transcript=did)
