"""What is said of a training step, from its beginning to the moment it is whole.
Owns these events; refuses to know what they add up to."""

from __future__ import annotations

from skillopt.kernel.events.facts import EditFact, Fact, GateEvidence, Mean, PatternFact, TaskScore


class StepBegan(Fact, frozen=True, kw_only=True, tag="step_began"):
    """A training step started on the incumbent skill; `control` says who limits its changes, `mode` what they are."""

    step: int
    epoch: int
    step_in_epoch: int
    edit_budget: int | None
    skill_digest: str
    control: str = "fixed"
    mode: str = "patch"


class BatchGraded(Fact, frozen=True, kw_only=True, tag="batch_graded"):
    """The step's rollouts have their scores."""

    step: int
    batch: int
    seed: int
    mean: Mean
    rows: tuple[TaskScore, ...]


class PatchProposed(Fact, frozen=True, kw_only=True, tag="patch_proposed"):
    """The optimizer proposed changes: `stage` is reflect, aggregate or select; minibatch -1 is the merged patch.

    A reflection tells the tasks it was shown and the patterns it saw in them.
    """

    step: int
    stage: str
    minibatch: int
    source: str
    reasoning: str
    edits: tuple[EditFact, ...]
    tasks: tuple[str, ...] = ()
    patterns: tuple[PatternFact, ...] = ()


class BudgetDecided(Fact, frozen=True, kw_only=True, tag="budget_decided"):
    """The optimizer said how many of the available changes to make; `fallback` means that it gave no usable number."""

    step: int
    learning_rate: int
    raw_learning_rate: int | None
    available_update_items: int
    clamped: bool
    fallback: bool
    reasoning: str
    confidence: str
    risk_notes: str
    error: str


class CandidateMade(Fact, frozen=True, kw_only=True, tag="candidate_made"):
    """The chosen changes were made to the incumbent; a rewrite sums up what it did."""

    step: int
    skill_digest: str
    changed: bool
    edits: tuple[EditFact, ...]
    summary: tuple[str, ...] = ()


class PairsCompared(Fact, frozen=True, kw_only=True, tag="pairs_compared"):
    """A judge was shown old and new answers blindly, in both orders: on how many tasks it preferred which.

    `swayed` counts those of `neither` where its choices cancelled out; `failed` those where it gave no usable reply.
    """

    origin: str
    new: int
    old: int
    neither: int
    swayed: int
    failed: int


class NotesTaken(Fact, frozen=True, kw_only=True, tag="notes_taken"):
    """Reminders of a step were put into the appendix of a skill; `consolidated` counts what a shorter list has."""

    step: int
    skill_digest: str
    proposed: tuple[str, ...]
    added: tuple[str, ...]
    refused: tuple[str, ...]
    total: int
    consolidated: int | None


class GateDecided(Fact, frozen=True, kw_only=True, tag="gate_decided"):
    """The gate said whether the candidate of this origin is kept in place of its parent."""

    origin: str
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
    skill_digest: str = ""
    parent_digest: str = ""
    evidence: GateEvidence | None = None


class CandidateBisected(Fact, frozen=True, kw_only=True, tag="candidate_bisected"):
    """A rejected candidate was tried again in parts: `tried` names them, `kept` is what the step came to.

    `kept` is the origin of the part that was accepted, or of the whole candidate when none was; `made` is what it made.
    """

    origin: str
    kept: str
    tried: tuple[str, ...]
    made: CandidateMade


class StepEnded(Fact, frozen=True, kw_only=True, tag="step_ended"):
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
