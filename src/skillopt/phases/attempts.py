"""How a task is put to the target with a skill: as a prompt to a model, or as an errand for an agent.
Owns the works of both and what names them; refuses to know grading, and who answers."""

from __future__ import annotations

from hashlib import blake2b
from typing import Protocol

import msgspec

from skillopt.domain.chat import Reply
from skillopt.domain.errands import Errand
from skillopt.domain.errors import UsageError
from skillopt.domain.skill import Skill
from skillopt.domain.tasks import Task
from skillopt.domain.usage import Usage
from skillopt.kernel.boundary import Attributed
from skillopt.kernel.journal import Key
from skillopt.kernel.plugins.members import SendsErrands
from skillopt.kernel.ports import Agent, Environment
from skillopt.kernel.work import Asker, Work
from skillopt.phases.variants import variant

_encoder = msgspec.msgpack.Encoder()


class Attempts(Protocol):
    """Makes the work of having a task attempted; the same task, skill and trial are the same work."""

    def attempt(self, task: Task, skill: Skill, trial: int) -> Work:
        """Return the work of one trial."""
        ...


class Prompted(msgspec.Struct, frozen=True, kw_only=True):
    """Tasks put to a model, with the skill in front of them.

    If `varied`, a trial above 0 is sent with a neutral variant of the skill, so that a target that does not sample
    gives more than copies of one answer.
    """

    asker: Asker
    environment: Environment
    varied: bool = False

    def attempt(self, task: Task, skill: Skill, trial: int) -> Work:
        """Return the work of asking this once more than `trial` times."""
        with Attributed(UsageError, f"Putting task {task.id!r}"):
            text = variant(skill.rendered, trial if self.varied else 0)
            messages = tuple(self.environment.messages(task, text))
        return self.asker.ask(messages, trial=trial)


class Commission(msgspec.Struct, frozen=True, gc=False):
    """Sending an agent on an errand."""

    key: Key
    role: str
    account: str
    agent: Agent
    errand: Errand

    def worst(self) -> Usage:
        """The most that one attempt is reserved at."""
        return self.agent.worst(self.errand)

    async def perform(self) -> Reply:
        """Have it done once."""
        return await self.agent.run(self.errand)


class Sent:
    """Tasks that an agent is sent to do, with the skill in its folder; agents vary by themselves, so no text does."""

    def __init__(self, agent: Agent, environment: SendsErrands, *, version: str) -> None:
        self._agent = agent
        self._environment = environment
        self._account = agent.identity.account
        self._prefix = blake2b(_encoder.encode(("v1", "rollout", "agent", agent.identity, version)), digest_size=16)

    def attempt(self, task: Task, skill: Skill, trial: int) -> Work:
        """Return the work of sending the agent once more than `trial` times."""
        with Attributed(UsageError, f"Sending an agent with task {task.id!r}"):
            errand = self._environment.errand(task, skill)
        digest = self._prefix.copy()
        digest.update(_encoder.encode((errand.digest, trial)))
        return Commission(digest.digest(), "target", self._account, self._agent, errand)
