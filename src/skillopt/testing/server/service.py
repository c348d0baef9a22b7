"""What the scripted server does with a request: find the scenario, ask the brain, fail or answer in time.
Owns routes, scenarios and latency; knows no socket and no wire format."""

from __future__ import annotations

import asyncio
import hashlib
import re
from collections import Counter
from collections.abc import Mapping
from types import MappingProxyType
from urllib.parse import unquote

import msgspec

from skillopt.domain.errors import UsageError
from skillopt.testing.brains import brain_named
from skillopt.testing.conversation import Brain
from skillopt.testing.faults import FaultKind
from skillopt.testing.scenario import Scenario, parse_scenario
from skillopt.testing.server.anthropic_messages import AnthropicMessages
from skillopt.testing.server.connection import Connection, HttpReply, HttpRequest
from skillopt.testing.server.exchange import SILENT, Exchange
from skillopt.testing.server.ledger import LoggedRequest, RequestLog, RoleCount, RoleStats
from skillopt.testing.server.openai_chat import OpenAIChat
from skillopt.testing.server.openai_completions import OpenAICompletions
from skillopt.testing.server.openai_responses import OpenAIResponses
from skillopt.testing.server.wire import Call, Dialect, encode, refusal_body

_PATH = re.compile(r"(?:/s/([^/?]+))?(/[^?]*)(?:\?.*)?")
_DIALECTS: Mapping[str, Dialect] = MappingProxyType(
    {
        "/chat/completions": OpenAIChat(),
        "/completions": OpenAICompletions(),
        "/responses": OpenAIResponses(),
        "/messages": AnthropicMessages(),
    }
)
_ASKED = "…/chat/completions, …/completions, …/responses, …/messages, …/messages/count_tokens"
_ROUTES = f"POST {_ASKED}; GET …/models, …/stats, …/log"
_MODELS = ("scripted-target", "scripted-optimizer", "scripted-judge")


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """How a server behaves where a URL does not say: its scenario and latencies; and how much it remembers."""

    scenario: str = "rules"
    latency: float = 0.0
    optimizer_latency: float | None = None
    log_size: int = 1000


class _Stage:
    """One scenario while it is played; requests wait here until enough are together."""

    def __init__(self, name: str, scenario: Scenario, brain: Brain) -> None:
        self.name = name
        self.scenario = scenario
        self.brain = brain
        self.calls = 0
        self.attempts: Counter[str] = Counter()
        self.roles: dict[str, RoleCount] = {}
        self.waiting: list[_Pending] = []

    def count(self, role: str, now: float) -> RoleCount:
        """Return the counter of a role."""
        count = self.roles.get(role)
        if count is None:
            count = self.roles[role] = RoleCount(now)
        return count


class _Pending:
    """An exchange that has not been answered yet, and who waits for it."""

    def __init__(self, exchange: Exchange, connection: Connection, stage: _Stage, count: RoleCount) -> None:
        self.exchange = exchange
        self.connection = connection
        self.stage = stage
        self.count = count
        self.timer: asyncio.TimerHandle | None = None
        connection.on_lost = self.drop

    def drop(self) -> None:
        """The client left before its reply."""
        self.count.in_flight -= 1
        self.count.dropped += 1
        if self.timer is not None:
            self.timer.cancel()
        elif self in self.stage.waiting:
            self.stage.waiting.remove(self)

    def finish(self) -> None:
        """Show the fault, or answer; a silent one leaves the client waiting."""
        exchange, connection, fault = self.exchange, self.connection, self.exchange.fault
        if fault is not None:
            self.count.faults[fault] += 1
        if fault in SILENT:
            if fault is FaultKind.HANG_STREAM:
                connection.write(exchange.meant().encode_half())
            return
        connection.on_lost = None
        self.count.in_flight -= 1
        if fault is None or fault is FaultKind.SLOW:
            self.count.serve(exchange.call.conversation.input_tokens, exchange.said.output_tokens)
            connection.write(exchange.meant().encode())
        elif fault is FaultKind.CRASH:
            connection.reset()
        elif fault is FaultKind.CUT:
            connection.write(exchange.meant().encode_half())
            connection.close()
        else:
            connection.write(exchange.broken(fault).encode())


class Service:
    """Answers requests, and says afterwards what it was asked."""

    def __init__(self, settings: Settings, brains: Mapping[str, Brain]) -> None:
        self._settings = settings
        self._brains = brains
        self._stages: dict[str, _Stage] = {}
        self._log = RequestLog(settings.log_size)
        self._numbers = 0
        self._stage(settings.scenario)

    def stats(self, scenario: str) -> Mapping[str, RoleStats]:
        """Return the counts of a scenario by role; one that was never played has none."""
        stage = self._stages.get(scenario)
        return {} if stage is None else {role: count.stats() for role, count in sorted(stage.roles.items())}

    def log(self, scenario: str | None = None) -> tuple[LoggedRequest, ...]:
        """Return the latest requests, oldest first."""
        return self._log.entries(scenario)

    def handle(self, request: HttpRequest, connection: Connection) -> None:
        """Answer a request, now or later."""
        match = _PATH.fullmatch(request.target)
        segment, path = match.groups() if match else (None, request.target)
        scenario = None if segment is None else unquote(segment)
        dialect = next((_DIALECTS[end] for end in _DIALECTS if path.endswith(end)), None)
        if dialect is None or request.method != "POST":
            connection.write(self._look(request, path, scenario).encode())
            return
        try:
            stage = self._stage(self._settings.scenario if scenario is None else scenario)
            call = dialect.read(request.body)
        except (UsageError, msgspec.DecodeError, UnicodeDecodeError) as error:
            connection.write(_refusal(dialect.vendor, str(error)).encode())
            return
        self._begin(request, connection, dialect, call, stage)

    def _look(self, request: HttpRequest, path: str, scenario: str | None) -> HttpReply:
        """Answer what asks no model."""
        if path.endswith("/models"):
            models = [
                {"id": name, "object": "model", "type": "model", "created": 0, "owned_by": "skillopt"}
                for name in _MODELS
            ]
            return HttpReply(body=encode({"object": "list", "data": models, "has_more": False}))
        if path.endswith("/messages/count_tokens"):
            return _count_tokens(request.body)
        if path.endswith("/stats"):
            names = sorted(self._stages) if scenario is None else [scenario]
            return HttpReply(body=encode({"scenarios": {name: self.stats(name) for name in names}}))
        if path.endswith("/log"):
            return HttpReply(body=b"".join(encode(entry) + b"\n" for entry in self.log(scenario)))
        message = f"There is nothing at {request.method} {path}. Known: {_ROUTES}."
        return _refusal("openai", message, status=404)

    def _stage(self, name: str) -> _Stage:
        stage = self._stages.get(name)
        if stage is None:
            scenario = parse_scenario(name)
            stage = self._stages[name] = _Stage(name, scenario, brain_named(scenario.brain, self._brains))
        return stage

    def _begin(self, request: HttpRequest, connection: Connection, dialect: Dialect, call: Call, stage: _Stage) -> None:
        """Count a request, ask the brain, draw what goes wrong, and answer when it is time."""
        conversation = call.conversation
        role = conversation.role
        count = stage.count(role, asyncio.get_running_loop().time())
        count.arrive(asyncio.get_running_loop().time())
        sent = request.body if call.identity is None else call.identity.encode()
        digest = hashlib.blake2b(sent, digest_size=16).hexdigest()
        stage.attempts[digest] += 1
        stage.calls += 1
        self._numbers += 1
        attempt, plan = stage.attempts[digest], stage.scenario.faults
        said = stage.brain(conversation).within(conversation.max_tokens)
        fault = said.fault or plan.fault(digest=digest, attempt=attempt, call=stage.calls)
        self._log.add(
            request,
            LoggedRequest(
                number=self._numbers,
                scenario=stage.name,
                path=request.target,
                model=conversation.model,
                role=role,
                attempt=attempt,
                fault=None if fault is None else fault.value,
            ),
        )
        exchange = Exchange(
            dialect=dialect,
            call=call,
            said=said,
            fault=fault,
            request_id=f"{self._numbers:06d}",
            retry_after=plan.retry_after,
        )
        self._admit(_Pending(exchange, connection, stage, count))

    def _admit(self, pending: _Pending) -> None:
        """Start the reply, or hold it back until enough requests are waiting."""
        stage = pending.stage
        if stage.scenario.together == 1:
            self._schedule(pending)
            return
        stage.waiting.append(pending)
        if len(stage.waiting) >= stage.scenario.together:
            waiting, stage.waiting = stage.waiting, []
            for each in waiting:
                self._schedule(each)

    def _schedule(self, pending: _Pending) -> None:
        """Answer after the scenario's latency."""
        scenario, role = pending.stage.scenario, pending.exchange.call.conversation.role
        delay = scenario.latency_of(role)
        if delay is None:
            delay = self._own_latency(role)
        if pending.exchange.fault is FaultKind.SLOW:
            delay += scenario.faults.slow
        if delay <= 0:
            pending.finish()
        else:
            pending.timer = asyncio.get_running_loop().call_later(delay, pending.finish)

    def _own_latency(self, role: str) -> float:
        other = self._settings.optimizer_latency
        return self._settings.latency if role == "target" or other is None else other


def _refusal(vendor: str, message: str, *, status: int = 400) -> HttpReply:
    return HttpReply(status=status, body=encode(refusal_body(vendor, message, "none")))


def _count_tokens(body: bytes) -> HttpReply:
    try:
        call = _DIALECTS["/messages"].read(body)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        return _refusal("anthropic", str(error))
    return HttpReply(body=encode({"input_tokens": call.conversation.input_tokens}))
