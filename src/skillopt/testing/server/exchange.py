"""One request on its way to a reply: what was asked, what the brain said, and what goes wrong on the way back.
Owns the way each fault looks on the wire; knows neither timing nor counting."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import msgspec

from skillopt.domain.chat import Finish
from skillopt.testing.conversation import BrainReply
from skillopt.testing.faults import FAULTS, FaultKind
from skillopt.testing.server.connection import HttpReply
from skillopt.testing.server.wire import Call, Dialect, encode, fault_body

SILENT = frozenset({FaultKind.HANG, FaultKind.HANG_STREAM})
_NO_ANSWERS: Mapping[FaultKind, Finish] = MappingProxyType(
    {FaultKind.EMPTY: "stop", FaultKind.LENGTH: "length", FaultKind.FILTERED: "filtered"}
)
_GARBAGE = b'{"choices": [{"message": {"content": "<html>'


class Exchange(msgspec.Struct, frozen=True, kw_only=True):
    """A request that is being answered; `retry_after` is what a rate limit tells the client."""

    dialect: Dialect
    call: Call
    said: BrainReply
    fault: FaultKind | None
    request_id: str
    retry_after: float

    def meant(self) -> HttpReply:
        """Return the reply that the brain meant."""
        return self._written(self.said)

    def broken(self, fault: FaultKind) -> HttpReply:
        """Return the reply that this fault puts in its place."""
        if fault is FaultKind.GARBAGE:
            frames = (b"data: " + _GARBAGE + b"\n\n",) if self.call.stream else None
            return HttpReply(body=_GARBAGE, frames=frames)
        if fault is FaultKind.ERROR_BODY:
            return self.dialect.failure(self.call, fault, self.request_id)
        finish = _NO_ANSWERS.get(fault)
        if finish is None:
            return self._refused(fault)
        kept = len(self.said.text) // 2 if fault is FaultKind.LENGTH else 0
        return self._written(BrainReply(text=self.said.text[:kept], finish=finish))

    def _written(self, said: BrainReply) -> HttpReply:
        header = "request-id" if self.dialect.vendor == "anthropic" else "x-request-id"
        headers = ((header, self.request_id),)
        if self.call.stream:
            return HttpReply(frames=self.dialect.events(self.call, said, self.request_id), headers=headers)
        return HttpReply(body=encode(self.dialect.reply(self.call, said, self.request_id)), headers=headers)

    def _refused(self, fault: FaultKind) -> HttpReply:
        status = FAULTS[fault].status
        body = encode(fault_body(self.dialect.vendor, fault, self.request_id))
        headers = (("Retry-After", f"{self.retry_after:g}"),) if fault is FaultKind.RATE_LIMIT else ()
        return HttpReply(status=500 if status is None else status, body=body, headers=headers)
