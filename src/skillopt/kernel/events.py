"""The one stream of facts: what a run did, in program order, the same whenever it is run again.
Owns the event union and the live signals; refuses to know who watches. Times are kept beside events, never in them."""

from __future__ import annotations

import msgspec

from skillopt.domain.usage import Usage


class _Event(msgspec.Struct, frozen=True, kw_only=True, tag_field="event"):
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


class EditFact(msgspec.Struct, frozen=True, kw_only=True):
    """One edit and what became of it: `status` is applied, or the reason it was refused."""

    op: str
    content: str
    target: str
    file: str
    support: int
    source: str
    status: str = "proposed"
    detail: str = ""


class RunBegan(_Event, frozen=True, kw_only=True, tag="run_began"):
    """A run started from a seed skill with a plan."""

    run: str
    config_digest: str
    version: str
    epochs: int
    steps_per_epoch: int
    total_steps: int
    sizes: dict[str, int]
    models: dict[str, str]
    gate_rule: str
    gate_metric: str
    skill_digest: str


class SkillKept(_Event, frozen=True, kw_only=True, tag="skill_kept"):
    """The text of a skill document, said once for each digest before anything names it."""

    digest: str
    name: str | None
    files: dict[str, str]


class PhaseBegan(_Event, frozen=True, kw_only=True, tag="phase_began"):
    """A phase is about to ask for this many units."""

    path: str
    verb: str
    units: int


class PhaseEnded(_Event, frozen=True, kw_only=True, tag="phase_ended"):
    """A phase has all its outcomes; `usage` counts each answer once in a run, at its first use."""

    path: str
    verb: str
    role: str
    answered: int
    failed: int
    causes: dict[str, int]
    usage: Usage


class Measured(_Event, frozen=True, kw_only=True, tag="measured"):
    """A skill was scored on a split: `label` is baseline, best, last or a candidate's name."""

    label: str
    split: str
    skill_digest: str
    mean: Mean
    by_type: dict[str, Mean]
    rows: tuple[TaskScore, ...]


class StepBegan(_Event, frozen=True, kw_only=True, tag="step_began"):
    """A training step started on the incumbent skill."""

    step: int
    epoch: int
    step_in_epoch: int
    edit_budget: int | None
    skill_digest: str


class BatchGraded(_Event, frozen=True, kw_only=True, tag="batch_graded"):
    """The step's rollouts have their scores."""

    step: int
    batch: int
    seed: int
    mean: Mean
    rows: tuple[TaskScore, ...]


class PatchProposed(_Event, frozen=True, kw_only=True, tag="patch_proposed"):
    """The optimizer proposed edits: `stage` is reflect, aggregate or select; minibatch -1 is the merged patch."""

    step: int
    stage: str
    minibatch: int
    source: str
    reasoning: str
    edits: tuple[EditFact, ...]


class CandidateMade(_Event, frozen=True, kw_only=True, tag="candidate_made"):
    """The chosen edits were applied to the incumbent."""

    step: int
    skill_digest: str
    changed: bool
    edits: tuple[EditFact, ...]


class GateDecided(_Event, frozen=True, kw_only=True, tag="gate_decided"):
    """The gate said whether the candidate is kept."""

    step: int
    rule: str
    metric: str
    verdict: str
    action: str
    reason: str
    candidate: float | None
    incumbent: float | None
    best: float | None
    n: int
    failed: int
    calls: int


class StepEnded(_Event, frozen=True, kw_only=True, tag="step_ended"):
    """A step is whole, and this is how things stand after it; views of a stopped run end here."""

    step: int
    epoch: int
    step_in_epoch: int
    skill_digest: str
    best_digest: str
    current_score: float | None
    best_score: float | None
    best_step: int
    current_origin: str
    best_origin: str


class Warned(_Event, frozen=True, kw_only=True, tag="warned"):
    """Something the person should know that does not stop the run."""

    message: str


class RunEnded(_Event, frozen=True, kw_only=True, tag="run_ended"):
    """The run reached its own end; a stop by a cap, a person or a failure is no event, since running again goes on."""

    stop_reason: str
    best_digest: str
    last_digest: str
    best_origin: str
    current_origin: str
    claimed_val: float | None


Event = (
    RunBegan
    | SkillKept
    | PhaseBegan
    | PhaseEnded
    | Measured
    | StepBegan
    | BatchGraded
    | PatchProposed
    | CandidateMade
    | GateDecided
    | StepEnded
    | Warned
    | RunEnded
)


class UnitSettled(msgspec.Struct, frozen=True, gc=False):
    """Live only: one unit of a phase has its outcome; `replayed` means that the journal had it."""

    path: str
    answered: bool
    replayed: bool
    cause: str = ""


class AttemptFailed(msgspec.Struct, frozen=True, gc=False):
    """Live only: an attempt failed and will be tried again after `wait` seconds, or not at all (None)."""

    path: str
    kind: str
    message: str
    wait: float | None


class SlotsChanged(msgspec.Struct, frozen=True, gc=False):
    """Live only: the number of requests allowed at once to an account changed."""

    account: str
    slots: int
    reason: str


Signal = UnitSettled | AttemptFailed | SlotsChanged
