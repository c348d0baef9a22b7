"""One session of a run: opens the journal, wires ports to adapters, runs the loop, and writes what came of it.
Owns the order of opening and closing, and how a stop is told; refuses to know phases and terminals."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import TypeVar

import msgspec

from skillopt import __version__
from skillopt.app.config import plan_difference, title_of
from skillopt.app.folder import RunFolder
from skillopt.app.project.prepare import Prepared
from skillopt.app.stop_file import NAME as STOP_FILE
from skillopt.app.stop_file import StopFile
from skillopt.app.wire import Crew, assessor_of, programs_of
from skillopt.domain.errors import (
    BudgetReachedError,
    InterruptedRunError,
    QuotaExhaustedError,
    SkilloptError,
    StoppedRunError,
    UnansweredError,
    UnavailableError,
    UsageError,
)
from skillopt.domain.skill import Skill
from skillopt.domain.tasks import SplitName
from skillopt.domain.usage import Usage
from skillopt.kernel.events import Mean, Measured, RunBegan
from skillopt.kernel.journal import Journal, RunHandle
from skillopt.kernel.limits.terms import Terms
from skillopt.kernel.observers import Observers
from skillopt.kernel.ports import Clock, Observer
from skillopt.kernel.run import Run
from skillopt.kernel.view import view_of, whole
from skillopt.phases.grade import board_of, mean_of
from skillopt.train.lab import Lab, Parts
from skillopt.train.loop import train
from skillopt.train.report import Ending, summarize
from skillopt.train.summary import Status, Summary

_GRACE = 10.0  # seconds that requests under way get to finish after the first Ctrl-C
_STOPS = (BudgetReachedError, InterruptedRunError, QuotaExhaustedError, UnansweredError)


class Opened(msgspec.Struct, frozen=True, kw_only=True):
    """A run under way with everything it needs."""

    run: Run
    lab: Lab
    journal: Journal
    handle: RunHandle
    clock: Clock


class Ended(msgspec.Struct, frozen=True, kw_only=True):
    """How a session ended: its summary, and the error that stopped it, if one did."""

    summary: Summary
    error: SkilloptError | None


Interrupt = Callable[[], None]
Result = TypeVar("Result")
Started = Callable[[Interrupt], None]


@asynccontextmanager
async def opened(
    prepared: Prepared, journal: Journal, clock: Clock, name: str, observers: Sequence[Observer]
) -> AsyncIterator[Opened]:
    """Open a run; what is recorded is durable and let go of when this ends, however it ends."""
    config = prepared.config
    programs = await programs_of(prepared)
    assessor = await assessor_of(prepared)
    crew = Crew(prepared, programs)
    handle = _own(journal, name, prepared.plan_record)
    terms = Terms(
        journal=journal, handle=handle, clock=clock, limits=config.limits, retry=config.retry, scrub=prepared.scrub
    )
    run = Run(terms, Observers(observers))
    lab = Lab(
        Parts(
            run=run,
            environment=prepared.environment,
            staff=crew.staff,
            prompts=prepared.prompts,
            reflect=config.reflect,
            aggregate=config.aggregate,
            optimizer=config.optimizer,
            gate=config.gate,
            judge=config.judge,
            assessor=assessor,
            members=prepared.members,
            agent=crew.agent,
            varied=crew.varied,
        )
    )
    try:
        yield Opened(run=run, lab=lab, journal=journal, handle=handle, clock=clock)
    finally:
        await crew.close()


async def train_session(
    prepared: Prepared, journal: Journal, clock: Clock, *, name: str, observers: Sequence[Observer], started: Started
) -> Ended:
    """Train to the end, or to whatever stops it; the run folder is written either way.

    `started` is given what to call when the person wants to stop: the first call lets finish what is under way, for a
    while; the second gives it up.
    """
    folder = None if prepared.in_memory else RunFolder(prepared.workspace / "runs" / name)
    stop = StopFile(prepared.workspace / "runs" / name)
    watching: Sequence[Observer] = observers if folder is None else (folder, stop, *observers)
    async with opened(prepared, journal, clock, name, watching) as session:
        if folder is not None:
            stop.stops(session.run)
        session.run.emit(_began(prepared, name))
        training = asyncio.ensure_future(train(prepared.plan, session.lab, session.run))
        started(interrupt_of(session.run, training))
        error = await ending_of(training)
        await session.run.close()
        summary = conclude(prepared, session, folder, error)
        await journal.sync()
    return Ended(summary=summary, error=None if isinstance(error, StoppedRunError) else error)


def interrupt_of(run: Run, work: asyncio.Future[Result]) -> Interrupt:
    """Return what to call when the person wants to stop."""

    def interrupt() -> None:
        """Stop asking for new work; called again, or after a while, give up what is under way."""
        if run.stopping:
            work.cancel()
            return
        run.stop(_interrupted())
        asyncio.get_running_loop().call_later(_GRACE, work.cancel)

    return interrupt


async def ending_of(work: asyncio.Future[Result]) -> SkilloptError | None:
    """Wait for the work, and return what stopped it before its end."""
    try:
        await work
    except SkilloptError as error:
        return error
    except asyncio.CancelledError:
        if not work.cancelled():
            work.cancel()
            raise
        return _interrupted()
    return None


def _interrupted() -> InterruptedRunError:
    return InterruptedRunError(
        "The run was interrupted; everything answered so far is kept.",
        hint="Run the same command again: it goes on where it stopped.",
    )


class Exam(msgspec.Struct, frozen=True, kw_only=True):
    """Which skill is measured, on which split, and how often each task is put."""

    skill: Skill
    split: SplitName
    trials: int = 1


class Examined(msgspec.Struct, frozen=True, kw_only=True):
    """What an exam came to: the trials that were measured, and the error that stopped it, if one did."""

    run: str
    trials: tuple[Measured, ...]
    usage: dict[str, Usage]
    error: SkilloptError | None

    @property
    def mean(self) -> Mean:
        """The score over all trials, with an interval that does not take trials of one task for more tasks."""
        return mean_of(board_of(row for trial in self.trials for row in trial.rows))

    @property
    def status(self) -> Status:
        """How it ended: finished, stopped or failed."""
        return status_of(self.error)


async def eval_session(
    prepared: Prepared,
    journal: Journal,
    clock: Clock,
    exam: Exam,
    *,
    started: Started,
    observers: Sequence[Observer] = (),
) -> Examined:
    """Measure a skill, once for each trial; answers that the workspace has are not asked again."""
    split = exam.split.value
    if not prepared.plan.tasks.of(exam.split):
        raise UsageError(f"The {split} split is empty.", hint="Choose a split that has tasks.")
    name = f"eval-{split}-{exam.skill.rendered_digest[:12]}-{prepared.digest[:12]}"
    async with opened(prepared, journal, clock, name, observers) as session:
        measuring = asyncio.ensure_future(_measured(session.lab, prepared, exam))
        started(interrupt_of(session.run, measuring))
        error = await ending_of(measuring)
        await session.run.close()
        trials = tuple(event for event in journal.events(name) if isinstance(event, Measured))[: exam.trials]
        if error is None and not any(each.mean.n for each in trials):
            error = UnavailableError(
                f"None of the {len(trials[0].rows)} tasks has a score ({trials[0].rows[0].cause}).",
                hint="Look at what failed there: skillopt doctor CONFIG --call.",
            )
        journal.end_session(session.handle, status_of(error), reason_of(error))
        await journal.sync()
    return Examined(run=name, trials=trials, usage=view_of(journal.events(name)).usage, error=error)


async def _measured(lab: Lab, prepared: Prepared, exam: Exam) -> None:
    tasks = prepared.plan.tasks.of(exam.split)
    for trial in range(exam.trials):
        await lab.measuring.measure(exam.skill, tasks, label=f"trial_{trial}", split=exam.split.value, trial=trial)


def conclude(prepared: Prepared, session: Opened, folder: RunFolder | None, error: SkilloptError | None) -> Summary:
    """End the session, fold the run once more, write its views, and return the summary."""
    journal, handle = session.journal, session.handle
    view = view_of(whole(journal.events(handle.name)))
    status = status_of(error)
    reason = reason_of(error) if error is not None or view.ended is None else view.ended.stop_reason
    journal.end_session(handle, status, reason)
    spent = journal.spent(handle)
    ending = Ending(
        run=handle.name,
        run_dir="" if folder is None else folder.relative_to(prepared.root),
        status=status,
        stop_reason=reason,
        spent=spent,
        wall_seconds=spent.seconds,
    )
    summary = summarize(view, ending)
    if folder is not None:
        folder.write(view, summary, seed=prepared.plan.seed_skill)
    return summary


def status_of(error: SkilloptError | None) -> Status:
    """Return how a session ended, by what stopped it."""
    if error is None or isinstance(error, StoppedRunError):
        return "finished"
    return "stopped" if isinstance(error, _STOPS) else "failed"


def reason_of(error: SkilloptError | None) -> str:
    """Return in a word what stopped a session; nothing when it came to its end."""
    if error is None:
        return ""
    if isinstance(error, StoppedRunError):
        return STOP_FILE
    return error.cap if isinstance(error, BudgetReachedError) else type(error).__name__


def _own(journal: Journal, name: str, plan: bytes) -> RunHandle:
    """Open the run; another plan under the same name is refused with the keys that differ."""
    known = journal.plan(name)
    if known is not None and known != plan:
        differing = plan_difference(known, plan)
        raise UsageError(
            f"Run {name!r} was made with another plan: {', '.join(differing)} changed.",
            hint="Choose another --run, or change it back; a cap under limits may change freely.",
        )
    return journal.open_run(name, plan)


def _began(prepared: Prepared, name: str) -> RunBegan:
    config, plan = prepared.config, prepared.plan
    models = {"target": config.models.target, "optimizer": config.models.optimizer}
    if plan.tasks.judged:
        models["judge"] = config.models.judging
    return RunBegan(
        run=name,
        config_digest=prepared.digest[:16],
        version=__version__,
        epochs=plan.train.epochs,
        steps_per_epoch=plan.steps_per_epoch,
        total_steps=plan.total_steps,
        sizes={split.value: len(plan.tasks.of(split)) for split in SplitName},
        models={role: title_of(model) for role, model in models.items()},
        gate_rule=config.gate.rule,
        gate_metric=config.gate.metric,
        gate_smallest_p=config.gate.smallest_p(len(plan.val)),
        skill_digest=plan.seed_skill.digest,
    )
