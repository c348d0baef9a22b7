"""Prunings on scripted models in virtual time: skills with rules that tasks need and sentences that nothing needs.
Owns the planted documents and the sessions over one shelf; refuses to know what a test wants to see."""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec

from skillopt.domain.errors import SkilloptError, StoreError
from skillopt.domain.seeds import dice
from skillopt.domain.skill import Skill
from skillopt.environments.dataset import Dataset
from skillopt.kernel.events import Event
from skillopt.kernel.limits.terms import LimitSettings, Terms
from skillopt.kernel.memory import MemoryJournal, MemoryShelf
from skillopt.kernel.observers import Observers
from skillopt.kernel.payment.retry import RetrySettings
from skillopt.kernel.run import Run
from skillopt.testing.clock import VirtualClock, run_virtual
from skillopt.testing.conversation import Brain
from skillopt.testing.faults import FaultPlan
from skillopt.testing.scripted import ScriptedChat
from skillopt.testing.worlds import HIDDEN_RULES, NEEDS, hidden_rules_world
from skillopt.train.lab import Lab, Parts
from skillopt.train.pruning.prune import Pruned, PrunePlan, prune
from skillopt.train.pruning.settings import PruneSettings
from tests.simulation.house import dataset, staffed, unscrubbed

_MATTERS = ("the ledger", "the parcels", "the timetable", "the visitors", "the invoices", "the harbour", "the archive")
_HABITS = ("with care", "in good time", "as usual", "without haste", "once a week", "in the morning", "in plain words")


class Planted(msgspec.Struct, frozen=True, kw_only=True):
    """A document, the sentences that val tasks need, and those that nothing needs."""

    skill: Skill
    useful: frozenset[str]
    useless: frozenset[str]


class Garden(msgspec.Struct, frozen=True, kw_only=True):
    """A planted document with its world and the settings of a pruning."""

    planted: Planted
    environment: Dataset
    settings: PruneSettings = PruneSettings()
    brain: str | Brain = "hidden-rules"
    faults: FaultPlan = FaultPlan()
    limits: LimitSettings = LimitSettings(concurrency=7)

    def but(self, **changes: object) -> Garden:
        """Return this garden with some fields changed."""
        return msgspec.structs.replace(self, **changes)


class Gardened(msgspec.Struct, frozen=True, kw_only=True):
    """What one session of a pruning came to."""

    pruned: Pruned | None
    error: Exception | None
    events: tuple[Event, ...]
    target: ScriptedChat
    appended: int
    in_flight_at_kill: int


def garden(seed: int, *, useless: int = 10, val: int = 40) -> Garden:
    """Return the eight hidden rules among sentences of no use, in items, paragraphs and sections, as the seed says."""
    environment = dataset(hidden_rules_world(seed, train=4, val=val, test=2))
    needed = {
        name
        for task in environment.tasks.val
        if isinstance(task.input, str)
        for tags in NEEDS.findall(task.input)
        for name in tags.split(", ")
    }
    useful = {rule.sentence for rule in HIDDEN_RULES.rules if rule.name in needed}
    unneeded = {rule.sentence for rule in HIDDEN_RULES.rules if rule.name not in needed}
    planted = {*unneeded, *_sentences(seed, useless)}
    skill = Skill.from_text(_document(seed, sorted(useful | planted)))
    return Garden(
        planted=Planted(skill=skill, useful=frozenset(useful), useless=frozenset(planted)), environment=environment
    )


def tend(home: Garden, shelf: MemoryShelf | None = None, *, kill_at: int | None = None) -> Gardened:
    """Prune once, to the end or to whatever stops it; the models are new each time, the shelf may not be."""
    return run_virtual(_Session(home, MemoryShelf() if shelf is None else shelf, kill_at).live())


def _sentences(seed: int, count: int) -> list[str]:
    draw = dice("useless", seed)
    every = [f"Think of {matter} {habit}." for matter in _MATTERS for habit in _HABITS]
    return draw.sample(every, count)


def _document(seed: int, sentences: list[str]) -> str:
    """Lay the sentences out at random: as items, as lines of a paragraph, or as paragraphs, under some headings."""
    draw = dice("layout", seed)
    draw.shuffle(sentences)
    return "---\nname: office\ndescription: For the office.\n---\n\n# Office\n" + "".join(
        _laid_out(draw.choice, sentences)
    )


def _laid_out(choose: object, sentences: list[str]) -> Iterator[str]:
    assert callable(choose)
    layout = ""
    for number, sentence in enumerate(sentences):
        if number % 5 == 0:
            yield f"\n## Part {number // 5 + 1}\n"
            layout = ""
        before, layout = layout, choose(("item", "line", "paragraph"))
        gap = "" if layout == before and layout != "paragraph" else "\n"
        yield f"{gap}{'- ' if layout == 'item' else ''}{sentence}\n"


class _Session:
    """One opening of a pruning with models of its own; after `kill_at` records the journal dies."""

    def __init__(self, home: Garden, shelf: MemoryShelf, kill_at: int | None) -> None:
        self._home = home
        self._kill_at = kill_at
        self._target = ScriptedChat(home.brain, model="target", faults=home.faults, latency=0.05, timeout=60.0)
        self._journal = MemoryJournal(shelf, clock=VirtualClock(), after_append=self._appended_one)
        self._appended = 0
        self._in_flight = 0

    async def live(self) -> Gardened:
        """Prune to the end, or to whatever stops it."""
        home, pruned, error = self._home, None, None
        events: tuple[Event, ...] = ()
        try:
            handle = self._journal.open_run("prune", b"plan")
            terms = Terms(
                journal=self._journal,
                handle=handle,
                clock=VirtualClock(),
                limits=home.limits,
                retry=RetrySettings(),
                scrub=unscrubbed,
            )
            run = Run(terms, Observers(()))
            staff = staffed(self._target, self._target, home.environment.version)
            measure = Lab(Parts(run=run, environment=home.environment, staff=staff)).measuring.measure
            plan = PrunePlan(skill=home.planted.skill, val=home.environment.tasks.val, settings=home.settings)
            try:
                pruned = await prune(plan, measure, run)
            except SkilloptError as raised:
                if isinstance(raised, StoreError):
                    raise
                error = raised
            await run.close()
            self._journal.end_session(handle, "finished" if error is None else "stopped", "")
            events = self._journal.events("prune")
            await self._journal.close()
        except StoreError as crashed:
            error = crashed
        return Gardened(
            pruned=pruned,
            error=error,
            events=events,
            target=self._target,
            appended=self._appended,
            in_flight_at_kill=self._in_flight,
        )

    def _appended_one(self, count: int) -> None:
        self._appended = count
        if count == self._kill_at:
            self._in_flight = self._target.in_flight
            raise StoreError("Killed on purpose.")


def held(skill: Skill, sentences: frozenset[str]) -> frozenset[str]:
    """Return those of the sentences that a skill still holds."""
    return frozenset(sentence for sentence in sentences if re.search(re.escape(sentence), skill.text))
