"""Scripted models in this process: a Chat that answers from a brain.
Owns counting and the way faults show themselves through the port; knows no wire."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Mapping

from skillopt.domain.chat import ChatRequest, ModelIdentity, Reply, ToolCall
from skillopt.domain.errors import UnavailableError
from skillopt.domain.usage import NOTHING, Price, Usage
from skillopt.testing.brains import BRAINS, brain_named
from skillopt.testing.conversation import Brain, BrainReply, Conversation, conversation_of
from skillopt.testing.faults import FaultKind, FaultPlan, provider_error
from skillopt.testing.scenario import Scenario, parse_scenario

_SILENT = frozenset({FaultKind.HANG, FaultKind.HANG_STREAM})


class ScriptedChat:
    """A Chat whose answers, costs and faults are known beforehand; it counts what it is asked.

    `calls` are the requests that arrived, `served` those answered, `used` what the answers cost, `faults` what went
    wrong on purpose, by kind. A brain is a name from the registry or a function.
    """

    def __init__(
        self,
        brain: str | Brain,
        *,
        model: str = "scripted-target",
        faults: FaultPlan = FaultPlan(),
        latency: float = 0.0,
        price: Price | None = None,
        timeout: float = 600.0,
    ) -> None:
        self._brain = brain_named(brain) if isinstance(brain, str) else brain
        name = brain if isinstance(brain, str) else f"{brain.__module__}.{getattr(brain, '__qualname__', brain)}"
        self._identity = ModelIdentity(backend="scripted", address=name, model=model)
        self._plan = faults
        self._latency = latency
        self._price = price
        self._timeout = timeout
        self._gate: asyncio.Barrier | None = None
        self._attempts: Counter[str] = Counter()
        self._faults: Counter[FaultKind] = Counter()
        self.calls = 0
        self.served = 0
        self.in_flight = 0
        self.max_in_flight = 0
        self.used = NOTHING

    @classmethod
    def from_scenario(
        cls,
        scenario: str | Scenario,
        *,
        model: str = "scripted-target",
        price: Price | None = None,
        timeout: float = 600.0,
        brains: Mapping[str, Brain] = BRAINS,
    ) -> ScriptedChat:
        """Return the chat that a scripted server offers under this scenario."""
        told = parse_scenario(scenario) if isinstance(scenario, str) else scenario
        latency = told.latency_of(Conversation(model=model, system="", turns=()).role)
        chat = cls(
            brain_named(told.brain, brains),
            model=model,
            faults=told.faults,
            latency=0.0 if latency is None else latency,
            price=price,
            timeout=timeout,
        )
        chat._identity = ModelIdentity(backend="scripted", address=told.brain, model=model)
        chat._gate = asyncio.Barrier(told.together) if told.together > 1 else None
        return chat

    @property
    def identity(self) -> ModelIdentity:
        """Who answers."""
        return self._identity

    @property
    def timeout(self) -> float:
        """The most seconds a request may take."""
        return self._timeout

    @property
    def faults(self) -> Mapping[FaultKind, int]:
        """How often each kind of fault was shown."""
        return dict(self._faults)

    def worst(self, request: ChatRequest) -> Usage:
        """Return the cost of reading the request and of the longest reply it allows."""
        return self._usage(conversation_of(request, self._identity.model).input_tokens, request.max_tokens)

    async def send(self, request: ChatRequest) -> Reply:
        """Answer from the brain, or fail as the plan says."""
        self.calls += 1
        self.in_flight += 1
        self.max_in_flight = max(self.max_in_flight, self.in_flight)
        try:
            async with asyncio.timeout(self._timeout):
                return await self._answer(conversation_of(request, self._identity.model), call=self.calls)
        except TimeoutError:
            raise UnavailableError(
                f"The scripted model {self._identity.model!r} gave no reply within {self._timeout:g} s.",
                hint="Raise the timeout, or look at the fault plan.",
            ) from None
        finally:
            self.in_flight -= 1

    async def close(self) -> None:
        """Nothing is held open."""

    async def _answer(self, conversation: Conversation, *, call: int) -> Reply:
        digest = conversation.digest
        self._attempts[digest] += 1
        attempt = self._attempts[digest]
        said = self._brain(conversation).within(conversation.max_tokens)
        fault = said.fault or self._plan.fault(digest=digest, attempt=attempt, call=call)
        if self._gate is not None:
            await self._gate.wait()
        late = self._plan.slow if fault is FaultKind.SLOW else 0.0
        await asyncio.sleep(self._latency + late)
        if fault is None and said.finish == "length":
            fault = FaultKind.LENGTH
        if fault is None and not said.text and not (said.calls and conversation.tools):
            fault = FaultKind.EMPTY
        if fault is not None:
            await self._fail(fault)
        return self._served(conversation, said, request_id=f"{digest}-{attempt}", seconds=self._latency + late)

    async def _fail(self, fault: FaultKind) -> None:
        self._faults[fault] += 1
        if fault in _SILENT:
            await asyncio.Event().wait()
        if fault is not FaultKind.SLOW:
            raise provider_error(fault, model=self._identity.model, retry_after=self._plan.retry_after)

    def _served(self, conversation: Conversation, said: BrainReply, *, request_id: str, seconds: float) -> Reply:
        usage = self._usage(conversation.input_tokens, said.output_tokens)
        self.served += 1
        self.used += usage
        model = self._identity.model
        calls = tuple(
            ToolCall(id=f"call_{request_id}_{number}", name=call.name, arguments=call.arguments)
            for number, call in enumerate(said.calls)
        )
        return Reply(
            text=said.text,
            usage=usage,
            finish="tool" if calls else said.finish,
            model=model,
            request_id=request_id,
            seconds=seconds,
            calls=calls,
        )

    def _usage(self, read: int, written: int) -> Usage:
        cost = 0
        if self._price is not None:
            cost = self._price.cost(input_tokens=read, cached_tokens=0, output_tokens=written)
        return Usage(calls=1, input_tokens=read, output_tokens=written, nano_usd=cost)
