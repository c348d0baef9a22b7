"""The values that events are made of, and what all events share.
Owns their shape; refuses to know which event holds them and who watches."""

from __future__ import annotations

import msgspec


class Fact(msgspec.Struct, frozen=True, kw_only=True, tag_field="event"):
    """What all events share: a tag, so that reading a log is one keyed look-up."""


class TaskScore(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """One graded trial: scores are None when there is no answer, and then `cause` says why."""

    task_id: str
    trial: int
    hard: float | None
    soft: float | None
    feedback: str = ""
    cause: str = ""


class Mean(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A measured score with its 95 % interval; None where nothing was measured."""

    hard: float | None
    soft: float | None
    n: int
    failed: int = 0
    low: float | None = None
    high: float | None = None


class WorkFact(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """What an agent did for one trial: in short, step by step, and which files it left."""

    task_id: str
    trial: int
    summary: str
    steps: str
    files: tuple[str, ...]


class PatternFact(msgspec.Struct, frozen=True, kw_only=True):
    """What a reflection saw several tasks of its minibatch have in common; `count` is its word for how many."""

    words: str
    count: int | None


class EditFact(msgspec.Struct, frozen=True, kw_only=True):
    """One change and what became of it: `status` is applied, or the reason it was refused.

    `tasks` are those the optimizer was shown when it proposed the change; `line` is where the words of an applied edit
    begin in its file. A suggestion has its kind as `op`, its title as `target`; a whole document has the op `document`.
    """

    op: str
    content: str
    target: str
    file: str
    support: int
    source: str
    status: str = "proposed"
    detail: str = ""
    tasks: tuple[str, ...] = ()
    line: int | None = None


class GateEvidence(msgspec.Struct, frozen=True, kw_only=True):
    """What a paired test saw: by which procedure, at which look, and what it showed; None where nothing was computed.

    `known` is how many trials a task the incumbent had, `spent` what was used of this gate's `alpha`; `effect` is the
    mean difference over the tasks that were tried, with its 95 % interval. `regressed` are tasks that were solved
    before and now fail; `needed` is about how many val tasks a verdict would take.
    """

    procedure: str
    look: int
    wins: int
    losses: int
    known: int
    p: float | None
    alpha: float
    spent: float
    effect: float | None
    low: float | None
    high: float | None
    regressed: tuple[str, ...]
    needed: int | None
