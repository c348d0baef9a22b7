"""Bar 2: what one call costs our process in CPU, of all threads, when the model answers at once.
Everything is included: client, ledger, durable journal, scores and events. The detail says what each layer adds."""

from __future__ import annotations

import asyncio
import statistics
from collections.abc import Callable
from pathlib import Path

import msgspec

from benchmarks import raw
from benchmarks.claims import Claim, Part, rounded, tell
from benchmarks.session import Cost, Meter, measure_val
from benchmarks.workspace import Stub, folder, prepared, request_body, stub, write_project
from skillopt.app.models import make_chat
from skillopt.app.project.prepare import Prepared
from skillopt.kernel.clock import SystemClock
from skillopt.kernel.journal import Journal
from skillopt.kernel.limits.terms import Terms
from skillopt.kernel.memory import MemoryJournal, MemoryShelf
from skillopt.kernel.observers import Observers
from skillopt.kernel.run import Run
from skillopt.kernel.work import Asker
from skillopt.phases.attempts import Prompted
from skillopt.phases.rollout import Rollouts
from skillopt.store.sqlite import SqliteJournal

_CALLS = 10_000
_CONCURRENCY = 32
_ROUNDS = 3
_MUST_MS = 0.25

Variant = Callable[[Prepared], Cost]


class _Layers(msgspec.Struct, frozen=True, kw_only=True):
    """CPU a call with one layer after the other, in milliseconds; the wall of the whole, in calls a second."""

    rounds: list[float]
    raw: float
    client_only: float
    with_ledger: float
    with_journal: float
    with_scores_and_events: float
    calls_per_second: float


def measure() -> Claim:
    """Measure each layer, by turns."""
    with folder() as path, stub() as server:
        config = write_project(path, server.base_url, val=_CALLS)
        costs: dict[str, list[Cost]] = {name: [] for name in ("raw", *_VARIANTS)}
        for number in range(_ROUNDS):
            ready = prepared(config, workspace=f"round-{number}", concurrency=_CONCURRENCY)
            costs["raw"].append(_raw(server, ready))
            for name, variant in _VARIANTS.items():
                apart = msgspec.structs.replace(ready, workspace=path / f"round-{number}-{name}")
                costs[name].append(variant(apart))
    each = {name: [cost.cpu / _CALLS * 1000 for cost in rounds] for name, rounds in costs.items()}
    middle = {name: round(statistics.median(rounds), 4) for name, rounds in each.items()}
    whole = each["with_scores_and_events"]
    layers = _Layers(
        rounds=rounded(whole),
        calls_per_second=round(_CALLS / statistics.median(cost.wall for cost in costs["with_scores_and_events"])),
        **middle,
    )
    return Claim(
        name="client_cpu",
        bar=2,
        unit="ms of CPU a call",
        parts=(Part("whole", statistics.median(whole), "<=", _MUST_MS),),
        detail={"calls": _CALLS, "concurrency": _CONCURRENCY, "ms_a_call": layers},
    )


def _raw(server: Stub, ready: Prepared) -> Cost:
    body = request_body(ready)
    meter = Meter()
    asyncio.run(raw.ask(server.port, body, calls=_CALLS, concurrency=_CONCURRENCY))
    return meter.read()


def _client_only(ready: Prepared) -> Cost:
    async def ask_all() -> None:
        chat = make_chat("target", ready.config.models.target, ready.config.limits.caps)
        tasks = iter(ready.plan.val)
        skill = ready.plan.seed_skill.rendered
        asker = Asker(verb="rollout", role="target", chat=chat, max_tokens=4096)

        async def worker() -> None:
            for task in tasks:
                await asker.ask(ready.environment.messages(task, skill)).perform()

        await asyncio.gather(*(worker() for _ in range(_CONCURRENCY)))
        await chat.close()

    meter = Meter()
    asyncio.run(ask_all())
    return meter.read()


def _with_ledger(ready: Prepared) -> Cost:
    return _do_all(ready, lambda _: MemoryJournal(MemoryShelf(), clock=SystemClock()))


def _with_journal(ready: Prepared) -> Cost:
    return _do_all(ready, lambda path: SqliteJournal(path, clock=SystemClock()))


def _do_all(ready: Prepared, opened: Callable[[Path], Journal]) -> Cost:
    """Have every rollout done by a run over this journal, with nothing scored."""

    async def do() -> None:
        journal = opened(ready.workspace / "journal.db")
        chat = make_chat("target", ready.config.models.target, ready.config.limits.caps)
        terms = Terms(
            journal=journal,
            handle=journal.open_run("layers", b""),
            clock=SystemClock(),
            limits=ready.config.limits,
            scrub=ready.scrub,
        )
        run = Run(terms, Observers(()))
        asker = Asker(verb="rollout", role="target", chat=chat, max_tokens=4096)
        works = Rollouts(
            attempts=Prompted(asker=asker, environment=ready.environment),
            skill=ready.plan.seed_skill,
            tasks=ready.plan.val,
        )
        await run.do("rollout", "rollout", works)
        await run.close()
        await chat.close()
        await journal.close()

    meter = Meter()
    asyncio.run(do())
    return meter.read()


_VARIANTS: dict[str, Variant] = {
    "client_only": _client_only,
    "with_ledger": _with_ledger,
    "with_journal": _with_journal,
    "with_scores_and_events": measure_val,
}

if __name__ == "__main__":
    tell(measure())
