"""Finds out what a run would cost: runs it with a cap of no calls on what the workspace has, and estimates the rest.
Owns where the estimate's figures come from; refuses to send a request or to write a record."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import msgspec

from skillopt.app.config import ScriptedModel, role_at
from skillopt.app.models import at_stage, known_price
from skillopt.app.planning.preview import Preview
from skillopt.app.project.prepare import Prepared
from skillopt.app.session import train_session
from skillopt.app.workspace import JOURNAL
from skillopt.domain.errors import BudgetReachedError
from skillopt.domain.usage import NOTHING, Caps, Usage
from skillopt.kernel.clock import SystemClock
from skillopt.kernel.events import Event, Measured, PhaseEnded, Signal, StepEnded, UnitSettled
from skillopt.kernel.journal import Spent
from skillopt.kernel.limits.terms import LimitSettings
from skillopt.kernel.memory import MemoryJournal
from skillopt.kernel.ports import Clock
from skillopt.kernel.view import RunView, view_of
from skillopt.kernel.work import STAGES
from skillopt.store.reader import SqliteReader
from skillopt.train.forecast.calls import Setup
from skillopt.train.forecast.course import Begun, begun, courses
from skillopt.train.forecast.estimate import Asked, Estimate, estimate
from skillopt.train.forecast.pace import Pace
from skillopt.train.forecast.sizes import TERSE, sizes

_BASELINE = ("baseline", "val")
_RECENT = 5  # runs of the workspace that are asked how long texts are, and how long answers take
_ADAPTING = (4, 32, 512)  # slots where their number adapts: as it starts, as is usual, and the most


class Forecast(msgspec.Struct, frozen=True, kw_only=True):
    """What `train --plan` says: the run, how far the journal carries it, what is still to be paid, and what is written.

    `known` says whether an earlier run of the workspace, or this one, told how long replies are and how a run goes.
    """

    run: str
    epochs: int
    steps: int
    steps_done: int
    estimate: Estimate
    known: bool
    files: tuple[str, ...]


async def forecast(prepared: Prepared, name: str) -> Forecast:
    """Return what the run of this name would still cost."""
    config, plan = prepared.config, prepared.plan
    clock = SystemClock()
    with _reading(prepared, clock) as (journal, reader):
        start, view = await _dry_run(prepared, journal, clock, name)
        earlier = None if reader is None else _earlier(reader, name, config.gate.rule)
        others = () if reader is None else tuple(_others(reader, name))
        left = _left(config.limits.caps, None if reader is None or name not in _names(reader) else reader.spent(name))
        pace = None if reader is None else _pace(reader, config.limits.concurrency)
    setup = Setup(plan=plan, reflect=config.reflect, aggregate=config.aggregate, gate=config.gate, judge=config.judge)
    seen = _seen(view, RunView() if earlier is None else earlier, others)
    return Forecast(
        run=name,
        epochs=plan.train.epochs,
        steps=plan.total_steps,
        steps_done=start.steps,
        estimate=estimate(setup, start, courses(start, earlier), _asked(prepared, setup, seen), left, pace),
        known=bool(seen),
        files=(f"{prepared.workspace.name}/{JOURNAL}", f"{prepared.workspace.name}/runs/{name}/"),
    )


class _Ear:
    """Counts, by verb, what the open part of the run had answers for."""

    def __init__(self) -> None:
        self._whole: Counter[str] = Counter()
        self._open: Counter[str] = Counter()

    def asked(self, verb: str) -> dict[str, int]:
        """Return what was answered since the last whole step; `verb` is that of the phase that could not end."""
        return dict(self._whole + Counter({verb: self._open.total()}))

    def see(self, fact: Event | Signal) -> None:
        """Take note of what was answered."""
        if isinstance(fact, UnitSettled):
            self._open[fact.path] += fact.replayed
        elif isinstance(fact, PhaseEnded):
            self._open.clear()
            self._whole[fact.verb] += fact.answered + fact.failed
        elif isinstance(fact, StepEnded) or (isinstance(fact, Measured) and (fact.label, fact.split) == _BASELINE):
            self._whole.clear()


async def _dry_run(prepared: Prepared, journal: MemoryJournal, clock: Clock, name: str) -> tuple[Begun, RunView]:
    """Run as far as there are answers: under a cap of no calls nothing can be sent."""
    limits = LimitSettings(calls=0, usd=prepared.config.limits.usd)
    config = msgspec.structs.replace(prepared.config, limits=limits)
    dry = msgspec.structs.replace(prepared, config=config, in_memory=True)
    ear = _Ear()
    ended = await train_session(dry, journal, clock, name=name, observers=(ear,), started=_nobody_interrupts)
    if ended.error is not None and not isinstance(ended.error, BudgetReachedError):
        raise ended.error
    view = view_of(journal.events(name))
    return begun(view, ear.asked("" if view.phase is None else view.phase.verb)), view


@contextmanager
def _reading(prepared: Prepared, clock: Clock) -> Iterator[tuple[MemoryJournal, SqliteReader | None]]:
    path = prepared.workspace / JOURNAL
    if not path.is_file():
        yield MemoryJournal(clock=clock), None
        return
    with SqliteReader(path) as reader:
        yield Preview(reader, clock=clock), reader


def _names(reader: SqliteReader) -> frozenset[str]:
    return frozenset(row.name for row in reader.runs())


def _earlier(reader: SqliteReader, name: str, rule: str) -> RunView | None:
    """Return the newest other run of the workspace that trained to its end under the same rule of the gate."""
    for row in reversed(reader.runs()):
        if row.name == name or row.status != "finished" or row.name.startswith("eval-"):
            continue
        view = view_of(reader.events(row.name))
        if view.began is not None and view.began.gate_rule == rule and view.finished_steps:
            return view
    return None


def _others(reader: SqliteReader, name: str) -> Iterator[RunView]:
    """Yield the other runs of the workspace, the newest first, however they ended: they tell how long texts are."""
    rows = [row for row in reader.runs() if row.name != name]
    yield from (view_of(reader.events(row.name)) for row in reversed(rows[-_RECENT:]))


def _seen(own: RunView, earlier: RunView, others: Sequence[RunView]) -> dict[str, Usage]:
    """Return what calls used by verb, in this run and an earlier one, or else in the newest that asked for it."""
    used: dict[str, Usage] = {}
    for view in reversed(others):
        used |= {verb: usage for verb, usage in view.stages.items() if usage.calls}
    both = {verb: own.stages.get(verb, NOTHING) + earlier.stages.get(verb, NOTHING) for verb in STAGES}
    return used | {verb: usage for verb, usage in both.items() if usage.calls}


def _pace(reader: SqliteReader, concurrency: int | str) -> Pace:
    """Return how long calls take, by verb, as the newest run that asked this role had them."""
    seconds: dict[str, float] = {}
    for row in reader.runs()[-_RECENT:]:
        seconds |= reader.seconds_a_call(row.name)
    slots = (concurrency,) * 3 if isinstance(concurrency, int) else _ADAPTING
    return Pace(seconds={stage: seconds[role_at(stage)] for stage in STAGES if role_at(stage) in seconds}, slots=slots)


def _asked(prepared: Prepared, setup: Setup, seen: dict[str, Usage]) -> dict[str, Asked]:
    models = prepared.config.models
    players = {"target": models.target, "optimizer": models.optimizer, "judge": models.judging}
    asked = {stage: at_stage(players[role_at(stage)], stage) for stage in STAGES}
    longest = {stage: model.max_tokens for stage, model in asked.items()}
    terse = {stage: TERSE for stage, model in asked.items() if isinstance(model, ScriptedModel)}
    found = sizes(setup, prepared.environment, seen, longest, terse)
    return {
        stage: Asked(role=role_at(stage), size=found[stage], price=known_price(model)) for stage, model in asked.items()
    }


def _left(caps: Caps, spent: Spent | None) -> Caps:
    """Return what is left under the caps."""
    charged, seconds = (NOTHING, 0.0) if spent is None else (spent.charged, spent.seconds)
    return Caps(
        calls=None if caps.calls is None else max(0, caps.calls - charged.calls),
        tokens=None if caps.tokens is None else max(0, caps.tokens - charged.tokens),
        usd=None if caps.usd is None else max(0.0, caps.usd - charged.usd),
        seconds=None if caps.seconds is None else max(0.0, caps.seconds - seconds),
    )


def _nobody_interrupts(_interrupt: Callable[[], None]) -> None:
    """A dry run waits for nobody."""
