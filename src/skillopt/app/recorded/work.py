"""Reads what the agents of a run did, unit by unit, with what their programs wrote.
Owns which answers belong to which task and step; refuses to know how they are shown."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path

import msgspec

from skillopt.app.runs import summary_of
from skillopt.app.workspace import JOURNAL
from skillopt.domain.errors import UsageError, unknown_name
from skillopt.domain.rollouts import Failure
from skillopt.domain.usage import Usage
from skillopt.kernel.events import AgentsWorked, Event, PhaseEnded, StepBegan, StepEnded
from skillopt.kernel.journal import Answer, PhaseRecord, Ref
from skillopt.store.reader import SqliteReader


class Worked(msgspec.Struct, frozen=True, kw_only=True):
    """What became of one task that an agent was sent with.

    `phase` is where in the run that was; `program` is its name and version, `raw` what it wrote on its output, bounded.
    A run that failed has the cause and nothing else; `step` is None outside of any.
    """

    task_id: str
    phase: str
    step: int | None
    failure: Failure | None = None
    program: str = ""
    model: str = ""
    summary: str = ""
    steps: str = ""
    files: tuple[str, ...] = ()
    exit_code: int | None = None
    attempts: int = 0
    requests: int = 0
    seconds: float = 0.0
    usage: Usage | None = None
    answer: str = ""
    raw: str = ""


class _Phase(msgspec.Struct, frozen=True, kw_only=True):
    """A phase in which agents worked."""

    path: str
    step: int | None
    tasks: tuple[str, ...]


def work_of(workspace: Path, name: str, *, step: int | None = None, task: str | None = None) -> tuple[Worked, ...]:
    """Return what agents did in a run, in its order; of one step or one task only, if wanted."""
    summary_of(workspace, name)  # refuses an unknown name
    with SqliteReader(workspace / JOURNAL) as reader:
        phases = tuple(_phases(reader.events(name)))
        if not phases:
            raise UsageError(
                f"No agent has finished a phase of run {name!r}.",
                hint="Name a run whose environment is of kind: agent.",
            )
        _refuse_unknown(phases, step, task)
        wanted = [phase for phase in phases if step is None or phase.step == step]
        records = {record.path: record for record in reader.phases(name)}
        return tuple(each for phase in wanted for each in _works(reader, phase, records, task))


def _phases(events: Sequence[Event]) -> Iterator[_Phase]:
    """Yield the phases of agents: each tells of itself right after its end."""
    step: int | None = None
    for before, event in pairwise(events):
        if isinstance(event, StepBegan):
            step = event.step
        elif isinstance(event, StepEnded):
            step = None
        elif isinstance(event, AgentsWorked) and isinstance(before, PhaseEnded) and event.tasks:
            yield _Phase(path=before.path, step=step, tasks=event.tasks)


def _refuse_unknown(phases: Sequence[_Phase], step: int | None, task: str | None) -> None:
    steps = {str(phase.step): None for phase in phases if phase.step is not None}
    if step is not None and str(step) not in steps:
        raise unknown_name("step", str(step), steps)
    tasks = {each: None for phase in phases for each in phase.tasks}
    if task is not None and task not in tasks:
        raise unknown_name("task", task, tasks)


def _works(reader: SqliteReader, phase: _Phase, records: dict[str, PhaseRecord], task: str | None) -> Iterator[Worked]:
    units = [
        (whose, outcome)
        for whose, outcome in zip(phase.tasks, records[phase.path].outcomes, strict=True)
        if task in {None, whose}
    ]
    answers = reader.fetch([outcome for _, outcome in units if isinstance(outcome, Ref)])
    for whose, outcome in units:
        if isinstance(outcome, Failure):
            yield Worked(task_id=whose, phase=phase.path, step=phase.step, failure=outcome)
        else:
            yield _worked(whose, phase, answers[outcome].answer)


def _worked(whose: str, phase: _Phase, answer: Answer) -> Worked:
    plain = Worked(
        task_id=whose,
        phase=phase.path,
        step=phase.step,
        model=answer.model,
        seconds=answer.seconds,
        usage=answer.usage,
        answer=answer.text,
    )
    done = answer.transcript
    if done is None:
        return plain
    return msgspec.structs.replace(
        plain,
        program=done.program,
        summary=done.summary(),
        steps=done.account(room=sys.maxsize),
        files=tuple(file.told for file in done.files),
        exit_code=done.exit_code,
        attempts=done.attempts,
        requests=done.requests,
        raw=done.raw,
    )
