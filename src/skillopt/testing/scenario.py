"""Scenarios: one line of text that says which brain answers, how fast, and what goes wrong.
Owns the grammar, which is `brain[,key=value]…`; the same line works in a server's URL and in process.
A brain may be spelled out: `script:` and the JSON of its turns, which may hold commas.

Example: `rules,rate=0.3,seed=7,repeats=3,kinds=rate_limit+cut+garbage`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

import msgspec

from skillopt.domain.errors import UsageError, unknown_name
from skillopt.testing.faults import TRANSIENT, FaultAt, FaultPlan, fault_kind
from skillopt.testing.tooluse.script import script_length

Value = float | int | tuple[object, ...]


class Scenario(msgspec.Struct, frozen=True, kw_only=True):
    """A brain's name and its circumstances. `together` holds replies back until so many requests are waiting."""

    brain: str
    faults: FaultPlan = FaultPlan()
    latency: float | None = None
    optimizer_latency: float | None = None
    together: int = 1

    def latency_of(self, role: str) -> float | None:
        """Return the seconds before a reply for this role; None where the scenario does not say."""
        if role == "target" or self.optimizer_latency is None:
            return self.latency
        return self.optimizer_latency


def _number(text: str) -> float:
    value = float(text)
    if not 0.0 <= value < float("inf"):
        raise ValueError
    return value


def _count(text: str) -> int:
    value = int(text)
    if value < 1:
        raise ValueError
    return value


def _kinds(text: str) -> tuple[object, ...]:
    return tuple(fault_kind(name) for name in text.split("+"))


def _faults_at(text: str) -> tuple[object, ...]:
    pairs = [item.split(":") for item in text.split("+")]
    return tuple(FaultAt(_count(call), fault_kind(kind)) for call, kind in pairs)


class _Key(msgspec.Struct, frozen=True):
    """How a key's value is read, and what it should look like."""

    read: Callable[[str], Value]
    looks: str


KEYS: Mapping[str, _Key] = MappingProxyType(
    {
        "at": _Key(_faults_at, "calls that fail, such as 3:auth+5:cut"),
        "kinds": _Key(_kinds, "fault kinds joined by +"),
        "latency": _Key(_number, "seconds"),
        "optimizer_latency": _Key(_number, "seconds"),
        "rate": _Key(_number, "a share from 0 to 1"),
        "repeats": _Key(_count, "the most failures of one request, 1 or more"),
        "retry_after": _Key(_number, "seconds"),
        "seed": _Key(int, "a whole number"),
        "slow": _Key(_number, "seconds"),
        "together": _Key(_count, "how many requests must wait before any is answered"),
    }
)
_PLAN_FIELDS = MappingProxyType({"repeats": "max_repeats"})
_OWN_FIELDS = frozenset({"latency", "optimizer_latency", "together"})


def parse_scenario(text: str) -> Scenario:
    """Read a scenario; an unknown key, or a value that does not fit its key, is an error that says what does.

    `kinds` without `rate` means always; `rate` without `kinds` means any fault that passes when tried again.
    """
    brain, items = _split(text)
    own: dict[str, Value] = {}
    plan: dict[str, Value] = {}
    for item in items:
        name, _, written = item.partition("=")
        value = _read(name, written)
        if name in _OWN_FIELDS:
            own[name] = value
        else:
            plan[_PLAN_FIELDS.get(name, name)] = value
    if "kinds" in plan and "rate" not in plan:
        plan["rate"] = 1.0
    faults = msgspec.structs.replace(FaultPlan(kinds=TRANSIENT), **plan)
    return msgspec.structs.replace(Scenario(brain=brain, faults=faults), **own)


def _split(text: str) -> tuple[str, list[str]]:
    """Return the brain and what comes after it; the end of a script is the end of its JSON."""
    end = script_length(text)
    brain, comma, rest = text[end:].partition(",")
    return text[:end] + brain, rest.split(",") if comma else []


def _read(name: str, written: str) -> Value:
    key = KEYS.get(name)
    if key is None:
        raise unknown_name("scenario key", name, KEYS)
    try:
        return key.read(written)
    except ValueError:
        raise UsageError(f"The scenario key {name!r} cannot be {written!r}.", hint=f"Give {key.looks}.") from None
