"""Whole runs on scripted models in virtual time: what the simulations build on.
Owns the small world, its models and the sessions over one shelf; refuses to know what a test wants to see."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Literal, TypeVar

import msgspec

from skillopt.domain.errors import SkilloptError, StoreError
from skillopt.domain.skill import Skill
from skillopt.domain.tasks import Task, TaskSet
from skillopt.domain.usage import Price, Usage
from skillopt.environments.dataset import Dataset, DatasetSettings
from skillopt.kernel.events import Event
from skillopt.kernel.journal import Spent
from skillopt.kernel.limits.terms import LimitSettings, Terms
from skillopt.kernel.memory import MemoryJournal, MemoryShelf
from skillopt.kernel.observers import Observers
from skillopt.kernel.payment.retry import RetrySettings
from skillopt.kernel.plugins.members import members_of
from skillopt.kernel.ports import Chat, Environment, Observer
from skillopt.kernel.run import Run
from skillopt.kernel.view import RunView, view_of, whole
from skillopt.kernel.work import STAGES, Asker, Assessor, Staff, Stage
from skillopt.phases.aggregate import AggregateSettings
from skillopt.phases.consolidate.slow_update import SlowUpdateSettings
from skillopt.phases.gate import GateSettings
from skillopt.phases.judging.settings import JudgeSettings
from skillopt.phases.prompting import Prompts
from skillopt.phases.reflect import ReflectSettings
from skillopt.testing.clock import VirtualClock, run_virtual
from skillopt.testing.conversation import Brain
from skillopt.testing.faults import FaultPlan
from skillopt.testing.scripted import ScriptedChat
from skillopt.testing.worlds import WorldTasks, rules_world
from skillopt.train.history import StepRecord, history
from skillopt.train.lab import Lab, Parts
from skillopt.train.loop import train
from skillopt.train.plan import Plan
from skillopt.train.report import Ending, summarize
from skillopt.train.settings import OptimizerSettings, StopSettings, TrainSettings
from skillopt.train.summary import Summary

SEED_SKILL = "# House style\n\nAnswer in the answer tag.\n"
PRICE = Price(input=0.3, output=1.7)
Kind = TypeVar("Kind")
Prelude = Callable[[Run, Asker, Environment], None]


def nothing_first(_run: Run, _target: Asker, _environment: Environment) -> None:
    """Begin without a prelude."""


def as_it_is(chat: ScriptedChat) -> Chat:
    """Put nothing between the run and a model."""
    return chat


def unscrubbed(text: str) -> str:
    """Leave a text as it is."""
    return text


def staffed(target: Chat, optimizer: Chat, version: str) -> Staff:
    """Return who is asked at each stage: the target does the tasks, the optimizer everything else."""

    def asker(stage: Stage) -> Asker:
        if stage == "rollout":
            return Asker(verb=stage, role="target", chat=target, max_tokens=200, version=version)
        return Asker(verb=stage, role="judge" if stage == "judge" else "optimizer", chat=optimizer, max_tokens=2000)

    return Staff({stage: asker(stage) for stage in STAGES})


def dataset(world: WorldTasks) -> Dataset:
    """Return the environment of a world."""

    def tasks(rows: Sequence[object]) -> tuple[Task, ...]:
        return msgspec.convert([msgspec.to_builtins(row) for row in rows], tuple[Task, ...])

    split = TaskSet.checked(train=tasks(world.train), val=tasks(world.val), test=tasks(world.test))
    return Dataset(DatasetSettings(path="tasks"), split)


class House(msgspec.Struct, frozen=True, kw_only=True):
    """A world, its models and a plan; `live` runs it as often as one likes over the same shelf."""

    environment: Environment
    plan: Plan
    prompts: Prompts = Prompts()
    target_brain: str | Brain = "rules"
    optimizer_brain: str | Brain = "rules"
    target_faults: FaultPlan = FaultPlan()
    optimizer_faults: FaultPlan = FaultPlan()
    latency: float = 0.05
    optimizer_latency: float = 0.05
    price: Price | None = PRICE
    limits: LimitSettings = LimitSettings(concurrency=7)
    retry: RetrySettings = RetrySettings()
    reflect: ReflectSettings = ReflectSettings(minibatch_size=3)
    aggregate: AggregateSettings = AggregateSettings()
    gate: GateSettings = GateSettings(rule="strict")
    judge: JudgeSettings = JudgeSettings()
    assessor: Assessor | None = None
    scrub: Callable[[str], str] = unscrubbed
    prelude: Prelude = nothing_first
    wire: Callable[[ScriptedChat], Chat] = as_it_is

    def but(self, **changes: object) -> House:
        """Return this house with some fields changed."""
        return msgspec.structs.replace(self, **changes)

    def faulty(self, faults: FaultPlan) -> House:
        """Return this house with both models failing by one plan."""
        return self.but(target_faults=faults, optimizer_faults=faults)

    def at_once(self, concurrency: int | Literal["auto"], **limits: float) -> House:
        """Return this house with so many workers, and caps."""
        return self.but(limits=msgspec.structs.replace(self.limits, concurrency=concurrency, **limits))


class Lived(msgspec.Struct, frozen=True, kw_only=True):
    """What one session of a run came to."""

    error: Exception | None
    events: tuple[Event, ...]
    view: RunView
    records: tuple[StepRecord, ...]
    summary: Summary
    spent: Spent
    target: ScriptedChat
    optimizer: ScriptedChat
    in_flight_at_kill: int

    @property
    def served(self) -> int:
        """How many requests both models answered."""
        return self.target.served + self.optimizer.served

    @property
    def calls(self) -> int:
        """How many requests both models received."""
        return self.target.calls + self.optimizer.calls

    @property
    def faults(self) -> int:
        """How many requests failed on purpose."""
        return sum(self.target.faults.values()) + sum(self.optimizer.faults.values())

    @property
    def used(self) -> Usage:
        """What both models' answers cost."""
        return self.target.used + self.optimizer.used

    def events_of(self, kind: type[Kind]) -> list[Kind]:
        """Return the events of one kind."""
        return [event for event in self.events if isinstance(event, kind)]

    @property
    def best(self) -> str:
        """The text of the best skill, or nothing if the run did not reach its end."""
        return "" if self.view.ended is None else self.view.skills[self.view.ended.best_digest].files["SKILL.md"]

    @property
    def lasting(self) -> bytes:
        """Everything that must be the same however a run was interrupted: skill, history and summary, but its name."""
        summary = msgspec.structs.replace(self.summary, run="", run_dir="", best_skill="", wall_seconds=0.0)
        told = msgspec.to_builtins(summary)
        told["usage"].pop("overhead")
        return msgspec.json.encode((self.best, self.records, told))


def house(seed: int = 1, *, train_size: int = 12, val: int = 8, test: int = 8, epochs: int = 2) -> House:
    """Return a small rules world with its plan; nothing is drawn from its epochs."""
    environment = dataset(rules_world(seed, train_size, val, test))
    plan = Plan(
        seed_skill=Skill.from_text(SEED_SKILL),
        tasks=environment.tasks,
        train=TrainSettings(epochs=epochs, batch_size=6, seed=seed),
        optimizer=OptimizerSettings(
            edit_budget=3, min_edit_budget=1, slow_update=SlowUpdateSettings(enabled=False), meta_skill=False
        ),
        stop=StopSettings(),
    )
    return House(environment=environment, plan=plan)


class Session:
    """One opening of a run with models of its own; `kill_at` makes the journal die right after that many records."""

    def __init__(
        self,
        home: House,
        shelf: MemoryShelf,
        *,
        name: str = "run",
        kill_at: int | None = None,
        observers: Sequence[Observer] = (),
    ) -> None:
        self._home = home
        self._name = name
        self._shelf = shelf
        self._kill_at = kill_at
        self._observers = observers
        self.target = _model(home.target_brain, "target", home.target_faults, home.latency, home.price)
        self.optimizer = _model(home.optimizer_brain, "opt", home.optimizer_faults, home.optimizer_latency, home.price)
        self.appended = 0
        self.closings: list[int] = []
        self.in_flight_at_kill = 0
        self._killed_at: float | None = None
        self._journal = MemoryJournal(shelf, clock=VirtualClock(), after_append=self._appended)

    async def live(self) -> Lived:
        """Run to the end, or to whatever stops the run."""
        error: Exception | None = None
        events: tuple[Event, ...] = ()
        spent = Spent()
        clock = VirtualClock()
        began = clock.now()
        try:
            handle = self._journal.open_run(self._name, b"plan")
            terms = Terms(
                journal=self._journal,
                handle=handle,
                clock=clock,
                limits=self._home.limits,
                retry=self._home.retry,
                scrub=self._home.scrub,
            )
            run = Run(terms, Observers(self._observers))
            error = await self._train(run)
            self._journal.end_session(handle, "finished" if error is None else "stopped", "")
            events, spent = whole(self._journal.events(self._name)), self._journal.spent(handle)
            await self._journal.close()
        except StoreError as crashed:
            error = crashed
        ended = clock.now() if self._killed_at is None else self._killed_at
        return self._lived(error, events, spent, ended - began)

    async def _train(self, run: Run) -> SkilloptError | None:
        home = self._home
        staff = staffed(home.wire(self.target), home.wire(self.optimizer), home.environment.version)
        lab = Lab(
            Parts(
                run=run,
                environment=home.environment,
                staff=staff,
                prompts=home.prompts,
                members=members_of(home.environment),
                reflect=home.reflect,
                aggregate=home.aggregate,
                optimizer=home.plan.optimizer,
                gate=home.gate,
                judge=home.judge,
                assessor=home.assessor,
            )
        )
        home.prelude(run, staff.at("rollout"), home.environment)
        try:
            await train(home.plan, lab, run)
        except SkilloptError as raised:
            if isinstance(raised, StoreError):
                raise
            return raised
        finally:
            await _closed(run)
        return None

    def _appended(self, count: int) -> None:
        self.appended = count
        if len(self._shelf.shelved[self._name].phases) > len(self.closings):
            self.closings.append(count)
        if count == self._kill_at:
            self.in_flight_at_kill = self.target.in_flight + self.optimizer.in_flight
            self._killed_at = VirtualClock().now()
            raise StoreError("Killed on purpose.")

    def _lived(self, error: Exception | None, events: tuple[Event, ...], spent: Spent, seconds: float) -> Lived:
        view = view_of(events)
        ending = Ending(
            run=self._name,
            run_dir=f".skillopt/runs/{self._name}",
            status="finished" if error is None else "stopped",
            stop_reason="" if view.ended is None else view.ended.stop_reason,
            spent=spent,
            wall_seconds=seconds,
        )
        return Lived(
            error=error,
            events=events,
            view=view,
            records=history(view),
            summary=summarize(view, ending),
            spent=spent,
            target=self.target,
            optimizer=self.optimizer,
            in_flight_at_kill=self.in_flight_at_kill,
        )


def live(
    home: House,
    shelf: MemoryShelf | None = None,
    *,
    name: str = "run",
    kill_at: int | None = None,
    observers: Sequence[Observer] = (),
) -> Lived:
    """Run the house once, to its end or to whatever stops it; the models are new each time, the shelf may not be."""
    shelf = MemoryShelf() if shelf is None else shelf
    return run_virtual(Session(home, shelf, name=name, kill_at=kill_at, observers=observers).live())


def appends(home: House) -> int:
    """Return how many records a run of this house makes when nothing stops it."""
    session = Session(home, MemoryShelf())
    run_virtual(session.live())
    return session.appended


def live_at_the_same_time(homes: Sequence[House], shelf: MemoryShelf) -> list[Lived]:
    """Run several houses in one process over one shelf, as runs of different names."""

    async def all_of_them() -> list[Lived]:
        return await asyncio.gather(
            *(Session(home, shelf, name=f"run-{number}").live() for number, home in enumerate(homes))
        )

    return run_virtual(all_of_them())


async def _closed(run: Run) -> None:
    """End what the run started, as far as its journal is still alive."""
    try:
        await run.close()
    except StoreError:
        return


def _model(brain: str | Brain, name: str, faults: FaultPlan, latency: float, price: Price | None) -> ScriptedChat:
    return ScriptedChat(brain, model=name, faults=faults, latency=latency, price=price, timeout=60.0)
