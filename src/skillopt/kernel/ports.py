"""The ports: what the loops and phases may ask of the world, and nothing more.
Owns the contracts; refuses to know who fulfils them."""

from __future__ import annotations

from typing import Protocol

from skillopt.domain.agency.errands import Errand
from skillopt.domain.chat import ChatRequest, Message, ModelIdentity, Reply
from skillopt.domain.judging import Unassessed, Unexamined, Unjudged
from skillopt.domain.scores import Score
from skillopt.domain.tasks import Task, TaskSet
from skillopt.domain.usage import Usage
from skillopt.kernel.events import Event, Signal


class Chat(Protocol):
    """Sends one request to one model and returns its one reply.

    `send` either returns a whole reply or raises a ProviderError that says who must act: an empty reply, a cut
    stream, an error in a 200 body or a reply that stopped for length is never returned as an answer. A reply that is
    nothing but calls of declared tools is one. What a request wants besides text (images, tools, a schema) is sent, or
    refused by name. `send` does not retry, does not change the request, and may be called many times at once; a
    cancelled one leaves nothing behind.
    """

    @property
    def identity(self) -> ModelIdentity:
        """Who answers; the same for every call."""
        ...

    @property
    def timeout(self) -> float:
        """The most seconds a single request may take before it is given up."""
        ...

    def worst(self, request: ChatRequest) -> Usage:
        """Return the most that one attempt at this request can cost; no provider may bill more."""
        ...

    async def send(self, request: ChatRequest) -> Reply:
        """Ask once."""
        ...

    async def close(self) -> None:
        """Let go of connections."""
        ...


class Agent(Protocol):
    """Sends an agent on one errand, in a fresh folder, and returns its answer with a transcript of what it did.

    `run` either returns an answer or raises an AgentError or ProviderError that says who must act: a timeout, an end
    with another exit code than the program's own for success, and an empty answer are never answers. It does not
    retry what a provider refused, may be called many times at once, and leaves no process and no folder behind.
    """

    @property
    def identity(self) -> ModelIdentity:
        """Which program in which version answers, with which model and settings; the same for every run."""
        ...

    def worst(self, errand: Errand) -> Usage:
        """Return the most that one run is reserved at."""
        ...

    async def run(self, errand: Errand) -> Reply:
        """Have the errand done once."""
        ...

    async def close(self) -> None:
        """Let go of everything that was kept for further runs."""
        ...


class Environment(Protocol):
    """Where tasks come from, how they are put to the target, and how answers are graded.

    `grade` is a pure function of its arguments; its feedback is for the optimizer only and never quotes a reference.
    What only a judge can score it returns unjudged, with what the judge is to see; what a program is to score first,
    unassessed. Asking either is not its affair.
    """

    @property
    def version(self) -> str:
        """Part of every key: changes when the same task would be put differently."""
        ...

    @property
    def tasks(self) -> TaskSet:
        """All tasks, by split."""
        ...

    def messages(self, task: Task, rendered_skill: str) -> tuple[Message, ...]:
        """Return what the target is sent; never a reference or a check."""
        ...

    def grade(self, task: Task, reply: str) -> Score | Unjudged | Unassessed | Unexamined:
        """Score an answer, or leave it to somebody who is asked; raises TaskError when it cannot be graded."""
        ...


class Observer(Protocol):
    """Watches a run. It cannot change it; one that raises is reported once and dropped."""

    def see(self, fact: Event | Signal) -> None:
        """Take note of a fact; must return at once."""
        ...


class Clock(Protocol):
    """The only source of time."""

    def now(self) -> float:
        """Return seconds that only grow; for durations."""
        ...

    def wall(self) -> float:
        """Return seconds since 1970; for people."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Wait."""
        ...
