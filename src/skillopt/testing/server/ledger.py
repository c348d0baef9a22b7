"""What a scripted server remembers: counts by scenario and role, and the latest requests.
Owns redaction of keys in the log; refuses to grow without bound."""

from __future__ import annotations

import hashlib
from collections import Counter, deque

import msgspec

from skillopt.testing.faults import FaultKind
from skillopt.testing.server.connection import HttpRequest

_SECRET_HEADERS = frozenset({"authorization", "x-api-key", "api-key", "proxy-authorization", "cookie"})


class RoleStats(msgspec.Struct, frozen=True, kw_only=True):
    """Counts of one role in one scenario. `dropped` are requests whose client left before the reply.

    Tokens are those of replies that were served; `first` and `last` are seconds on the server's clock.
    """

    requests: int
    served: int
    dropped: int
    faults: dict[str, int]
    in_flight: int
    max_in_flight: int
    input_tokens: int
    output_tokens: int
    first: float
    last: float


class RoleCount:
    """Counts one role in one scenario as it goes."""

    def __init__(self, now: float) -> None:
        self.requests = 0
        self.served = 0
        self.dropped = 0
        self.faults: Counter[FaultKind] = Counter()
        self.in_flight = 0
        self.max_in_flight = 0
        self.input_tokens = 0
        self.output_tokens = 0
        self.first = now
        self.last = now

    def arrive(self, now: float) -> None:
        """A request is here."""
        self.requests += 1
        self.in_flight += 1
        self.max_in_flight = max(self.max_in_flight, self.in_flight)
        self.last = now

    def serve(self, read: int, written: int) -> None:
        """A whole reply goes out."""
        self.served += 1
        self.input_tokens += read
        self.output_tokens += written

    def stats(self) -> RoleStats:
        """Return the counts so far."""
        return RoleStats(
            requests=self.requests,
            served=self.served,
            dropped=self.dropped,
            faults={kind.value: self.faults[kind] for kind in sorted(self.faults)},
            in_flight=self.in_flight,
            max_in_flight=self.max_in_flight,
            input_tokens=self.input_tokens,
            output_tokens=self.output_tokens,
            first=self.first,
            last=self.last,
        )


class LoggedRequest(msgspec.Struct, frozen=True, kw_only=True):
    """One request to a model as the log shows it. Keys are replaced by a short digest that still tells them apart."""

    number: int
    scenario: str
    path: str
    model: str
    role: str
    attempt: int
    fault: str | None
    headers: dict[str, str] = {}
    body: str = ""


class RequestLog:
    """Keeps the latest requests; they are made readable only when somebody reads them."""

    def __init__(self, size: int) -> None:
        self._entries: deque[tuple[HttpRequest, LoggedRequest]] = deque(maxlen=size)

    def add(self, request: HttpRequest, outline: LoggedRequest) -> None:
        """Remember a request; headers and body are filled in when the log is read."""
        self._entries.append((request, outline))

    def entries(self, scenario: str | None = None) -> tuple[LoggedRequest, ...]:
        """Return what is remembered, oldest first, of one scenario or all."""
        return tuple(
            msgspec.structs.replace(
                outline, headers=_redacted(request), body=request.body.decode("utf-8", errors="replace")
            )
            for request, outline in self._entries
            if scenario is None or outline.scenario == scenario
        )


def redacted(value: str) -> str:
    """Return what the log shows for a secret header's value: the same for the same value, and no way back."""
    scheme, space, secret = value.rpartition(" ")
    return f"{scheme}{space}[redacted {hashlib.sha256(secret.encode()).hexdigest()[:8]}]"


def _redacted(request: HttpRequest) -> dict[str, str]:
    pairs = ((name.decode("latin-1").lower(), value.decode("latin-1")) for name, value in request.headers)
    return {name: redacted(value) if name in _SECRET_HEADERS else value for name, value in pairs}
