"""`optimize` and `evaluate`, each for plain and for async callers.
Owns the signatures and how a session is run from Python; refuses to know the forms in which things are given."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from functools import wraps
from pathlib import Path
from typing import ParamSpec, TypeVar, Unpack

from skillopt.app.library.given import Ask, Attempt, Given, GivenModel, Grade, Keeping, Settings, Tasks, prepared_from
from skillopt.app.library.results import Evaluated, Optimized, evaluated, optimized
from skillopt.app.project.prepare import Prepared
from skillopt.app.session import Exam, eval_session, train_session
from skillopt.app.workspace import opened_journal
from skillopt.domain.errors import ProviderError, UsageError
from skillopt.domain.skill import Skill
from skillopt.domain.tasks import SplitName
from skillopt.kernel.clock import SystemClock
from skillopt.kernel.events import AttemptFailed, Event, Signal
from skillopt.kernel.journal import Journal
from skillopt.kernel.memory import MemoryJournal
from skillopt.kernel.ports import Clock

Result = TypeVar("Result")
Arguments = ParamSpec("Arguments")


async def aoptimize(
    *,
    skill: str | Path | Skill | None,
    tasks: Tasks,
    attempt: Attempt | GivenModel,
    optimizer: Ask | GivenModel,
    grade: Grade | None = None,
    settings: Settings | None = None,
    **keeping: Unpack[Keeping],
) -> Optimized:
    """Improve a skill, and return it with what it scored; a change is kept only if held-out tasks accept it.

    `optimize` is for plain code, `await aoptimize` for code in an event loop.

    skill: The text of the document, the Path of a file or folder, a Skill, or None for a blank start.
    tasks: Tasks to be split, or a mapping from train, val and test to tasks, or the Path of a file or folder of them;
        or an environment of your own, which has tasks, puts them and grades the answers.
    attempt: A function (skill_text, task) -> answer, plain or async; or the settings of a model, or a Chat. The task
        comes without reference, checks and rubric. Where an environment puts them, a function is given its messages.
    optimizer: Who proposes changes: the settings of a model, a Chat, or a function (messages) -> reply.
    grade: A function (task, answer) -> Score, bool or number from 0 to 1; by default as the tasks themselves say. A
        plain one must be pure, for it is called again on replay; an async one is asked and kept as a judge is.
    settings: Any section of a config but skill, such as {"train": {"epochs": 2}, "limits": {"calls": 500}}.
    keeping: `workspace`, with the `version` of your functions; `run`; `observers`. Without a workspace the run is in
        memory and forgotten at the end.

    A function that raises has given no answer: that is a failure with a cause and never a score of 0. What ends a run
    before its time is in the result's summary; what keeps it from having any result is raised.
    """
    given = Given(
        skill=skill,
        tasks=tasks,
        attempt=attempt,
        grade=grade,
        optimizer=optimizer,
        settings={} if settings is None else settings,
        keeping=keeping,
    )
    prepared = prepared_from(given, trains=True)
    clock = SystemClock()
    ear = _Ear()
    watching = (ear, *keeping.get("observers", ()))
    async with _journal(prepared, clock) as journal:
        name = keeping.get("run", prepared.default_name)
        ended = await train_session(prepared, journal, clock, name=name, observers=watching, started=_nobody_interrupts)
        if ended.error is not None and ended.summary.status == "failed":
            raise ended.error from ear.last
        return optimized(prepared, journal.events(name), ended)


async def aevaluate(
    *,
    skill: str | Path | Skill | None,
    tasks: Tasks,
    attempt: Attempt | GivenModel,
    grade: Grade | None = None,
    settings: Settings | None = None,
    **keeping: Unpack[Keeping],
) -> Evaluated:
    """Score a skill on all these tasks, whatever their split, with a 95 % interval.

    The arguments are those of `optimize`. `evaluate` is for plain code, `await aevaluate` for code in an event loop.
    """
    given = Given(
        skill=skill,
        tasks=tasks,
        attempt=attempt,
        grade=grade,
        optimizer=None,
        settings={} if settings is None else settings,
        keeping=keeping,
    )
    prepared = prepared_from(given, trains=False)
    clock = SystemClock()
    ear = _Ear()
    watching = (ear, *keeping.get("observers", ()))
    async with _journal(prepared, clock) as journal:
        exam = Exam(skill=prepared.plan.seed_skill, split=SplitName.TEST)
        examined = await eval_session(prepared, journal, clock, exam, started=_nobody_interrupts, observers=watching)
        if examined.error is not None:
            raise examined.error from ear.last
        return evaluated(examined)


class _Ear:
    """Remembers the last attempt that failed: it says what a function raised, which an outage's error only counts."""

    def __init__(self) -> None:
        self.last: ProviderError | None = None

    def see(self, fact: Event | Signal) -> None:
        """Take note of a failed attempt."""
        if isinstance(fact, AttemptFailed):
            self.last = ProviderError(fact.message)


def _plain(name: str, of: Callable[Arguments, Coroutine[object, object, Result]]) -> Callable[Arguments, Result]:
    """Return the face of an async function for code outside of any event loop."""

    @wraps(of)
    def called(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Result:
        if _in_a_loop():
            raise UsageError(
                "An event loop is running here already, and this would block it.",
                hint=f"Use: await skillopt.{of.__name__}(…).",
            )
        return asyncio.run(of(*args, **kwargs))

    called.__name__ = called.__qualname__ = name
    return called


def _in_a_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


optimize = _plain("optimize", aoptimize)
evaluate = _plain("evaluate", aevaluate)


@asynccontextmanager
async def _journal(prepared: Prepared, clock: Clock) -> AsyncIterator[Journal]:
    if not prepared.in_memory:
        async with opened_journal(prepared.workspace, clock) as journal:
            yield journal
        return
    memory = MemoryJournal(clock=clock)
    try:
        yield memory
    finally:
        await memory.close()


def _nobody_interrupts(_interrupt: Callable[[], None]) -> None:
    """Whoever calls the library stops it by cancelling, as any other work."""
